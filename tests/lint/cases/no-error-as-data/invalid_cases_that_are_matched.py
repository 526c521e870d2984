from typing import Any, Literal

from mcp.server.fastmcp import FastMCP

mcp = FastMCP("home")


def handle(action: str, room: str) -> dict[str, Any]:
    match action:
        case "read" if room:
            return {"state": room}
        case "read" | "list":
            return {"error": "no room"}  # here
        case "write":
            return {"error": "read only"}
        case _:
            return {"error": f"unknown action {action}"}


@mcp.tool()
def get_state(room: str) -> dict[str, Any]:
    """Get the state of a room."""
    return handle("read", room)


@mcp.tool()
def change_state(room: str, state: Literal["on", "off", "dim"]) -> dict[str, Any]:
    """Switch a room."""
    match state:
        case "on":
            return {"state": f"{room} is on"}
        case "off":
            return {"state": f"{room} is off"}
        case _:
            return {"error": f"unknown state {state}"}  # here


@mcp.tool()
def switch(room: str, state: Literal["on", "off"]) -> dict[str, Any]:
    """Switch a room. The cases name all states."""
    match state:
        case "on" | "dim":
            return {"state": f"{room} is on"}
        case "off":
            return {"state": f"{room} is off"}
        case _:
            return {"error": f"unknown state {state}"}
