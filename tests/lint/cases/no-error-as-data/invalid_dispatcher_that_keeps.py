import json
from mcp.server.lowlevel import Server
from mcp.types import TextContent

server = Server("x")

async def fetch(arguments: dict) -> dict:
    if not arguments:
        return {"error": "no arguments"}  # here
    return {"rows": []}

@server.call_tool()
async def call(name: str, arguments: dict):
    if name == "fetch":
        answer = await fetch(arguments)
    else:
        raise ValueError(name)
    if isinstance(answer, dict):
        answer = json.dumps(answer)
    return [TextContent(type="text", text=answer)]
