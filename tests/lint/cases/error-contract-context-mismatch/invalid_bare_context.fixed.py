from typing import Literal

from mcpcore import Context, ErrorCode, FailureMode, tool

@tool(
    errors=[
        FailureMode("no_match", ErrorCode.NOT_FOUND, when="x", recovery="y"),
        FailureMode("queue_full", ErrorCode.RATE_LIMITED, when="x", recovery="y"),
    ]
)
async def fetch(ctx: Context[Literal["no_match", "queue_full"]], pmids: list[str]) -> str:
    raise ctx.fail("no_match")
