# message: find returns {"error": ...}
import numbers
from typing import Any, List, Literal, Optional

from fastmcp import FastMCP

mcp = FastMCP("x")

@mcp.tool
def find(
    titles: List[Any], kind: Optional[str] = None, order: Literal["up", "down"] | None = None, by: str = None
) -> dict:
    """Find books by their titles."""
    if not isinstance(kind, str):
        return {"error": "give a kind"}  # here
    if by is None:
        return {"error": "say by what"}  # here
    if not order:
        return {"error": "give an order"}  # here
    if order is None:
        return {"error": "give an order, up or down"}
    for title in titles:
        if not isinstance(title, str):
            return {"error": "all titles must be texts"}  # here
    for title in sorted(titles):
        if not isinstance(title, str):
            return {"error": "all titles must be texts, sorted"}  # here
    return search(titles, kind)

@mcp.tool
def keep(title: str | int, titles: list[str]) -> dict:
    """Keep books."""
    if not isinstance(title, numbers.Number):
        return {"error": "give a number"}  # here
    titles.extend(read())
    for other in titles:
        if not isinstance(other, str):
            return {"error": "all titles must be texts"}  # here
    return search(titles, title)
