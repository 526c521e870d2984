"""The server that the bench calls: it does next to nothing, so that what is measured is the way there and back."""

from __future__ import annotations

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel

server = MCPServer("bench", log_level="CRITICAL")


class Rows(BaseModel):
    """Many rows."""

    rows: list[dict[str, str]]


@server.tool()
def small(n: int) -> str:
    """Answer with a short text."""
    return f"row {n}"


@server.tool()
def large(n: int) -> Rows:
    """Answer with about 100 bytes for each of n rows."""
    return Rows(rows=[{"id": str(row), "title": "a title of some length " * 2} for row in range(n)])


@server.tool()
def fail(n: int) -> str:
    """Fail with a text."""
    raise ToolError(f"404 Not Found: there is no row {n}")


if __name__ == "__main__":
    server.run()
