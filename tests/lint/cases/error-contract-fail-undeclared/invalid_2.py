# message: 'goone' is not declared
from functools import partial
from typing import Any
from mcpcore import Context, ErrorCode, FailureMode, tool

def entry(reason, code=ErrorCode.NOT_FOUND):
    return FailureMode(reason, code, when="x", recovery="y")

CODES = {"taken": ErrorCode.CONFLICT, "slow": ErrorCode.TIMEOUT}

@tool(errors=[entry("gone"), *[entry(reason, code) for reason, code in CODES.items()]])
def fetch(ctx: Context[Any], a: str) -> str:
    gone = partial(ctx.fail, "goone")
    if a == "1":
        raise gone(data={"a": a})  # here
    if a == "2":
        raise ctx.fail("taken")
    raise ctx.fail("other")  # here
