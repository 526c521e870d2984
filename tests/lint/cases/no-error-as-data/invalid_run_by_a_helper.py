# message: run() returns {"error": ...}
import asyncio

from fastmcp import FastMCP

mcp = FastMCP("x")

async def in_thread(function, /, *args):
    return await asyncio.to_thread(function, *args)

def timed(function, *args):
    return function(*args)

def logged(function):
    answer = function()
    if "error" in answer:
        raise ValueError(answer["error"])
    return answer

@mcp.tool
async def find(title: str) -> dict:
    """Find."""
    def run():
        return {"error": f"no {title}"}  # here
    return await in_thread(run)

@mcp.tool
def lend(title: str) -> dict:
    """Lend."""
    def run():
        return {"error": f"no {title}"}  # here
    return timed(run)

@mcp.tool
def give(title: str) -> dict:
    """Give."""
    def run():
        return {"error": f"no {title}"}
    return logged(run)
