# message: the name 'one' is taken by another tool of the list
from mcp.server import Server
from mcp.types import Tool

server = Server("x")

@server.list_tools()
async def list_tools() -> list[Tool]:
    tools = [
        Tool(name="one", description="x", inputSchema={}),
        Tool(name="two", description="x", inputSchema={}),
        Tool(name="one", description="x", inputSchema={}),  # here
    ]
    tools.append(Tool(name="two", description="y", inputSchema={}))  # here
    return tools

@server.call_tool()
async def call(name, arguments): ...
