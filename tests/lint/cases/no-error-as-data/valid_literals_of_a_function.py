from typing import Any, Literal

from mcp.server.fastmcp import FastMCP

mcp = FastMCP("library")
MODES = ("skip", "replace")
books: dict[str, str] = {}


def add(name: str, text: str, mode: Literal["skip", "replace"] = "skip") -> dict[str, Any]:
    if mode not in MODES:
        return {"error": f"mode must be one of {MODES}"}
    if name not in books or mode == "replace":
        books[name] = text
    return {"success": True}


@mcp.tool()
def add_book(name: str, text: str, mode: Literal["skip", "replace"] = "skip") -> dict[str, Any]:
    """Add a book."""
    common = {"text": text, "mode": mode}
    return add(name, **common)
