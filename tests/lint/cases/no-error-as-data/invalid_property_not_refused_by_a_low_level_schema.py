# message: count returns the text "Error: no prefix
from mcp.server import Server
from mcp.types import TextContent, Tool

server = Server("words")

TEXT = {"type": "string"}


@server.list_tools()
async def list_tools() -> list[Tool]:
    return [
        Tool(name="find", inputSchema={"type": "object", "properties": {"word": TEXT}, "required": ["word"]}),
        Tool(name="count", inputSchema={"type": "object", "properties": {"prefix": TEXT}}),
    ]


def find(arguments: dict) -> list[TextContent]:
    if "word" not in arguments:
        return [TextContent(type="text", text="Error: no word")]
    return [TextContent(type="text", text=arguments["word"])]


def count(arguments: dict) -> list[TextContent]:
    if "prefix" not in arguments:
        return [TextContent(type="text", text="Error: no prefix")]  # here
    return [TextContent(type="text", text=str(len(arguments["prefix"])))]


@server.call_tool()
async def call_tool(name: str, arguments: dict) -> list[TextContent]:
    if name == "find":
        return find(arguments)
    if name == "count":
        return count(arguments)
    raise ValueError(f"no tool {name}")
