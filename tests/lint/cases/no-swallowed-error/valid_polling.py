import asyncio

from mcp.server.fastmcp import FastMCP

mcp = FastMCP("x")

@mcp.tool()
async def wait(job: str) -> str:
    """Wait for a job."""
    for_seconds = 0
    while for_seconds < 600:
        try:
            state = await ask(job)
            if state.done:
                return state.text
        except Exception:
            pass
        await asyncio.sleep(5)
        for_seconds += 5
    return "It is not done yet."

@mcp.tool()
async def ready(job: str) -> dict:
    """Wait until a job is done."""
    while True:
        try:
            state = await ask(job)
            state.setdefault("job", job)
            if state["done"]:
                break
        except Exception:
            pass
        await asyncio.sleep(1)
    return {"job": job}

@mcp.tool()
async def few(job: str) -> str:
    """Ask a few times for a job."""
    for _ in range(10):
        try:
            state = await ask(job)
            if state.done:
                return state.text
        except Exception:
            pass
        await asyncio.sleep(1)
    return "It is not done yet."
