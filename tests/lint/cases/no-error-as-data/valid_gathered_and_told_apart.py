import asyncio, logging, subprocess, json
import httpx
from mcp.server.fastmcp import FastMCP

mcp = FastMCP("x")
log = logging.getLogger(__name__)


@mcp.tool()
async def g3(urls: list[str]):
    """Looked at by helper."""
    results = await asyncio.gather(*(one(u) for u in urls), return_exceptions=True)
    return [shape(r) for r in results]


@mcp.tool()
async def g4(urls: list[str]):
    """Caught inside."""
    return await asyncio.gather(*(safe(u) for u in urls), return_exceptions=True)


async def safe(u):
    try:
        return await one(u)
    except Exception as e:
        return {"url": u, "error": str(e)}


async def one(u):
    return u


def shape(r):
    return {"x": r} if not isinstance(r, Exception) else {"y": 1}
