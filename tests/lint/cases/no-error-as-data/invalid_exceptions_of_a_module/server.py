from typing import Any

from mcp.server.fastmcp import FastMCP

import errors
from errors import NoSuchRoom

mcp = FastMCP("home")


def check(problem: str) -> None:
    if problem:
        raise getattr(errors, problem)("room")


@mcp.tool()
def get_state(problem: str) -> dict[str, Any]:
    """Get the state of a room."""
    try:
        check(problem)
    except NoSuchRoom as e:
        return {"error": f"no room: {e}"}  # here
    return {"state": "on"}
