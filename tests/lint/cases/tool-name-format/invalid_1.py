# message: the tool name 'b c' has ' ' in it
import mcp.types as types
from mcp.server import Server

server = Server("x")
MORE = [types.Tool(name="b c", inputSchema={})]  # here

@server.list_tools()
async def list_tools() -> list[types.Tool]:
    tools = [types.Tool(name="bad name!", description="x", inputSchema={})]  # here
    tools.append(types.Tool(name="", inputSchema={}))  # here
    return tools + MORE

@server.call_tool()
async def call(name, arguments): ...

async def handle() -> types.ServerResult:
    return types.ServerResult(types.ListToolsResult(tools=[types.Tool(name="größe")]))  # here

another = Server("y", on_list_tools=handle)
