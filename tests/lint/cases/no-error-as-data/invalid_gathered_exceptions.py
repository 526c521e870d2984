import asyncio, logging, subprocess
import httpx
from mcp.server.fastmcp import FastMCP

mcp = FastMCP("x")
log = logging.getLogger(__name__)


async def fetch(url):
    return url


@mcp.tool()
async def d5_gather(urls: list[str]):
    """A."""
    results = await asyncio.gather(*(fetch(u) for u in urls), return_exceptions=True)
    return results  # here


@mcp.tool()
async def d5b_gather(urls: list[str]):
    """Str of exceptions in the answer."""
    results = await asyncio.gather(*(fetch(u) for u in urls), return_exceptions=True)
    return [str(r) for r in results]  # here


@mcp.tool()
async def d5c_gather(urls: list[str]):
    """Drops failures."""
    results = await asyncio.gather(*(fetch(u) for u in urls), return_exceptions=True)
    return [r for r in results if not isinstance(r, Exception)]


@mcp.tool()
async def d5d_gather(urls: list[str]):
    """Checked, fine."""
    results = await asyncio.gather(*(fetch(u) for u in urls), return_exceptions=True)
    for r in results:
        if isinstance(r, BaseException):
            raise r
    return results


@mcp.tool()
async def d5e_gather(urls: list[str]):
    """A."""
    return await asyncio.gather(*(fetch(u) for u in urls), return_exceptions=True)  # here
