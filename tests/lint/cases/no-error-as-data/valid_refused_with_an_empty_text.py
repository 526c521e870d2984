from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

mcp = FastMCP("x")

@mcp.tool
def find(title, shelf: str = "") -> dict:
    """Find books by their title."""
    if not title:
        raise ToolError("Say which title to find.")
    if title is None or title == "":
        return {"error": "no title"}
    if not title.strip():
        return {"error": "a blank title"}
    return {"books": load(title, shelf)}
