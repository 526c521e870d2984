import httpx
from mcp.server.fastmcp import FastMCP

mcp = FastMCP("x")

@mcp.tool()
async def delete(key: str) -> dict:
    """Delete."""
    async with httpx.AsyncClient() as client:
        response = await client.delete(f"/keys/{key}")
        if response.status_code in (200, 204):
            try:
                return response.json()
            except Exception:
                return {}
        response.raise_for_status()
        return response.json()

@mcp.tool()
async def drop(key: str) -> dict:
    """Drop."""
    response = await httpx.delete(key)
    if response.status_code != 204:
        response.raise_for_status()
    else:
        try:
            return response.json()
        except Exception:
            return {}
    return response.json()
