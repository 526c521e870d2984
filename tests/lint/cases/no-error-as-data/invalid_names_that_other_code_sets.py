from typing import Any

from mcp.server.fastmcp import FastMCP
from rooms import switch_all

mcp = FastMCP("home")
problem: str | None = None


def switch(rooms: list[str], state: str | None = None) -> dict[str, Any]:
    global problem
    problem = None
    failed = False

    def on_error(room: str) -> None:
        nonlocal failed
        failed = True

    switch_all(rooms, state, on_error)
    if failed:
        return {"error": "a room did not switch"}  # here
    if problem:
        return {"error": "a room has a problem"}  # here
    return {"rooms": rooms}


@mcp.tool()
def switch_off(rooms: list[str]) -> dict[str, Any]:
    """Switch rooms off."""
    return switch(rooms)
