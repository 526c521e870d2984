# message: the effects of this failure are the string 'nonsense', not one of 'none', 'partial' and 'unknown'
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
