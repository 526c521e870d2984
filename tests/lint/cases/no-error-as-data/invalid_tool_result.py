from fastmcp import FastMCP
from fastmcp.tools.tool import ToolResult

mcp = FastMCP("x")

@mcp.tool
def structured(a: str) -> ToolResult:
    if not a:
        return ToolResult(content="no a", structured_content={"success": False, "message": "no a"})  # here
    return ToolResult(content=a)
