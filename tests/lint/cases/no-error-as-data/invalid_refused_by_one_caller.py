# message: find() returns {"error": ...}
from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

mcp = FastMCP("x")

class Library:
    def __init__(self, token):
        self.session = None

    def find(self, title):
        if not self.session:
            return {"error": "no session"}  # here
        return self.session.find(title)

def lend(title, days):
    if not title:
        return {"error": "no title"}  # here
    if title == "days":
        return {"error": "no such title"}  # here
    return {"title": title, "days": days}

@mcp.tool
def find(token: str, title: str) -> dict:
    """Find."""
    if not token:
        raise ToolError("give a token")
    return Library(token).find(title)

@mcp.tool
def lend_one(title: str) -> dict:
    """Lend."""
    if not title:
        raise ToolError("give a title")
    return lend(title, 3)

@mcp.tool
def lend_another(title: str) -> dict:
    """Lend."""
    if not title:
        raise ToolError("give a title")
    title = shortened(title)
    return lend(title, 3)
