# message: returns {"error": ...}
from mcp.server.fastmcp import FastMCP

mcp = FastMCP("orders")


@mcp.tool()
def start_order(number: int) -> int:
    """Start an order."""
    global CURRENT
    CURRENT = number
    return number


@mcp.tool()
def current_order() -> dict:
    """Get the order that was started."""
    try:
        return {"order": CURRENT}
    except NameError:
        return {"error": "start an order first"}  # here


@mcp.tool()
def is_later(number: int, other: int | str) -> dict:
    """Tell whether an order was started after another one."""
    try:
        return {"later": number > other}
    except TypeError:
        return {"error": "the other order must be a number"}  # here
