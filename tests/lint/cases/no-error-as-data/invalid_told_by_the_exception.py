# message: to_dict() returns {"error": ...}; the client sees a successful call (tool: fetch)
import json

from mcp.server.fastmcp import FastMCP

mcp = FastMCP("x")

class ShelfError(Exception):
    def __init__(self, message, row=None):
        super().__init__(message)
        self.message, self.row = message, row

    def to_dict(self):
        answer = {"error": self.message}
        if self.row:
            answer["row"] = self.row
        return answer  # here

    def place(self):
        return {"row": self.row}

class DoorError(Exception):
    def told(self):
        return {"error": "the door is closed"}  # here

class KeyMissing(Exception):
    def told(self):
        return {"error": "no key"}  # here

def load(q):
    if not q:
        raise ShelfError("no shelf")
    if q == "door":
        raise DoorError
    if q == "key":
        raise KeyMissing
    return {"rows": open(q).read()}

@mcp.tool()
def fetch(q: str) -> dict:
    """Fetch."""
    try:
        return load(q)
    except ShelfError as e:
        return e.to_dict()

@mcp.tool()
def open_it(q: str) -> str:
    """Open."""
    try:
        return json.dumps(load(q))
    except (DoorError, KeyMissing) as e:
        return json.dumps(e.told())
    except ShelfError as e:
        return json.dumps(e.place())
