"""Names that the contract would use are taken."""

from mcp.server import Server
from mcp.server.fastmcp import Context, FastMCP

low = Server("low")
mcp: "FastMCP" = FastMCP("taken")
tool = mcp.tool


@mcp.tool()
def one(x: int, *, ctx: Context) -> str:
    """Take a context of the SDK."""
    e = exc = "x"
    try:
        return str(1 // x)
    except ZeroDivisionError:
        raise ValueError("x must not be zero")


def two(x: int) -> str:
    """Is registered by a call."""
    if x: raise ValueError("x must be zero"); return ""
    return "zero"


mcp.tool(name="deux")(two)


@mcp.tool()
def three():
    raise ValueError


__all__ = ["FastMCP", "mcp"]
