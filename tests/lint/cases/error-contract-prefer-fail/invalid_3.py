# message: fetch raises the declared reason 'gone' without ctx.fail, so type checkers do not check it
from typing import Any
from mcpcore import CodedError, Context, ErrorCode, FailureMode, not_found, tool

@tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
def fetch(ctx: Context[Any], a: str) -> str:
    raise not_found("x", reason="gone")  # here
