# message: returns {"error": ...}
import asyncio
from concurrent.futures import ThreadPoolExecutor

import anyio
from mcp.server.fastmcp import FastMCP

mcp = FastMCP("x")

class Library:
    def __init__(self):
        self.pool = ThreadPoolExecutor()

    def _fetch(self, q):
        return {"error": q}  # here

    async def fetch(self, q):
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self.pool, self._fetch, q)

    def lend(self, q):
        return {"error": q}  # here

    async def run(self, function, *args):
        return await asyncio.to_thread(function, *args)

library = Library()

def search(q):
    return {"error": q}  # here

def find(q):
    return {"error": q}  # here

def read(q):
    return {"error": q}  # here

def sort(q):
    return {"error": q}  # here

async def late(q):
    return {"error": q}  # here

def checked(q):
    return {"error": q}

async def in_thread(function, *args):
    return await asyncio.to_thread(function, *args)

@mcp.tool()
async def fetch_tool(q: str):
    """Fetch."""
    return await library.fetch(q)

@mcp.tool()
async def lend_tool(q: str):
    """Lend."""
    return await library.run(library.lend, q)

@mcp.tool()
async def search_tool(q: str):
    """Search."""
    return await in_thread(lambda: search(q))

@mcp.tool()
async def find_tool(q: str):
    """Find."""
    result = await anyio.to_thread.run_sync(find, q)
    return result

@mcp.tool()
async def read_tool(q: str):
    """Read."""
    return await in_thread(read, q)

@mcp.tool()
async def sort_tool(q: str):
    """Sort."""
    return ThreadPoolExecutor().submit(sort, q).result()

@mcp.tool()
def late_tool(q: str):
    """Wait."""
    return asyncio.run(late(q))

@mcp.tool()
async def checked_tool(q: str):
    """Check."""
    answer = await asyncio.to_thread(checked, q)
    if "error" in answer:
        raise ValueError(answer["error"])
    return answer

def count(q):
    return {"error": q}  # here

@mcp.tool()
async def count_tool(q: str):
    """Count."""
    return await asyncio.to_thread(lambda: count(q))
