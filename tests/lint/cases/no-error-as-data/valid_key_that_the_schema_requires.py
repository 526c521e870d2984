from mcp.server.lowlevel import Server
from mcp.types import TextContent, Tool

server = Server("x")

orders: dict[str, str] = {}

def place(symbol: str, count: int) -> str:
    orders[symbol] = str(count)
    return [symbol[:4]].pop(0)

SCHEMA = {
    "type": "object",
    "properties": {"symbol": {"type": "string"}, "count": {"type": "integer"}},
    "required": ["symbol", "count"],
}

@server.list_tools()
async def tools():
    return [Tool(name="order", description="Place an order.", inputSchema=SCHEMA)]

@server.call_tool()
async def call(name: str, arguments: dict):
    if name == "order":
        return await order(arguments)
    raise ValueError(name)

async def order(args: dict):
    try:
        number = place(args["symbol"].upper(), args["count"])
        return [TextContent(type="text", text=number)]
    except KeyError as exc:
        return [TextContent(type="text", text=f"Error: missing parameter {exc}")]
