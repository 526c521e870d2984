from typing import Any

from mcp.server.fastmcp import FastMCP

mcp = FastMCP("home")


class HomeError(Exception):
    status = 500


class NoSuchRoom(HomeError):
    status = 404


def check(status: int) -> None:
    for kind in HomeError.__subclasses__():
        if kind.status == status:
            raise kind(str(status))


@mcp.tool()
def get_state(status: int) -> dict[str, Any]:
    """Get the state of a room."""
    try:
        check(status)
    except NoSuchRoom as e:
        return {"error": f"no room: {e}"}  # here
    return {"state": "on"}
