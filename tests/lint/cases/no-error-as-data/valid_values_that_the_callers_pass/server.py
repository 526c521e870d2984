from typing import Literal

from fastmcp import FastMCP

from catalogue import run
from shelf import change, sort as sort_shelf

mcp = FastMCP("x")

@mcp.tool
def sort(order: Literal["title", "year"] = "title") -> dict:
    """Sort."""
    return sort_shelf(order)

@mcp.tool
def lend(title: str) -> dict:
    """Lend."""
    return change("lend", title)

@mcp.tool
def renew(title: str) -> dict:
    """Renew."""
    return change(operation="renew", title=title)

@mcp.tool
def other(operation: str) -> dict:
    """Run."""
    return run(operation)
