from typing import Any
from mcpcore import CodedError, Context, ErrorCode, FailureMode, not_found, tool

@tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
def fetch(ctx: Context[Any], a: str) -> str:
    raise ctx.fail("gone", "x")
