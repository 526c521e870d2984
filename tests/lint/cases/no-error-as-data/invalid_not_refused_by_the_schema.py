# message: returns {"error": ...}
from typing import Annotated, List, Literal

from fastmcp import FastMCP
from pydantic import Field

mcp = FastMCP("x")

@mcp.tool
def fetch(
    mode: Literal["map", "docs"],
    size: Literal[1, 2],
    pages: list[str],
    kind: Literal["a", "b"] = "a",
) -> dict:
    """Fetch."""
    if mode not in ("map",):
        return {"error": "no map"}  # here
    if size not in (1, 2):
        return {"error": f"no size {size}"}
    kind = kind or "c"
    if kind not in {"a", "b"}:
        return {"error": f"no kind {kind}"}  # here
    if mode == "map":
        return {"pages": pages}
    elif mode == "docs":
        return {"pages": []}
    else:
        return {"error": f"no mode {mode}"}

Mode = Literal["map", "docs"]

@mcp.tool
def search(
    mode: Annotated[Mode, Field(description="What to search")],
    rows: List[str],
    labels: List[str],
    text: str,
    size: int = None,
) -> dict:
    """Search."""
    if mode not in ("map", "docs"):
        return {"error": "no mode"}
    if not isinstance(labels, list) or text is None:
        return {"error": "no labels"}
    if not isinstance(text, list):
        return {"error": "no list"}  # here
    if size is None:
        return {"error": "no size"}  # here
    rows = rows or None
    if rows is None:
        return {"error": "no rows left"}  # here
    return {"rows": rows}

@mcp.tool
def sort(mode: Mode) -> dict:
    """Sort."""
    if mode == "map":
        return {"mode": 1}
    elif mode == "docs":
        return {"mode": 2}
    return {"error": "no mode"}

LAST = None

@mcp.tool
def count(
    tags: list[str] | None,
    names: list[str] | str,
    order: Literal["up", "down"] | None,
    mark: Annotated[str, Field(default=None, description="Where to begin")],
    text: str = Field(None, description="The text to look for"),
    more: str = Field(default=None),
    last: str = LAST,
    start: str = Field.start,
    size: int = Field(..., description="How many"),
    word: str = Field("all"),
) -> dict:
    """Count."""
    if tags is None:
        return {"error": "no tags"}  # here
    if not isinstance(names, list):
        return {"error": "no list of names"}  # here
    if order is None:
        return {"error": "no order"}  # here
    if text is None:
        return {"error": "no text"}  # here
    if more is None:
        return {"error": "no more"}  # here
    if mark is None:
        return {"error": "no mark"}  # here
    if last is None or start is None:
        return {"error": "no last"}  # here
    if size is None or word is None:
        return {"error": "no size"}
    return {"tags": tags}

@mcp.tool
def order(by: Literal["name", "size"]) -> dict:
    """Order."""
    by = by or "name"
    key = (by or "").strip().lower()
    if key not in {"name", "size"}:
        return {"error": f"no key {key}"}  # here
    return {"key": key}

@mcp.tool
def group(by: Literal["name", "size"]) -> dict:
    """Group."""
    key = (by or "").strip().lower()
    if key not in {"name", "size"}:
        return {"error": f"no key {key}"}
    return {"key": key}

@mcp.tool
def start(mode: Literal[Mode, "all"]) -> dict:
    """Start."""
    if mode == "map":
        return {"error": f"cannot start {mode}"}  # here
    return {"mode": mode}
