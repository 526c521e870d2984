import asyncio

from mcp.server.fastmcp import FastMCP

mcp = FastMCP("x")

@mcp.tool()
async def delete(key: str) -> bool:
    """Delete."""

    def work() -> bool:
        try:
            remove(key)
            return True
        except Exception:
            return False  # here

    return await asyncio.to_thread(work)

@mcp.tool()
def find(key: str) -> dict | None:
    """Find."""

    def work() -> dict | None:
        try:
            return load(key)
        except Exception:
            return None  # here

    return work()

def listed(key: str) -> list:
    try:
        return load(key)
    except Exception:
        return []  # here

@mcp.tool()
async def rows(key: str) -> list:
    """List."""
    return await asyncio.to_thread(listed, key)
