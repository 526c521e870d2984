from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

mcp = FastMCP("x")

@mcp.tool
def fetch(a: str) -> str:
    if a:
        raise ToolError("no codes here")
    raise ValueError("nor here")
