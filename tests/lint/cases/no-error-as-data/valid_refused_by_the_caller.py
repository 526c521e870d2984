from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

mcp = FastMCP("x")

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
def lend_one(title: str) -> dict:
    """Lend."""
    if title:
        return lend(title, 3)
    raise ToolError("give a title")
