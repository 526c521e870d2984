from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

mcp = FastMCP("x")

def lend_all(names):
    if not names:
        return {"error": "no names"}
    return {"names": names}

@mcp.tool
def lend_some(names: list[str]) -> dict:
    """Lend."""
    if len(names) == 0:
        raise ToolError("give a name")
    return lend_all(names)

@mcp.tool
def lend_more(names: list[str]) -> dict:
    """Lend."""
    if len(names) > 0 and names[0]:
        return lend_all(names=names)
    raise ToolError("give a name")

def keep(title):
    if not title:
        return {"error": "no title"}
    return {"title": title}

@mcp.tool
def keep_one(name: str) -> dict:
    """Keep."""
    if not name.strip():
        raise ToolError("give a title")
    return keep(name)
