# message: current_order returns {"error": ...}
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
