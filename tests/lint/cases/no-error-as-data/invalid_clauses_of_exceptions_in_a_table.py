from collections.abc import Callable
from typing import Any

from mcp.server.fastmcp import FastMCP

mcp = FastMCP("home")
KINDS: dict[int, type[Exception]] = {}


def error_for(status: int) -> Callable[[type[Exception]], type[Exception]]:
    def add(kind: type[Exception]) -> type[Exception]:
        KINDS[status] = kind
        return kind

    return add


@error_for(404)
class NoSuchRoom(Exception):
    pass


def check(status: int) -> None:
    if status in KINDS:
        raise KINDS[status](str(status))


@mcp.tool()
def get_state(status: int) -> dict[str, Any]:
    """Get the state of a room."""
    try:
        check(status)
    except NoSuchRoom as e:
        return {"error": f"no room: {e}"}  # here
    return {"state": "on"}
