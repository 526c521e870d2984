from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

mcp = FastMCP("x")

class Library:
    def __init__(self, token):
        self.session = connect(token)

    def find(self, title):
        if not self.session:
            return {"error": "no session"}
        if not hasattr(self, "session"):
            return {"error": "no session at all"}
        return self.session.find(title)

def lend(title, days):
    if not title:
        return {"error": "no title"}
    if title == "":
        return {"error": "an empty title"}
    return checked(title, days)

def checked(title, days):
    if title is None:
        return {"error": "no title"}
    return {"title": title, "days": days}

@mcp.tool
def find(token: str, title: str) -> dict:
    """Find."""
    if not token:
        raise ToolError("give a token")
    return Library(token=token).find(title)

@mcp.tool
def borrow(token: str, title: str) -> dict:
    """Borrow."""
    if not token or not title:
        raise ToolError("give a token and a title")
    library = Library(token)
    answer = library.find(title)
    return answer

@mcp.tool
def lend_one(title: str) -> dict:
    """Lend."""
    if title:
        return lend(title, 3)
    raise ToolError("give a title")
