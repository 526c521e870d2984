from fastmcp import FastMCP
from makefun import wraps as signed

mcp = FastMCP("x")

def limited(func):
    @signed(func, append_args=["limit"])
    def run(limit: int, *args, **kwargs) -> list[str]:
        return func(*args, **kwargs)[:limit]

    return run

def find(text: str) -> list[str]:
    """Find a text."""
    return [text]

mcp.tool(name="search")(limited(find))
