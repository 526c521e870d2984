import json
from mcp.server.lowlevel import Server
from mcp.types import CallToolResult, TextContent

server = Server("x")

def is_failure(answer: dict) -> bool:
    return "error" in answer

async def fetch(arguments: dict) -> dict:
    if not arguments:
        return {"error": "no arguments"}
    return {"rows": []}

async def search(arguments: dict) -> dict:
    return {"success": False, "message": "nothing"}

@server.call_tool()
async def call(name: str, arguments: dict):
    if name == "fetch":
        answer = await fetch(arguments)
    elif name == "search":
        answer = await search(arguments)
    else:
        raise ValueError(name)
    if is_failure(answer):
        raise RuntimeError(answer["error"])
    return [TextContent(type="text", text=json.dumps(answer))]
