from mcp.server.lowlevel import Server
from mcp.types import TextContent, Tool

server = Server("x")

orders: dict[str, str] = {}

def look_up(symbol: str) -> str:
    return orders[symbol]

def show(symbol: str) -> str:
    return look_up(symbol)

SCHEMA = {
    "type": "object",
    "properties": {"symbol": {"type": "string"}, "count": {"type": "integer"}},
    "required": ["symbol"],
}

@server.list_tools()
async def tools():
    return [
        Tool(name="optional", description="Place an order.", inputSchema=SCHEMA),
        Tool(name="taken", description="Show an order.", inputSchema=SCHEMA),
        Tool(name="helped", description="Find an order.", inputSchema=SCHEMA),
        Tool(name="removed", description="Cancel an order.", inputSchema=SCHEMA),
        Tool(name="deep", description="List an order.", inputSchema=SCHEMA),
        Tool(name="broad", description="Send an order.", inputSchema=SCHEMA),
    ]

@server.call_tool()
async def call(name: str, arguments: dict):
    if name == "optional":
        return await optional(arguments)
    if name == "taken":
        return await taken(arguments)
    if name == "helped":
        return await helped(arguments)
    if name == "removed":
        return await removed(arguments)
    if name == "deep":
        return await deep(arguments)
    if name == "broad":
        return await broad(arguments)
    raise ValueError(name)

async def optional(args: dict):
    try:
        return [TextContent(type="text", text=args["symbol"] * args["count"])]
    except KeyError as exc:
        return [TextContent(type="text", text=f"Error: missing {exc}")]  # here

async def taken(args: dict):
    try:
        return [TextContent(type="text", text=orders[args["symbol"]])]
    except KeyError as exc:
        return [TextContent(type="text", text=f"Error: missing {exc}")]  # here

async def helped(args: dict):
    try:
        return [TextContent(type="text", text=look_up(args["symbol"]))]
    except KeyError as exc:
        return [TextContent(type="text", text=f"Error: missing {exc}")]  # here

async def removed(args: dict):
    try:
        return [TextContent(type="text", text=orders.pop(args["symbol"]))]
    except KeyError as exc:
        return [TextContent(type="text", text=f"Error: missing {exc}")]  # here

async def deep(args: dict):
    try:
        return [TextContent(type="text", text=show(args["symbol"]))]
    except KeyError as exc:
        return [TextContent(type="text", text=f"Error: missing {exc}")]  # here

async def broad(args: dict):
    try:
        return [TextContent(type="text", text=await send(args["symbol"]))]
    except (KeyError, OSError) as exc:
        return [TextContent(type="text", text=f"Error: missing {exc}")]  # here
