import asyncio, logging, subprocess
import httpx
from mcp.server.fastmcp import FastMCP

mcp = FastMCP("x")
log = logging.getLogger(__name__)


async def _query(sql):
    try:
        return await db.run(sql)
    except Exception:
        return []  # here


@mcp.tool()
async def f1_returns_helper(sql: str) -> list:
    """A."""
    return await _query(sql)


@mcp.tool()
async def f2_in_dict(sql: str) -> dict:
    """A."""
    rows = await _query(sql)
    return {"rows": rows, "count": len(rows)}


class Client:
    async def fetch(self, url):
        try:
            r = await self.http.get(url)
            return r.json()
        except httpx.HTTPError:
            return None  # here


client = Client()


@mcp.tool()
async def f3_method(url: str) -> dict:
    """A."""
    return await client.fetch(url)


@mcp.tool()
async def f4_checked(url: str) -> dict:
    """Checked, no finding."""
    data = await client.fetch(url)
    if data is None:
        raise ValueError("no data")
    return data


@mcp.tool()
async def f6_side(url: str) -> str:
    """Result unused: no finding."""
    await client.fetch(url)
    return "done"
