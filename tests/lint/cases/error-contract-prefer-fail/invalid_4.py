# message: fetch raises NOT_FOUND with a reason that is not a constant without ctx.fail
from typing import Any
from mcpcore import CodedError, Context, ErrorCode, FailureMode, tool

@tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
def fetch(ctx: Context[Any], reason: str) -> str:
    raise CodedError(ErrorCode.NOT_FOUND, reason=reason)  # here
