"""Servers of the SDK's lower level that list and answer whatever a test says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mcp.server import Server
from mcp_types import CallToolResult, ListToolsResult, Tool

from mcpcore.contract.failure_modes import CONTRACT_META_KEY


def entry(reason: str, **parts: Any) -> dict[str, Any]:
    """Return an entry of a contract as `tools/list` has it."""
    return {
        "reason": reason,
        "code": -32001,
        "name": "NOT_FOUND",
        "when": "It happens.",
        "recovery": "Do this.",
        "retry": {"kind": "not_retryable"},
        **parts,
    }


def listed(name: str, *entries: Any, properties: Any = None, annotations: Any = None) -> dict[str, Any]:
    """Return a tool as `tools/list` has it."""
    return {
        "name": name,
        "inputSchema": {"type": "object", "properties": properties or {}},
        "annotations": annotations,
        "_meta": {CONTRACT_META_KEY: list(entries)},
    }


def failed(reason: str | None = None, *, retry: Any = None, name: str = "NOT_FOUND", **error: Any) -> dict[str, Any]:
    """Return a failed result; `data` and the other parts of the envelope are as given."""
    data = {} if reason is None else {"reason": reason}
    data |= error.pop("data", {})
    envelope = {"code": -32001, "name": name, "message": "No.", "retry": retry or {"kind": "not_retryable"}, **error}
    content = [{"type": "text", "text": "No."}]
    return {"isError": True, "content": content, "structuredContent": {"error": {**envelope, "data": data}}}


def server(tools: Any, answer: Callable[[str], Any]) -> tuple[Server[Any], list[str]]:
    """Return a server, and the names of the tools that are called."""
    calls: list[str] = []

    async def list_tools(ctx: Any, params: Any) -> ListToolsResult:
        page = tools(params) if callable(tools) else tools
        if isinstance(page, Exception):
            raise page
        if isinstance(page, ListToolsResult):
            return page
        return ListToolsResult(tools=[Tool.model_validate(tool) for tool in page])

    async def call_tool(ctx: Any, params: Any) -> CallToolResult:
        calls.append(params.name)
        result = answer(params.name)
        result = await result if hasattr(result, "__await__") else result
        return CallToolResult.model_validate(result)

    return Server("hostile", on_list_tools=list_tools, on_call_tool=call_tool), calls
