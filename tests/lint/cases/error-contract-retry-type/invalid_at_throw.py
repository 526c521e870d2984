# message: the effects of this failure must be 'none' or 'partial' or 'unknown', not the string 'nonsense'
from typing import Any

from mcpcore import CodedError, Context, ErrorCode, FailureMode, timeout, tool

@tool(errors=[FailureMode("a", ErrorCode.TIMEOUT, when="x", recovery="y")])
def one(ctx: Context[Any], a: int) -> str:
    if a == 1:
        raise ctx.fail("a", effects="nonsense")  # here
    if a == 2:
        raise ctx.fail("a", retry=30)  # here
    if a == 3:
        raise CodedError(ErrorCode.CONFLICT, "x", effects="all")  # here

    def inner() -> None:
        raise timeout("x", effects=True, reason="a")  # here

    return inner()
