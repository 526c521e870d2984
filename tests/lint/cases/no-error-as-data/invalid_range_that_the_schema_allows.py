# message: returns the text
from mcp.server import Server
from mcp.types import TextContent, Tool

server = Server("kiln")
DEGREES = {"type": "integer", "minimum": 20, "maximum": 1300}
HEAT = {"type": "object", "properties": {"degrees": DEGREES, "low": DEGREES}, "required": ["degrees", "low"]}

@server.list_tools()
async def list_tools():
    return [Tool(name="heat", description="Heat the kiln.", inputSchema=HEAT)]

def heat(degrees, low):
    if not 20 <= degrees <= 1300:
        return "Error: the kiln cannot do that"  # ok: the schema refuses it
    if 1300 < low:
        return "Error: the kiln melts"  # ok: the schema refuses it
    if not 100 <= degrees <= 1300:
        return "Error: that is no heat"  # here
    if not 20 <= low < degrees:
        return "Error: the low end is above"  # here
    if 1000 < degrees:
        return "Error: only for clay"  # here
    return f"{low} to {degrees}"

@server.call_tool()
async def call_tool(name: str, arguments: dict):
    if name == "heat":
        return [TextContent(type="text", text=heat(arguments["degrees"], arguments["low"]))]
    raise ValueError(name)
