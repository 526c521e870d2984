from fastmcp import FastMCP

mcp = FastMCP("x")

@mcp.tool
async def search(query: str) -> list[str]:
    """Search."""
    try:
        import uvloop
    except Exception:
        pass
    return await find(query)
