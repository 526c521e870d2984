from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

mcp = FastMCP("x")

def show(params):
    title = params.get("title")
    if not title:
        return {"error": "no title"}
    return {"title": title, "shelf": params.get("shelf")}

def rename(params):
    if "name" not in params:
        return {"error": "no name"}
    title = params.get("book") or params["title"]
    if not title:
        return {"error": "no title"}
    return {title: params["name"]}

@mcp.tool
def show_one(title: str, shelf: str | None = None) -> dict:
    """Show."""
    if not title:
        raise ToolError("give a title")
    params = {"title": title}
    if shelf:
        params["shelf"] = shelf
    return show(params)

@mcp.tool
def show_first(title: str) -> dict:
    """Show."""
    if not title:
        raise ToolError("give a title")
    return show({"title": title})

@mcp.tool
def rename_one(title: str, name: str) -> dict:
    """Rename."""
    if not title:
        raise ToolError("give a title")
    return rename({"title": title, "name": name})
