from typing import Any

from mcp.server.fastmcp import FastMCP

mcp = FastMCP("library")
books: dict[str, str] = {}


def search(query: str) -> dict[str, Any]:
    if not query or not query.strip():
        return {"error": "query is empty"}
    return {"books": [book for book in books if query in book]}


def add(text: str | None = None, path: str | None = None) -> dict[str, Any]:
    inline = bool((text or "").strip())
    if inline and path:
        return {"error": "give a text or a path, not both"}
    books[path or "inline"] = text or ""
    return {"success": True}


@mcp.tool()
def search_books(query: str) -> dict[str, Any]:
    """Search books."""
    if query is not None and query.strip():
        return search(query)
    raise ValueError("query is empty")


@mcp.tool()
def add_book(path: str) -> dict[str, Any]:
    """Add a book."""
    return add(path=path)
