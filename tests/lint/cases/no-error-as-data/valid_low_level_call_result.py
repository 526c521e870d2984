from mcp.server.lowlevel import Server
from mcp.types import CallToolResult, TextContent

server = Server("x")

def failed(text: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], isError=True)

@server.call_tool()
async def call(name: str, arguments: dict):
    return failed("Error: no such row")
