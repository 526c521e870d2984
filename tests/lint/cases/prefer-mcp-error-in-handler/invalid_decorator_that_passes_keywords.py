# message: find raises ValueError, whose text SDK 1 sends
from mcp.server.fastmcp import FastMCP

mcp = FastMCP("x")

def tool(**kwargs):
    def decorator(func):
        return mcp.tool(annotations=notes(func), **kwargs)(func)
    return decorator

@tool()
def find(title: str, limit: int = 5) -> str:
    """Find a book by its title."""
    kwargs: dict = {"title": title}
    kwargs.update({"limit": limit})
    if limit < 0:
        raise ValueError("limit must not be negative")  # here
    return search(**kwargs)
