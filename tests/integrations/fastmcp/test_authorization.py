"""FastMCP's authorization over real HTTP: the answers of FastMCP itself, and the envelopes that clients read."""

from __future__ import annotations

from typing import Any

import anyio
import httpx2
import pytest
from fastmcp import Client, FastMCP
from fastmcp.client.transports import StreamableHttpTransport
from fastmcp.server.auth import require_scopes
from fastmcp.server.auth.providers.jwt import JWTVerifier, RSAKeyPair
from fastmcp.server.middleware import AuthMiddleware

from mcpcore import Context, prompt, resource, tool
from mcpcore.integrations.fastmcp import ContractMiddleware
from tests.answers import ask, settled
from tests.integrations.fastmcp.contract_server import extended, records
from tests.serving import served

AUDIENCE = "orders"


@pytest.fixture(scope="module")
def keys() -> RSAKeyPair:
    """Return the keys of the token issuer."""
    return RSAKeyPair.generate()


@tool
def count(ctx: Context) -> int:
    assert ctx.headers is not None
    return len(ctx.headers["authorization"])


@resource("orders://all")
def orders() -> str:
    return "A-1"


@prompt
def summarise() -> str:
    return "Summarise the orders."


def server_of(auth: JWTVerifier | None, **options: Any) -> FastMCP[Any]:
    """Return a server whose tools, resources and prompts need a scope."""
    return extended(
        FastMCP("orders", auth=auth),
        ContractMiddleware(**options),
        AuthMiddleware(auth=require_scopes("orders:read")),
        count,
        orders,
        summarise,
    )


async def envelopes(url: str, token: str | None) -> list[dict[str, Any]]:
    """Return the envelopes of a tool call, a resource read and a prompt."""
    async with Client(StreamableHttpTransport(url, auth=token)) as client:
        result = await client.call_tool_mcp("count", {})
        requests = (client.read_resource("orders://all"), client.get_prompt("summarise"))
        errors = [await settled(request) for request in requests]
        return [result.structured_content["error"], *(error.error.data["error"] for error in errors)]


@pytest.mark.slow
class TestOverHTTP:
    def test_a_token_without_the_scope_is_forbidden(self, keys: RSAKeyPair, caplog: pytest.LogCaptureFixture) -> None:
        """A token with the scope may call the tool; both are signed and verified."""

        reader, stranger = (keys.create_token(audience=AUDIENCE, scopes=scopes) for scopes in (["orders:read"], []))
        with served(server_of(JWTVerifier(public_key=keys.public_key, audience=AUDIENCE)).http_app()) as url:
            client = Client(StreamableHttpTransport(url, auth=reader))
            result = ask(client, lambda connected: connected.call_tool_mcp("count", {}))
            assert {"result": len(f"Bearer {reader}")} == result.structured_content
            errors = anyio.run(envelopes, url, stranger)
        assert ["FORBIDDEN"] * 3 == [error["name"] for error in errors]
        assert [error["correlationId"] for error in errors] == [record["correlationId"] for record in records(caplog)]

    def test_a_request_with_an_unverified_token_is_unauthorized(
        self, keys: RSAKeyPair, caplog: pytest.LogCaptureFixture
    ) -> None:
        """The server has no verifier, so FastMCP's authorization refuses every token."""
        with served(server_of(None).http_app()) as url:
            for token in (None, keys.create_token(audience=AUDIENCE, scopes=["orders:read"])):
                caplog.clear()
                errors = anyio.run(envelopes, url, token)
                assert ["UNAUTHORIZED"] * 3 == [error["name"] for error in errors]
                assert ["tool", "resource", "prompt"] == [record["surface"] for record in records(caplog)]

    @pytest.mark.parametrize("presented", ["none", "garbage", "expired", "another key", "another audience", "no scope"])
    def test_a_request_without_a_valid_token_is_answered_by_fastmcp_with_401(
        self, presented: str, keys: RSAKeyPair, caplog: pytest.LogCaptureFixture
    ) -> None:
        """The verifier may also require a scope. No MCP message is read, so there is no envelope and no record."""
        token = {
            "none": lambda: None,
            "garbage": lambda: "garbage",
            "expired": lambda: keys.create_token(audience=AUDIENCE, expires_in_seconds=-60),
            "another key": lambda: RSAKeyPair.generate().create_token(audience=AUDIENCE),
            "another audience": lambda: keys.create_token(audience="invoices"),
            "no scope": lambda: keys.create_token(audience=AUDIENCE, scopes=[]),
        }[presented]()
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "count", "arguments": {}}}
        headers = {"accept": "application/json, text/event-stream"} | (
            {} if token is None else {"authorization": f"Bearer {token}"}
        )
        verifier = JWTVerifier(public_key=keys.public_key, audience=AUDIENCE, required_scopes=["orders:read"])
        with served(server_of(verifier).http_app()) as url:
            answer = httpx2.post(url, json=message, headers=headers)
        assert 401 == answer.status_code
        assert answer.headers["www-authenticate"].startswith("Bearer")
        assert "correlationId" not in answer.text
        assert not records(caplog)
