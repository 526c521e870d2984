from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

mcp = FastMCP("x")

def lend(title):
    if not title:
        return {"error": "no title"}
    return {"title": title}

def renew(title, days):
    if not title:
        return {"error": "no title"}
    if not days:
        return {"error": "no days"}
    return {"title": title, "days": days}

@mcp.tool
def act(action: str, title: str = "", days: int = 0) -> dict:
    """Act."""
    if action in ["lend", "renew"]:
        if not title:
            raise ToolError("give a title")
    if action != "lend" and (not days or not title):
        raise ToolError("give a title and days")
    if action == "lend":
        return lend(title)
    elif action == "renew":
        return renew(title, days)
    return {"titles": []}
