# message: returns the text
from mcp.server import Server
from mcp.types import TextContent, Tool

server = Server("greenhouse")
VENT = {"type": "object", "properties": {"side": {"type": "string", "enum": ["left", "right"]}}, "required": ["side"]}
HEAT = {"type": "object", "properties": {"zone": {"type": "string"}}}

def send(command: str) -> str:
    with open("/dev/greenhouse") as device:
        return device.readline() + command

def vent(side: str, angle: int) -> str:
    if side not in ["left", "right"]:
        return f"Error: there is no side {side}"  # ok: the schema refuses it
    reply = send(f"vent {side} {angle}")
    if "jammed" in reply:
        return f"Failed to open the vent: {reply}"  # here
    return reply

def heat(zone) -> str:
    if not zone:
        return "Error: name a zone"  # here
    return send(f"heat {zone}")

def commands():
    return {
        "vent": lambda args: vent(args["side"], args.get("angle", 10)),
        "heat": lambda args: heat(args.get("zone")),
        "show": lambda args: str(args),
    }

@server.list_tools()
async def list_tools():
    return [
        Tool(name="vent", description="Open a vent.", inputSchema=VENT),
        Tool(name="heat", description="Heat a zone.", inputSchema=HEAT),
        Tool(name="show", description="Show the arguments.", inputSchema=HEAT),
    ]

@server.call_tool()
async def call_tool(name: str, arguments: dict):
    table = commands()
    if name not in table:
        raise ValueError(name)
    return [TextContent(type="text", text=table[name](arguments))]
