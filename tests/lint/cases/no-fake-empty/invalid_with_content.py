import httpx
from mcp.server.fastmcp import FastMCP

mcp = FastMCP("x")

@mcp.tool()
async def read(key: str) -> dict:
    """Read."""
    response = await httpx.get(key)
    if response.status_code != 204:
        try:
            return response.json()
        except Exception:
            return {}  # here
    return {"read": True}

@mcp.tool()
async def write(key: str) -> dict:
    """Write."""
    response = await httpx.put(key)
    if response.status_code == 204:
        return {"written": True}
    elif response.status_code == 200:
        try:
            return response.json()
        except Exception:
            return {}  # here
    raise ValueError(key)
