import asyncio

from mcp.server.fastmcp import FastMCP

mcp = FastMCP("x")

@mcp.tool()
async def wait(job: str) -> str:
    """Wait for a job."""
    for_seconds = 0
    while for_seconds < 600:
        try:
            state = await ask(job)
            if state.done:
                return state.text
        except Exception:
            pass
        await asyncio.sleep(5)
        for_seconds += 5
    return "It is not done yet."
