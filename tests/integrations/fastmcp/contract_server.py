"""A FastMCP server with a contract tool, and the result that a client reads."""

from __future__ import annotations

import logging
from typing import Any, Literal

import pytest
from fastmcp import Client, FastMCP
from fastmcp.prompts import Prompt
from fastmcp.resources import Resource, ResourceTemplate
from fastmcp.server.middleware import Middleware
from fastmcp.server.providers import Provider
from fastmcp.server.transforms import Transform
from pydantic import BaseModel

from mcpcore import Context, ErrorCode, FailureMode
from mcpcore.declare.decorators import DeclaredPrompt, DeclaredResource
from mcpcore.integrations.fastmcp import ContractMiddleware
from tests.answers import ask, envelope_of

NO_ORDER = FailureMode(
    "no_order",
    ErrorCode.NOT_FOUND,
    when="There is no order of that id.",
    recovery="Call list_orders to see the ids.",
    fallback_tool="list_orders",
)
GONE = FailureMode("gone", ErrorCode.NOT_FOUND, when="It was withdrawn.", recovery="Search for a newer one.")
Ctx = Context[Literal["gone"]]
SECRET = "password=hunter2hunter2"


class Order(BaseModel):
    """The result of the tools."""

    id: str


def failing(ctx: Context[Literal["no_order"]], order_id: str) -> Order:
    """Get an order."""
    match order_id:
        case "none":
            raise ctx.fail("no_order", data={"order_id": order_id})
        case "crash":
            raise KeyError(SECRET)
    return Order(id=order_id)


async def failing_async(ctx: Context[Literal["no_order"]], order_id: str) -> Order:
    """Get an order."""
    return failing(ctx, order_id)


ADDED_BY = (
    (Middleware, "add_middleware"),
    (Transform, "add_transform"),
    (Provider, "add_provider"),
    ((DeclaredResource, Resource, ResourceTemplate), "add_resource"),
    ((DeclaredPrompt, Prompt), "add_prompt"),
)


def extended(mcp: FastMCP[Any], *parts: Any) -> FastMCP[Any]:
    """Add middleware, transforms, providers, tools, resources and prompts to a server, in this order, and return it."""
    for part in parts:
        getattr(mcp, next((name for kinds, name in ADDED_BY if isinstance(part, kinds)), "add_tool"))(part)
    return mcp


def server_of(*parts: Any, **options: Any) -> FastMCP[Any]:
    """A server with contracts and these parts."""
    return extended(FastMCP("orders"), ContractMiddleware(**options), *parts)


def calling(mcp: Any, name: str, arguments: dict[str, Any] | None = None, **options: Any) -> Any:
    """Return the result of a call through FastMCP's own client."""
    return ask(Client(mcp, **options), lambda client: client.call_tool_mcp(name, arguments or {}))


def listing(mcp: Any) -> dict[str, Any]:
    return {listed.name: listed for listed in ask(Client(mcp), lambda client: client.list_tools())}


def error_of(result: Any) -> dict[str, Any]:
    """Return the failure, which only the text has if the schema of a plain tool does not admit it."""
    assert result.is_error, result
    error: dict[str, Any] = envelope_of(result).to_json()
    if result.structured_content is not None:
        assert error == result.structured_content["error"]
    assert f"id {error['correlationId']})" in result.content[0].text
    return error


def records(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    return [record.audit for record in caplog.records if record.name == "mcpcore.audit"]  # type: ignore[attr-defined]


def logged(caplog: pytest.LogCaptureFixture) -> str:
    """Return all entries of the log with their tracebacks."""
    return "\n".join(logging.Formatter().format(record) for record in caplog.records)
