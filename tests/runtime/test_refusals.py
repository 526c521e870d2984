"""HTTP requests that a server refuses: the answers of the specification, and one record for each kind and minute."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from fastmcp import FastMCP
from fastmcp.server.auth.providers.jwt import StaticTokenVerifier
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from starlette.applications import Starlette
from starlette.responses import Response

from mcpcore import Server, tool
from mcpcore.audit.verification import verify
from mcpcore.integrations.fastmcp import ContractMiddleware
from mcpcore.sdk import refusals
from tests.serving import served

JSON = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
MODERN = {**JSON, "mcp-protocol-version": "2026-07-28"}
PING = '{"jsonrpc": "2.0", "id": 1, "method": "ping"}'


@tool
def count() -> int:
    return 7


class Verifier:
    """Knows one token, without scopes."""

    async def verify_token(self, token: str) -> AccessToken | None:
        return AccessToken(token=token, client_id="c", scopes=[]) if token == "known" else None


def app_of(served_by: str, trail: Path, *, auth: bool = False, **options: Any) -> Any:
    """Return the HTTP application of a server that records in `trail`."""
    if served_by == "server":
        url: Any = "http://127.0.0.1:9/auth"
        verified: dict[str, Any] = {}
        if auth:
            settings = AuthSettings(
                issuer_url=url,
                resource_server_url=url,
                required_scopes=["orders"],
                validate_token_resource=False,
            )
            verified = {"token_verifier": Verifier(), "auth": settings}
        return Server("s", tools=[count], audit=trail, **verified).streamable_http_app(**options)
    tokens = {"known": {"client_id": "c", "scopes": []}}
    verifier = StaticTokenVerifier(tokens=tokens, required_scopes=["orders"]) if auth else None
    mcp: FastMCP[Any] = FastMCP("s", auth=verifier)
    contracts = ContractMiddleware(audit=trail)
    mcp.add_middleware(contracts)
    mcp.add_tool(count)
    return contracts.watch_http(mcp.http_app(host_origin_protection=True, **options))


def statuses(url: str, *requests: dict[str, Any]) -> list[int]:
    """Return the HTTP status of each request."""
    with httpx2.Client() as client:
        return [
            client.request(**{"method": "POST", "url": url, "headers": JSON, **request}).status_code
            for request in requests
        ]


def records_of(trail: Path) -> dict[str, dict[str, Any]]:
    """Return the records of the trail by their reason; each reason has one."""
    records = [json.loads(line) for line in trail.read_text().splitlines()]
    assert verify(trail).ok
    assert len(records) == len({record["reason"] for record in records}), records
    return {record["reason"]: record for record in records}


def test_the_answers_are_those_of_the_specification(served_by: str, trail: Path) -> None:
    """Each kind leaves one record with a count, when the server stops at the latest."""
    requests: list[dict[str, Any]] = [
        {"content": PING, "headers": {**JSON, "mcp-session-id": "f" * 32}},
        {"content": PING},  # without a session
        {"content": "{"},
        {"content": PING, "headers": {**JSON, "host": "evil.example"}},
        {"content": PING, "headers": {**JSON, "origin": "https://evil.example"}},
        {"content": " " * (4 * 1024 * 1024 + 1)},
        {"content": PING, "headers": {**JSON, "accept": "text/html"}},
        {"method": "PUT", "content": PING},
    ]
    with served(app_of(served_by, trail)) as url:
        for _ in range(3):
            assert [404, 400, 400, 421, 403, 413, 406, 405] == statuses(url, *requests)
        assert 404 == statuses(url.removesuffix("mcp") + "wp-admin", {"content": PING})[0]
        assert not trail.exists() or not trail.read_text()
    records = records_of(trail)
    assert {
        "unknown_session": (404, 3),
        "bad_request": (400, 6),
        "wrong_host": (421, 3),
        "wrong_origin": (403, 3),
        "body_too_large": (413, 3),
        "not_acceptable": (406, 3),
        "wrong_method": (405, 3),
    } == {reason: (record["status"], record["count"]) for reason, record in records.items()}
    unknown_session = records["unknown_session"]
    assert ("http", "refused", "NOT_FOUND", "s") == (
        unknown_session["surface"],
        unknown_session["outcome"],
        unknown_session["name"],
        unknown_session["server"],
    )
    assert "evil" not in trail.read_text()


def test_failed_authentication_asks_for_a_token(served_by: str, trail: Path) -> None:
    """RFC 6750: 401 without a valid token, 403 without the scope; both say so in WWW-Authenticate."""
    with served(app_of(served_by, trail, auth=True)) as url:
        answers = [
            httpx2.post(url, content=PING, headers={**JSON, **({"authorization": f"Bearer {token}"} if token else {})})
            for token in (None, "forged", "known", "known")
        ]
        # FastMCP's verifiers refuse a token without the scopes of the server as one that is not valid.
        refused = 403 if served_by == "server" else 401
        assert [401, 401, refused, refused] == [answer.status_code for answer in answers]
        assert ["Bearer"] * 4 == [answer.headers["www-authenticate"].split()[0] for answer in answers]
        assert ("insufficient_scope" in answers[-1].headers["www-authenticate"]) == (refused == 403)
    records = records_of(trail)
    counts = {"not_authenticated": 2, "missing_scope": 2} if refused == 403 else {"not_authenticated": 4}
    assert counts == {name: record["count"] for name, record in records.items()}
    assert "forged" not in trail.read_text()


def test_a_failure_with_a_record_of_its_own_is_not_counted_again(served_by: str, trail: Path) -> None:
    """In the protocol of 2026-07-28 an unknown tool is an HTTP error too."""
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {
            "name": "cuont",
            "arguments": {},
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "c", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        },
    }
    headers = {**MODERN, "mcp-method": "tools/call", "mcp-name": "cuont"}
    with served(app_of(served_by, trail)) as url:
        answer = httpx2.post(url, content=json.dumps(call), headers=headers)
        assert "Did you mean count?" in answer.text, answer.text
        assert answer.status_code >= 400
    assert ["unknown_tool"] == list(records_of(trail))


def test_the_record_is_written_after_a_minute(served_by: str, trail: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither another refusal nor the end of the server is needed."""
    monkeypatch.setattr(refusals, "WINDOW", 0.5)
    with served(app_of(served_by, trail)) as url:
        statuses(url, {"content": "{"}, {"content": "{"})
        deadline = time.monotonic() + 20
        while not (trail.exists() and trail.read_text()) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert 2 == records_of(trail)["bad_request"]["count"]
        statuses(url, {"content": "{"})
    assert [2, 1] == [json.loads(line)["count"] for line in trail.read_text().splitlines()]


