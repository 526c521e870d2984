from typing import Any

from mcp.server.fastmcp import FastMCP

mcp = FastMCP("library")
books: dict[str, str] = {}


def add(text: str | None = None, path: str | None = None, tags: list[str] | None = None) -> dict[str, Any]:
    if text and path:
        return {"error": "give a text or a path, not both"}
    books[path or "inline"] = text or " ".join(tags or [])
    return {"success": True}


@mcp.tool()
def add_book(path: str, tags: list[str]) -> dict[str, Any]:
    """Add a book."""
    common = {"tags": tags, "path": path}
    return add(**common)
