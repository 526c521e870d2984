# message: returns {"error": ...}
import functools
import inspect

from mcp.server.fastmcp import FastMCP

mcp = FastMCP("x")

def timed(function=None, *, limit=1):
    def decorator(run):
        if inspect.iscoroutinefunction(run):
            @functools.wraps(run)
            async def async_wrapper(*args):
                return await run(*args)
            return async_wrapper

        @functools.wraps(run)
        def wrapper(*args):
            answer = run(*args)
            if "error" in answer:
                raise ValueError(answer["error"])
            return answer
        return wrapper

    if function is None:
        return decorator
    return decorator(function)

@mcp.tool()
@timed
async def fetch(q: str):
    """Fetch."""
    return {"error": q}  # here

@mcp.tool()
@timed(limit=2)
async def find(q: str):
    """Find."""
    return {"error": q}  # here

@mcp.tool()
@timed
def search(q: str):
    """Search."""
    return {"error": q}
