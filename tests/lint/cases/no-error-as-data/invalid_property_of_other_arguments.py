# message: find returns the text "Error: no word..."
from mcp.server.lowlevel import Server
from mcp.types import TextContent, Tool

server = Server("words")
SCHEMA = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}


@server.list_tools()
async def list_tools() -> list[Tool]:
    """List the tools."""
    return [
        Tool(name="find", description="Find a word.", inputSchema=SCHEMA),
        Tool(name="count", description="Count a word.", inputSchema=SCHEMA),
    ]


@server.call_tool()
async def call_tool(name: str, arguments: dict | None) -> list[TextContent]:
    if name == "find":
        return await find(arguments or {})
    if name == "count":
        return await count(arguments or {})
    raise ValueError(f"Unknown tool: {name}")


async def find(arguments: dict) -> list[TextContent]:
    arguments = {key: value for key, value in arguments.items() if value}
    if "word" not in arguments:
        return [TextContent(type="text", text="Error: no word")]  # here
    return [TextContent(type="text", text=arguments["word"])]


async def count(arguments: dict) -> list[TextContent]:
    arguments = arguments or {}
    word = arguments.get("word")
    if "word" not in arguments or word is None:
        return [TextContent(type="text", text="Error: no word")]
    return [TextContent(type="text", text="1")]
