from mcp.server import Server
from mcp.types import TextContent, Tool

server = Server("x")

SCHEMA = {"type": "object", "properties": {"mode": {"type": "string", "enum": ["a"]}}, "required": ["mode"]}

@server.list_tools()
async def list_tools():
    return [Tool(name="draw", inputSchema=SCHEMA), Tool(name="show", inputSchema=SCHEMA)]

def show(arguments):
    mode = arguments["mode"]
    if mode != "a":
        return [TextContent(type="text", text="Error: no mode")]
    return [TextContent(type="text", text=load(mode))]

async def run(name, arguments):
    if name == "draw":
        mode = arguments["mode"]
        if mode != "a":
            return [TextContent(type="text", text="Error: no mode")]
        return [TextContent(type="text", text=draw(mode))]
    if name == "show":
        return show(arguments)
    raise ValueError(name)

@server.call_tool()
async def call(name: str, arguments: dict):
    return await run(name, arguments)
