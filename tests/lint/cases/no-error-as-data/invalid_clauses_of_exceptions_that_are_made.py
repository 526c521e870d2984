from typing import Any

import requests
from mcp.server.fastmcp import FastMCP

mcp = FastMCP("home")


class HomeError(Exception):
    @classmethod
    def of(cls, response: requests.Response) -> "HomeError":
        return cls(response.text)


class NoSuchRoomError(HomeError):
    pass


class RateLimited(Exception):
    pass


BY_STATUS = {429: RateLimited}


def state_of(room: str) -> dict[str, Any]:
    response = requests.get(f"https://home.example/{room}", timeout=5)
    if response.status_code in BY_STATUS:
        raise BY_STATUS[response.status_code](room)
    if response.status_code == 500:
        raise HomeError.of(response)
    if response.status_code == 404:
        raise NoSuchRoomError(room)
    return response.json()


@mcp.tool()
def get_state(room: str) -> dict[str, Any]:
    """Get the state of a room."""
    try:
        return state_of(room)
    except RateLimited as e:
        return {"error": str(e)}  # here
    except HomeError as e:
        return {"error": str(e)}  # here
    except NoSuchRoomError as e:
        return {"error": str(e)}
