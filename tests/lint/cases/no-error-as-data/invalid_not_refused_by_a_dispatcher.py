# message: returns {"error": ...}
import json

from mcp.server import Server
from mcp.types import TextContent, Tool

server = Server("x")

TOOLS = [
    Tool(
        name="wrap",
        inputSchema={
            "type": "object",
            "properties": {
                "way": {"type": "string", "enum": ["in", "out"]},
                "unit": {"type": "string", "enum": ["eth", "wei"]},
                "speed": {"type": "string", "enum": ["slow", "fast"]},
                "chain": {"type": "string"},
            },
            "required": ["unit"],
        },
    ),
]

class Wallet:
    async def wrap(self, way="in", unit="eth", speed="slow", chain="main"):
        chain = chain.lower()
        if chain not in ("main", "test"):
            return {"error": f"no chain {chain}"}  # here
        way = way.lower()
        if way not in ("in", "out"):
            return {"error": f"no way {way}"}
        if unit not in ("eth", "wei"):
            return {"error": f"no unit {unit}"}
        if unit != "eth":
            return {"error": f"no unit {unit}"}  # here
        if speed not in ("slow", "fast"):
            return {"error": f"no speed {speed}"}  # here
        return {"wrapped": chain}

wallet = Wallet()

@server.list_tools()
async def list_tools():
    return TOOLS

@server.call_tool()
async def call_tool(name: str, arguments: dict):
    if name == "wrap":
        way = arguments.get("way", "in")
        result = await wallet.wrap(
            way, unit=arguments.get("unit"), speed=arguments.get("speed", "normal"), chain=name
        )
    return [TextContent(type="text", text=json.dumps(result))]