def test_an_application_that_is_mounted_in_another_counts_too(served_by: str, trail: Path) -> None:
    """The application above owns the lifespan."""
    from starlette.routing import Mount

    inner = app_of(served_by, trail)
    outer = Starlette(routes=[Mount("/tools", app=inner)], lifespan=lambda _: inner.router.lifespan_context(inner))
    with served(outer) as url:
        statuses(url.replace("/mcp", "/tools/mcp"), {"content": "{"})
    next(layer.kwargs["refusals"] for layer in inner.user_middleware if "refusals" in layer.kwargs).write()
    assert 1 == records_of(trail)["bad_request"]["count"]


def test_a_trail_that_cannot_be_written_changes_no_answer(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The policy "refuse" is about the failures of calls."""
    from mcpcore.audit import AuditTrail

    folder = tmp_path / "gone"
    folder.mkdir()
    trail = AuditTrail.open(folder / "trail.jsonl", policy="refuse")
    server = Server("s", tools=[count], audit=trail)
    trail.close()
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    with served(server.streamable_http_app()) as url:
        assert [400] == statuses(url, {"content": "{"})
    assert "could not be recorded" in caplog.text


def test_other_loops_than_asyncio_write_too(trail: Path) -> None:
    """The middleware works on any event loop that anyio knows."""
    app = app_of("server", trail)

    async def run() -> None:
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        async def receive() -> Any:
            return {"type": "http.request", "body": b"{", "more_body": False}

        scope = {"type": "http", "method": "GET", "path": "/mcp", "raw_path": b"/mcp", "query_string": b"",
                 "headers": [(b"host", b"evil.example")], "http_version": "1.1", "scheme": "http", "server": None,
                 "client": None, "root_path": ""}  # fmt: skip
        async with app.router.lifespan_context(app):
            await app(scope, receive, send)
        assert 421 == sent[0]["status"]

    anyio.run(run, backend="trio")
    next(layer.kwargs["refusals"] for layer in app.user_middleware if "refusals" in layer.kwargs).write()
    assert ["wrong_host"] == list(records_of(trail))


def test_without_a_trail_nothing_is_recorded(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    """A status that is no refusal of the protocol is not counted, and nobody hears of the others."""
    monkeypatch.setattr(refusals, "WINDOW", 0.05)
    contracts = ContractMiddleware()
    mcp: FastMCP[Any] = FastMCP("s", middleware=[contracts])

    @mcp.custom_route("/teapot/mcp", methods=["GET"])
    async def teapot(request: Any) -> Response:
        return Response(status_code=418)

    with served(contracts.watch_http(mcp.http_app())) as url:
        wrong = {"method": "GET", "url": url.replace("/mcp", "/teapot/mcp")}
        with caplog.at_level("CRITICAL", "mcpcore.audit"):
            assert [418, 400] == statuses(url, wrong, {"content": "{"})
            time.sleep(0.2)
    assert [] == [record for record in caplog.records if record.name.startswith("mcpcore")]


def test_only_an_application_of_fastmcp_can_be_watched() -> None:
    """The error says what to pass."""
    with pytest.raises(TypeError, match=r"takes the application that mcp\.http_app\(\) makes, not a Starlette"):
        ContractMiddleware().watch_http(Starlette())
