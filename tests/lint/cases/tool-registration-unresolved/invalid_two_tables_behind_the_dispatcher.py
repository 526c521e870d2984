# message: no function is found behind `dispatch`, so rules check no more than what it returns
from mcp.server import Server

server = Server("library")

def find(arguments):
    return []

def lend(arguments):
    return []

HANDLERS = {"find": find, "lend": lend}

def kinds():
    return {tool.name: tool.kind for tool in load_tools()}

async def dispatch(name, arguments, kinds):
    kind = kinds.get(name)
    handler = HANDLERS.get(kind)
    return handler(arguments)

@server.call_tool()  # here
async def call_tool(name: str, arguments: dict):
    return await dispatch(name, arguments, kinds())
