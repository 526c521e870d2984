# message: a bare `except` in fetch swallows KeyboardInterrupt and SystemExit
from fastmcp import FastMCP

mcp = FastMCP("x")

@mcp.tool
async def fetch(a: str) -> str:
    """Fetch."""
    try:
        size = int(a)
    except:  # here
        size = 0
    return await load(a, size)
