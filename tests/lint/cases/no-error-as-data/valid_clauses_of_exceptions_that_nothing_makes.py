from typing import Any

import requests
from mcp.server.fastmcp import FastMCP

mcp = FastMCP("home")


class HomeError(Exception):
    pass


class NoSuchRoomError(HomeError):
    pass


class TemplateError(HomeError):
    pass


class RateLimited(Exception):
    pass


def state_of(room: str) -> dict[str, Any]:
    if not room:
        raise NoSuchRoomError(room)
    return requests.get(f"https://home.example/{room}", timeout=5).json()


@mcp.tool()
def get_state(room: str) -> dict[str, Any]:
    """Get the state of a room."""
    try:
        return state_of(room)
    except NoSuchRoomError:
        raise
    except RateLimited as e:
        return {"error": str(e)}
    except (HomeError, TemplateError) as e:
        if isinstance(e, TemplateError):
            raise
        return {"error": str(e)}
