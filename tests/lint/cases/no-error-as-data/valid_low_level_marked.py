from mcp.server.lowlevel import Server
from mcp.types import CallToolResult, TextContent

server = Server("x")

@server.call_tool()
async def call(name: str, arguments: dict):
    return CallToolResult(content=[TextContent(type="text", text="no")], isError=True)
