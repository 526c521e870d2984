# message: returns the text
from acme import shop
from mcp.server.fastmcp import FastMCP

mcp = FastMCP("x")

@mcp.tool()
def find(q: str) -> dict | list:
    """Find."""
    try:
        return shop.find(q)
    except Exception as e:
        return f"Error: {e}"

@mcp.tool()
def count(q: str) -> dict[str, int]:
    """Count."""
    try:
        return shop.count(q)
    except Exception as e:
        return f"Error: {e}"

@mcp.tool()
def show(q: str) -> dict:
    """Show."""
    try:
        return shop.show(q)
    except Exception as e:
        return f"Error: {e}"  # here

@mcp.tool()
def tell(q: str) -> dict | str:
    """Tell."""
    try:
        return shop.tell(q)
    except Exception as e:
        return f"Error: {e}"  # here

@mcp.tool(structured_output=False)
def list_all(q: str) -> dict | list:
    """List."""
    try:
        return shop.all(q)
    except Exception as e:
        return f"Error: {e}"  # here
