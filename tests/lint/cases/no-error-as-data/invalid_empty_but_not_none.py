# message: returns {"error": ...}; the client sees a successful call
from mcp.server import Server

server = Server("x")

def named(name):
    if not name:
        return {"error": "an empty name"}  # here
    return {"rows": load(name)}

@server.call_tool()
async def call(name: str, arguments: dict):
    if name == "find":
        wanted = arguments.get("name")
        if wanted is None:
            raise ValueError("no name")
        return named(wanted)
    raise ValueError(name)
