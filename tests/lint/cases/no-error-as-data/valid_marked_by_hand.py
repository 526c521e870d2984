from fastmcp import FastMCP
from mcp.types import CallToolResult, TextContent

mcp = FastMCP("x")

class Described(CallToolResult):
    name: str = ""

@mcp.tool
def fetch(a: str):
    if a:
        return Described(content=[TextContent(type="text", text=f"no {a}")], isError=True)
    return CallToolResult(content=[TextContent(type="text", text="a is missing")], isError=True)
