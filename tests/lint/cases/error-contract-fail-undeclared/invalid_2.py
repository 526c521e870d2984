# message: 'goone' is not declared
from typing import Any
from mcpcore import Context, ErrorCode, FailureMode, tool

SHARED = (
    FailureMode("taken", ErrorCode.CONFLICT, when="x", recovery="y"),
    FailureMode("slow", ErrorCode.TIMEOUT, when="x", recovery="y"),
)

@tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y"), *SHARED])
def fetch(ctx: Context[Any], a: str) -> str:
    fail = ctx.fail
    if a == "1":
        raise fail("goone", data={"a": a})  # here
    if a == "2":
        raise ctx.fail("taken")
    raise ctx.fail("other")  # here
