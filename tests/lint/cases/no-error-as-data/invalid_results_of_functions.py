# message: slow() returns {"success": False}; the client sees a successful call
import asyncio
import traceback
from fastmcp import FastMCP

mcp = FastMCP("x")

def slow(a: str) -> dict:
    if not a:
        return {"success": False, "message": "no a"}  # here
    return {"success": True}

@mcp.tool
async def two(a: str) -> dict:
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(None, slow, a)

@mcp.tool
async def four(a: str) -> str:
    try:
        return await asyncio.wait_for(load(a), 3)
    except Exception:
        return traceback.format_exc()  # here
