from typing import Annotated, List, Optional

from fastmcp import FastMCP
from pydantic import Field

mcp = FastMCP("x")

@mcp.tool
def find(
    titles: List[str],
    limits: list[float] | None = None,
    kind: Optional[str] = None,
    order: str = None,
    shelf: Annotated[int | None, Field(description="The shelf")] = None,
) -> dict:
    """Find books by their titles."""
    if kind is not None and not isinstance(kind, str):
        return {"error": "the kind must be a text"}
    if order and not isinstance(order, str):
        return {"error": "the order must be a text"}
    if shelf is not None:
        if not isinstance(shelf, int):
            return {"error": "the shelf must be a number"}
    for title in titles:
        if not isinstance(title, str):
            return {"error": "all titles must be texts"}
    for limit in limits or []:
        if not isinstance(limit, (int, float)):
            return {"error": "all limits must be numbers"}
    return search(titles, kind, shelf)
