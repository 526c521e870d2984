from fastmcp import FastMCP

mcp = FastMCP("x")

@mcp.tool
async def search(query: str) -> list[str]:
    """Search."""
    try:
        from library.tracing import count_step

        count_step()
    except Exception:
        pass
    try:
        import uvloop
    except Exception:
        pass
    return await find(query)
