from mcpcore import TODO, Context, ErrorCode, FailureMode, tool

@tool(errors=[
    FailureMode(
        "no_match",
        ErrorCode.INTERNAL_ERROR,
        when="TODO: say when this happens",
        recovery=TODO,
    ),
])
async def fetch(ctx: Context, pmid: str) -> str:
    """Fetch."""
    raise ctx.fail("no_match")
