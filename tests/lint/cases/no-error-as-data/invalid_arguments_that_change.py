# message: returns {"error": ...}
import json

from mcp.server import Server
from mcp.types import TextContent, Tool

server = Server("x")
WAYS = {"type": "object", "properties": {"way": {"type": "string", "enum": ["in", "out"]}}}

@server.list_tools()
async def list_tools():
    return [
        Tool(name="wrap", inputSchema=WAYS),
        Tool(name="turn", inputSchema=WAYS),
    ]

def wrap(way):
    if way not in ("in", "out"):
        return {"error": f"no way {way}"}  # here
    return {"wrapped": way}

def turn(way):
    if way not in ("in", "out"):
        return {"error": f"no way {way}"}  # here
    return {"turned": way}

@server.call_tool()
async def call_tool(name: str, arguments: dict):
    arguments["way"] = arguments.get("way", "in").strip() + name
    if name == "wrap":
        result = wrap(arguments.get("way", "in"))
    elif name == "turn":
        result = turn(arguments.get("way", "in"))
    return [TextContent(type="text", text=json.dumps(result))]
