# message: fetch raises 'no_match' and has no contract, so `ctx.fail` raises another error
from mcpcore import Context, tool

@tool
async def fetch(ctx: Context, pmid: str) -> str:  # here
    """Fetch."""
    raise ctx.fail("no_match")
