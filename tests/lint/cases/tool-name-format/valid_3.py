from elsewhere import NAME, more
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.fastmcp import FastMCP

server = Server("x y")
other = FastMCP("x y")

@server.call_tool()
async def call(name, arguments): ...

@server.list_tools()
async def list_tools() -> list[types.Tool]:
    prompt = types.Prompt(name="a prompt")
    return [
        types.Tool(name="one", title="With spaces", inputSchema={}),
        types.Tool(name=NAME, inputSchema={}),
        types.Tool(**more),
        *more(prompt),
    ]

def asked(client):
    @client.list_tools()
    def unknown():
        return [types.Tool(name="not listed by a server")]
