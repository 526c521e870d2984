# message: (tools: find, read)
from mcp.server.lowlevel import Server

server = Server("x")

@server.call_tool()
async def call_tool(name: str, arguments: dict):
    if name == "find":
        return find(arguments)
    if name == "read":
        return read(arguments)
    raise ValueError(f"Unknown tool: {name}")

def find(arguments):
    return step(arguments)

def read(arguments):
    return step(arguments)

def step(arguments):
    print(arguments)  # here
    return arguments
