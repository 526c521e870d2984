# message: lend() returns {"error": ...}
from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

mcp = FastMCP("x")

def lend(title):
    if not title:
        return {"error": "no title"}  # here
    return {"title": title}

def renew(title):
    if not title:
        return {"error": "no title"}  # here
    return {"title": title}

def drop(title):
    if not title:
        return {"error": "no title"}  # here
    return {"title": title}

def mend(title):
    if not title:
        return {"error": "no title"}  # here
    return {"title": title}

@mcp.tool
def act(action: str, title: str = "", kind: str = "") -> dict:
    """Act."""
    if action in ["renew", "drop"]:
        if not title:
            raise ToolError("give a title")
        title = title.removeprefix("the ")
    if kind == "mend" and not title:
        raise ToolError("give a title")
    if kind.startswith("m"):
        kind = "mend"
    if action == "lend":
        return lend(title)
    elif action == "renew" or kind == "new":
        return renew(title)
    elif action == "drop":
        return drop(title)
    elif kind == "mend":
        return mend(title)
    return {"titles": []}
