# message: lend() returns {"error": ...}
from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

mcp = FastMCP("x")

def lend(title, days):
    if not title.isalnum():
        return {"error": "no such title"}  # here
    return {"title": title, "days": days}

@mcp.tool
def lend_one(name: str) -> dict:
    """Lend."""
    if not name.isalnum():
        raise ToolError("give a title of letters and digits")
    name = name + "!"
    return lend(name, 3)

@mcp.tool
def lend_another(name: str) -> dict:
    """Lend."""
    if not name.isalpha():
        raise ToolError("give a title of letters")
    return lend(name, 3)

@mcp.tool
def lend_a_third(name: str) -> dict:
    """Lend."""
    if not name:
        raise ToolError("give a title")
    return lend(name.strip(), 3)

def lend_all(names):
    if not names:
        return {"error": "no names"}  # here
    return {"names": names}

@mcp.tool
def lend_some(names: list[str]) -> dict:
    """Lend."""
    if len(names) > 0:
        raise ToolError("give no name")
    return lend_all(names)
