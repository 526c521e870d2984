from elsewhere import NAMES
from mcp.server import Server
from mcp.types import Tool

server = Server("x")

@server.list_tools()
async def list_tools():
    if NAMES:
        tools = [Tool(name="one", inputSchema={})]
        tools.append(Tool(name="two", inputSchema={}))
        return tools
    tools = [Tool(name="one", inputSchema={})]
    if len(NAMES) > 1:
        tools.append(Tool(name="two", inputSchema={}))
    else:
        tools.append(Tool(name="two", inputSchema={}))
    tools += [Tool(name="three")] if NAMES else [Tool(name="three")]
    tools += [Tool(name=each) for each in NAMES]
    return tools

@server.call_tool()
async def call(name, arguments): ...
