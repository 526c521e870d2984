"""A FastMCP server that a function makes."""

from __future__ import annotations

from fastmcp import FastMCP


def make_server() -> FastMCP:
    server: FastMCP = FastMCP("plain")

    @server.tool
    def add(a: int, b: int) -> int:
        print("printed by the handler")
        return a + b

    return server
