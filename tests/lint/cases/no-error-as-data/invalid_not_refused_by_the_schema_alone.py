# message: returns {"error": ...}
import asyncio
import json

from jsonrpc import rpc
from mcp.server import Server
from mcp.types import TextContent, Tool

server = Server("x")
WAYS = {"type": "object", "properties": {"way": {"type": "string", "enum": ["in", "out"]}}}

@server.list_tools()
async def list_tools():
    return [
        Tool(name="wrap", inputSchema=WAYS),
        Tool(name="turn", inputSchema=WAYS),
        Tool(name="push", inputSchema=WAYS),
        Tool(name="move", inputSchema={"type": "object", "properties": {"text": {"type": "string"}}}),
    ]

def wrap(way):
    if way not in ("in", "out"):
        return {"error": f"no way {way}"}
    return {"wrapped": way}

def turn(way):
    if way not in ("in", "out"):
        return {"error": f"no way {way}"}  # here
    return {"turned": way}

@rpc.method
def push(way):
    if way not in ("in", "out"):
        return {"error": f"no way {way}"}  # here
    return {"pushed": way}

@server.call_tool()
async def call_tool(name: str, arguments: dict):
    if name == "wrap":
        result = wrap(arguments.get("way", "in"))
    elif name == "turn":
        result = turn(arguments.get("way", "in"))
    elif name == "push":
        result = push(arguments.get("way", "in"))
    elif name == "move":
        result = await asyncio.to_thread(turn, arguments["text"])
    return [TextContent(type="text", text=json.dumps(result))]
