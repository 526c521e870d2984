# message: is_later returns {"error": ...}
from mcp.server.fastmcp import FastMCP

mcp = FastMCP("orders")


@mcp.tool()
def is_later(number: int, other: int | str) -> dict:
    """Tell whether an order was started after another one."""
    try:
        return {"later": number > other}
    except TypeError:
        return {"error": "the other order must be a number"}  # here
