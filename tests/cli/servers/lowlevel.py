"""A server of the SDK's lower level, whose list of tools lies about its result."""

from __future__ import annotations

from typing import Any

from mcp.server import Server
from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool


async def list_tools(ctx: Any, params: Any) -> ListToolsResult:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    return ListToolsResult(tools=[Tool(name="lie", input_schema={"type": "object"}, output_schema=schema)])


async def call_tool(ctx: Any, params: Any) -> CallToolResult:
    if params.name != "lie":
        return CallToolResult(content=[TextContent(type="text", text="\x1b[2Jplain")], structured_content=None)
    return CallToolResult(content=[TextContent(type="text", text="n")], structured_content={"n": "one"})


server = Server("lowlevel", on_list_tools=list_tools, on_call_tool=call_tool)
