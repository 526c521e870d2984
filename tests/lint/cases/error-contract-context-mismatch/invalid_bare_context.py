# message: the Context of fetch has no type argument
from mcpcore import Context, ErrorCode, FailureMode, tool

@tool(
    errors=[
        FailureMode("no_match", ErrorCode.NOT_FOUND, when="x", recovery="y"),
        FailureMode("queue_full", ErrorCode.RATE_LIMITED, when="x", recovery="y"),
    ]
)
async def fetch(ctx: Context, pmids: list[str]) -> str:  # here
    raise ctx.fail("no_match")
