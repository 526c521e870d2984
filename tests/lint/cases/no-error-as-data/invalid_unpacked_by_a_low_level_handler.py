# message: answers() returns {"error": ...}; the client sees a successful call
import json

from mcp.server import Server
from mcp.types import CallToolResult, TextContent


async def answers(name: str, arguments: dict) -> list[TextContent]:
    try:
        result = search(**arguments)
        return [TextContent(type="text", text=json.dumps(result))]
    except Exception as error:
        failure = {"error": str(error)}
        return [TextContent(type="text", text=json.dumps(failure))]  # here


async def on_call_tool(ctx, params) -> CallToolResult:
    content = await answers(params.name, params.arguments)
    return CallToolResult(content=[*content])


server = Server("x", on_call_tool=on_call_tool)
