from fastmcp import FastMCP
from helpers import structured

mcp = FastMCP("x")


async def load_prefs(a: str):
    try:
        return await load(a)
    except Exception as e:
        structured(e, context={"mode": a})
        return None  # unreachable


@mcp.tool
async def prefs(a: str) -> dict:
    """Preferences."""
    return await load_prefs(a)


@mcp.tool
async def rows(a: str) -> list:
    """Rows."""
    try:
        return await load(a)
    except Exception as e:
        structured(e)
        return []
