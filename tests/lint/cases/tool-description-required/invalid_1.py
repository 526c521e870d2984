# message: the tool one has no description
import mcp.types as types
from mcp.server import Server

server = Server("x")

@server.list_tools()
async def list_tools() -> list[types.Tool]:
    return [
        types.Tool(name="one", inputSchema={}),  # here
        types.Tool(name="two", description=" ", inputSchema={}),  # here
        types.Tool(
            name="three",
            description=None,  # here
            inputSchema={},
        ),
    ]

@server.call_tool()
async def call(name, arguments): ...
