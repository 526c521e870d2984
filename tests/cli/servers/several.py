"""Two servers of the SDK, one behind a function, and functions that make what cannot be served."""

from __future__ import annotations

from mcp.server import MCPServer

first = MCPServer("first")
second = MCPServer("second")
number = 3


@second.tool()
def add(a: int, b: float = 0.5) -> float:
    """Add two numbers."""
    return a + b


def made_of(name: str) -> MCPServer:
    server = MCPServer(name)

    @server.tool()
    def name_of() -> str:
        return name

    return server


async def made_later() -> MCPServer:
    return first


def made_wrong() -> int:
    return number
