from mcp.server import Server
from mcp.types import TextContent, Tool

server = Server("x")

FIND = Tool(
    name="find",
    inputSchema={
        "type": "object",
        "required": ["fields"],
        "properties": {
            "detail": {"type": "string", "enum": ["short", "full"]},
            "limit": {"type": "integer"},
            "fields": {"type": "object"},
        },
    },
)

def find(arguments: dict) -> str:
    if not arguments:
        return "Nothing to find."
    detail = arguments.get("detail") or "short"
    if detail not in ("short", "full"):
        return "Error: the detail must be short or full"
    fields = arguments["fields"]
    if not isinstance(fields, dict):
        return "Error: the fields must be an object"
    try:
        limit = int(arguments.get("limit") or 20)
    except (TypeError, ValueError):
        return "Error: the limit must be an integer"
    return load(fields, detail, limit)

PAIRS = [(FIND, find)]
TOOLS = {tool.name: (tool, run) for tool, run in PAIRS}

@server.list_tools()
async def list_tools():
    return [tool for tool, _ in TOOLS.values()]

@server.call_tool()
async def call_tool(name: str, arguments: dict):
    _, run = TOOLS[name]
    return [TextContent(type="text", text=run(arguments))]
