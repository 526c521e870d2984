"""Servers of the SDK's lower level, each odd in one way that the protocol allows."""

from __future__ import annotations

from typing import Any

from mcp.server import Server
from mcp_types import (
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ListToolsResult,
    TextContent,
    Tool,
)

from mcpcore.contract.failure_modes import CONTRACT_META_KEY

_PAGES = 3


def _tool(name: str, properties: Any = None, **more: Any) -> Tool:
    return Tool(name=name, input_schema={"type": "object", "properties": properties or {}}, **more)


async def _call(ctx: Any, params: Any) -> CallToolResult:
    if params.name == "log":
        await ctx.session.send_log_message(level="warning", data={"half": "done"}, related_request_id=ctx.request_id)
    if params.name == "fail":
        return CallToolResult(content=[TextContent(type="text", text=f"{params.arguments}")], is_error=True)
    if params.name == "picture":
        blob = BlobResourceContents(uri="file:///a.bin", blob="QUJD", mime_type="application/octet-stream")
        return CallToolResult(
            content=[
                ImageContent(type="image", data="aGVsbG8=", mime_type="image/png"),
                EmbeddedResource(type="resource", resource=blob),
            ]
        )
    return CallToolResult(content=[TextContent(type="text", text=f"{params.name} {params.arguments}")])


async def _pages(ctx: Any, params: Any) -> ListToolsResult:
    page = int(params.cursor) if params is not None and params.cursor else 1
    if page == 1:
        return ListToolsResult(tools=[_tool("picture"), _tool("log")], next_cursor="2")
    return ListToolsResult(
        tools=[_tool(f"on_page_{page}", {"count": {"type": "integer"}})],
        next_cursor=str(page + 1) if page < _PAGES else None,
    )


async def _endless(ctx: Any, params: Any) -> ListToolsResult:
    return ListToolsResult(tools=[_tool("again")], next_cursor="more")


async def _nothing(ctx: Any, params: Any) -> ListToolsResult:
    return ListToolsResult(tools=[])


async def _strange(ctx: Any, params: Any) -> ListToolsResult:
    properties = {
        "anything": True,
        "only": {"const": "this"},
        "items": {"type": "array"},
        "either": {"type": ["string", "null"], "description": "one of two"},
    }
    contract = [
        {"reason": "gone", "name": "NOT_FOUND", "when": "It is gone.", "retry": {"kind": "sometimes"}, "effects": []},
        {"reason": "sent", "effects": "unknown"},
        {"reason": "bare"},
        {"reason": None, "name": None, "retry": "soon", "fallbackTool": "other"},
        "not an entry",
    ]
    return ListToolsResult(
        tools=[
            _tool("strange", properties, _meta={CONTRACT_META_KEY: contract}),
            Tool(name="third", input_schema={"type": "object", "properties": {"a": {}}, "required": True}),
            _tool("other", title="Only a title", _meta={CONTRACT_META_KEY: "not a list"}),
        ]
    )


paged = Server("paged", on_list_tools=_pages, on_call_tool=_call)
endless = Server("endless", on_list_tools=_endless, on_call_tool=_call)
empty = Server("empty", on_list_tools=_nothing, on_call_tool=_call)
strange = Server("strange", on_list_tools=_strange, on_call_tool=_call)
unlisted = Server("unlisted", on_call_tool=_call)
mute = Server("mute")
