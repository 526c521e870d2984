from mcp.server import Server
from mcp.types import TextContent

server = Server("x")

@server.call_tool()
async def call_tool(name: str, arguments: dict):
    try:
        if name == "find":
            return [TextContent(type="text", text=find(arguments))]
        raise ValueError(name)
    except Exception as error:
        return [TextContent(type="text", text=f"Error: {error}")]  # here

def is_call(message):
    return message["method"] == "tools/call"
