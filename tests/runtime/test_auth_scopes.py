"""The scopes that a tool asks for, over real HTTP with real access tokens, on a `Server` and on FastMCP."""

from __future__ import annotations

from typing import Any

import anyio
import httpx
import pytest
from fastmcp import FastMCP
from fastmcp.server.auth import require_scopes
from fastmcp.server.auth.providers.jwt import StaticTokenVerifier
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings

from mcpcore import ContractError, Envelope, ErrorCode, FailureMode, Server, tool
from mcpcore.integrations.fastmcp import ContractMiddleware
from tests.answers import envelope_of, settled
from tests.conftest import Call
from tests.serving import served

SCOPES = {"reader": ["orders:read"], "writer": ["orders:read", "orders:write"], "stranger": []}
"""The scopes of each access token."""

NOT_ALLOWED = FailureMode(
    "not_allowed", ErrorCode.FORBIDDEN, when="The user may not change orders.", recovery="Ask an admin for the role."
)


@tool(auth=["orders:read"])
def count() -> int:
    return 7


@tool(errors=[NOT_ALLOWED], auth=["orders:read", "orders:write"])
async def cancel(order_id: str) -> str:
    return f"cancelled {order_id}"


class Verifier:
    """Knows the access tokens of `SCOPES`."""

    async def verify_token(self, token: str) -> AccessToken | None:
        return AccessToken(token=token, client_id="c", scopes=SCOPES[token]) if token in SCOPES else None


def app_of(served_by: str, *, verified: bool = True, **options: Any) -> Any:
    """Return the HTTP application of a server with both tools."""
    if served_by == "server":
        url: Any = "http://127.0.0.1:9/auth"
        auth = {
            "token_verifier": Verifier(),
            "auth": AuthSettings(issuer_url=url, resource_server_url=url, validate_token_resource=False),
        }
        return Server("orders", tools=[count, cancel], **(auth if verified else {})).streamable_http_app(**options)
    tokens = {name: {"client_id": "c", "scopes": scopes} for name, scopes in SCOPES.items()}
    mcp: FastMCP[Any] = FastMCP("orders", auth=StaticTokenVerifier(tokens=tokens) if verified else None)
    mcp.add_middleware(ContractMiddleware())
    mcp.add_tool(count)
    mcp.add_tool(cancel)

    @mcp.tool(auth=require_scopes("orders:write"))
    def hidden() -> str:
        return "seen"

    @mcp.tool(auth=[require_scopes("orders:write"), lambda _: False])
    def secret() -> str:
        return "seen"

    @mcp.tool(auth=require_scopes("orders:read"))
    def retired() -> str:
        return "seen"

    mcp.disable(names={"retired"})
    return mcp.http_app(**options)


async def calling(url: str, token: str | None, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    """Return the results of calls in one session; an error of the protocol is a result too."""
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    async with (
        httpx.AsyncClient(headers=headers) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        return [await settled(client.call_tool(*call)) for call in calls]


def failure(result: Any) -> tuple[Envelope, dict[str, Any]]:
    """Return the envelope of a failed call, and its data."""
    envelope = envelope_of(result)
    return envelope, dict(envelope.details or {})


CANCEL = ("cancel", {"order_id": "A-1"})


@pytest.mark.parametrize("stateless", [False, True], ids=["stateful", "stateless"])
def test_a_caller_needs_every_scope(served_by: str, stateless: bool) -> None:
    with served(app_of(served_by, stateless_http=stateless)) as url:
        read, cancelled = anyio.run(calling, url, "writer", ("count", {}), CANCEL)
        assert ({"result": 7}, {"result": "cancelled A-1"}) == (read.structured_content, cancelled.structured_content)

        read, refused = anyio.run(calling, url, "reader", ("count", {}), CANCEL)
        assert {"result": 7} == read.structured_content
        envelope, data = failure(refused)
        assert ("FORBIDDEN", "not_allowed", "none") == (envelope.name, envelope.reason, envelope.effects)
        assert "Ask an admin for the role." == envelope.hint
        assert ["orders:write"] == data["missingScopes"]

        envelope, data = failure(anyio.run(calling, url, "stranger", CANCEL)[0])
        assert ["orders:read", "orders:write"] == data["missingScopes"]
        if served_by == "server":  # FastMCP looks at the names of the arguments before it calls anything
            envelope, data = failure(anyio.run(calling, url, "stranger", ("count", {"no": 1}))[0])
            assert ("missing_scope", ["orders:read"]) == (envelope.reason, data["missingScopes"])


def test_without_a_verified_token_the_caller_is_unauthorized(served_by: str) -> None:
    """A server that verifies no tokens believes none."""
    with served(app_of(served_by, verified=False)) as url:
        for token in (None, "writer"):
            envelope, data = failure(anyio.run(calling, url, token, ("count", {}))[0])
            assert ("UNAUTHORIZED", "no_access_token") == (envelope.name, envelope.reason)
            assert ["orders:read"] == data["missingScopes"]


def test_code_on_the_server_may_call_any_tool() -> None:
    """Whoever runs the server is not a caller of HTTP."""
    assert "cancelled A-1" == anyio.run(Server("s", tools=[cancel]).call_tool, *CANCEL).content[0].text


def test_a_tool_that_fastmcp_hides_for_its_scopes_names_them() -> None:
    """A tool that something else hides too does not exist for the caller."""
    with served(app_of("fastmcp")) as url:
        hidden, secret, retired = anyio.run(calling, url, "reader", ("hidden", {}), ("secret", {}), ("retired", {}))
        envelope, data = failure(hidden)
        assert ("FORBIDDEN", ["orders:write"]) == (envelope.name, data["missingScopes"])
        assert "Unknown tool: secret." == secret.message
        assert "Unknown tool: retired." == retired.message
        assert {"result": "seen"} == anyio.run(calling, url, "writer", ("hidden", {}))[0].structured_content


@pytest.mark.usefixtures("door")
def test_in_memory_there_are_no_tokens(call: Call) -> None:
    """Whoever runs the server may call every tool."""
    assert {"result": 7} == call(Server("s", tools=[count]), "count").structured_content


@pytest.mark.parametrize("scopes", ["orders:read", ["orders read"], [""], ['a"b'], [7], 7])
def test_scopes_that_are_none_are_refused(scopes: Any) -> None:
    with pytest.raises(ContractError, match="auth"):
        tool(auth=scopes)(count.handler)
