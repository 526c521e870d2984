# message: _delete() returns {"success": False}; the client sees a successful call (tool: delete_note)
from typing import Any

from mcp.server.fastmcp import FastMCP

mcp = FastMCP("memory")


class Notes:
    def __init__(self) -> None:
        self.notes: dict[str, str] = {}

    def _get(self, name: str) -> dict[str, Any]:
        return {"note": self.notes[name]}

    def _delete(self, name: str) -> dict[str, Any]:
        if name not in self.notes:
            return {"success": False, "error": "no such note"}  # here
        return {"note": self.notes.pop(name)}

    def execute(self, action: str, **kwargs: Any) -> dict[str, Any]:
        if action in ("get", "read"):
            return self._get(**kwargs)
        elif action == "delete":
            return self._delete(**kwargs)
        raise ValueError(action)


memory = Notes()


@mcp.tool()
def get_note(name: str) -> dict[str, Any]:
    """Get a note."""
    return memory.execute(action="get", name=name)


@mcp.tool()
def delete_note(name: str) -> dict[str, Any]:
    """Delete a note."""
    return memory.execute(action="delete", name=name)
