# message: returns {"error": ...}
from typing import Annotated, Literal, Optional

from fastmcp import FastMCP
from pydantic import Field

mcp = FastMCP("x")

@mcp.tool
def fetch(
    mode: Literal["map", "docs"],
    pages: Annotated[list[str], Field(min_length=1)],
    kind: Optional[str] = None,
    day: str = "monday",
) -> dict:
    """Fetch."""
    if not isinstance(pages, list):
        return {"error": "pages must be a list"}
    if not isinstance(kind, str):
        return {"error": "kind must be a text"}  # here
    day = day or None
    if not isinstance(day, str):
        return {"error": "no day"}  # here
    if mode not in ("map",):
        return {"error": "no map"}  # here
    if mode == "map":
        return {"pages": pages}
    elif mode == "docs":
        return {"pages": []}
    else:
        return {"error": f"no mode {mode}"}
