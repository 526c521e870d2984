"""Sessions over HTTP: strangers take no place from those who work, whichever application keeps the sessions."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import socket
import sys
from collections.abc import AsyncIterator
from typing import Any

import anyio
import fastmcp
import httpx2
import pytest
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.transport_security import TransportSecuritySettings
from starlette.middleware import Middleware
from starlette.requests import Request

from mcpcore import Server
from mcpcore.boundary.script import Boundary
from mcpcore.proxy.answers import ResponseRewriter
from mcpcore.proxy.http import ChildFront
from mcpcore.sdk import http
from mcpcore.sdk.http import Sessions, web_server
from tests.answers import within

ECHO = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": {}}), flush=True)
"""
ACCEPT = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
INITIALIZE = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}},
}  # fmt: skip
ANY = TransportSecuritySettings(enable_dns_rebinding_protection=False)
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
PING = {"jsonrpc": "2.0", "id": 2, "method": "ping"}


class Strangers:
    """Clients of one application, of any address and with any credentials."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def send(self, address: str, method: str = "POST", user: str = "", **options: Any) -> httpx2.Response:
        async def app(scope: Any, receive: Any, send: Any) -> None:
            if user:
                scope["user"] = AuthenticatedUser(AccessToken(token="t", client_id=user, scopes=[]))
            await self.app(scope, receive, send)

        transport = httpx2.ASGITransport(app, client=(address, 1))
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost", timeout=20) as client:
            headers = {**ACCEPT, **options.pop("headers", {})}
            return await client.request(method, "/mcp", headers=headers, **options)

    async def open(self, address: str = "10.0.0.1", token: str = "", user: str = "") -> httpx2.Response:
        return await self.send(address, json=INITIALIZE, user=user, headers={"authorization": token} if token else {})

    async def opened(self, address: str = "10.0.0.1", *messages: Any, token: str = "", user: str = "") -> str:
        """Open a session and send it messages; returns its id."""
        answer = await self.open(address, token, user)
        assert 200 == answer.status_code, answer.text
        ident = str(answer.headers["mcp-session-id"])
        for message in messages:
            assert (202, 200)["id" in message] == await self.status(ident, message, user=user)
        return ident

    async def status(self, ident: str, message: Any = PING, user: str = "") -> int:
        return (await self.send("10.0.0.1", json=message, headers={"mcp-session-id": ident}, user=user)).status_code


@contextlib.asynccontextmanager
async def applications(kind: str, sessions: Sessions) -> AsyncIterator[Strangers]:
    """An application of a kind behind `sessions`."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(sessions.run)
        if kind == "proxy":
            front = ChildFront((sys.executable, "-c", ECHO), ResponseRewriter(Boundary(server="s", audit=None)))

            async def app(scope: Any, receive: Any, send: Any) -> None:
                await front.handle(Request(scope, receive), send)

            async with front.running():
                yield Strangers(sessions.in_front_of(app))
        else:
            made = (
                Server("s").streamable_http_app(transport_security=ANY)
                if kind == "server"
                else fastmcp.FastMCP("s").http_app(host_origin_protection=False)
            )
            made.user_middleware.append(Middleware(sessions.in_front_of))
            async with made.router.lifespan_context(made):
                yield Strangers(made)
        tasks.cancel_scope.cancel()


KINDS = pytest.mark.parametrize("kind", ["server", "fastmcp", "proxy"])


@KINDS
@within(120)
async def test_strangers_lock_nobody_out_and_end_no_session_that_works(kind: str) -> None:
    """Their own sessions, which never called anything, give way; those without a handshake first, the oldest first."""
    async with applications(kind, Sessions(path="/mcp", most=4)) as clients:
        working = await clients.opened("10.0.0.1", INITIALIZED, PING)
        unused = await clients.opened("10.0.0.2", INITIALIZED)
        flood = [await clients.opened(f"10.0.1.{number}") for number in range(8)]
        assert [200, 200] == [await clients.status(ident) for ident in (working, unused)]
        assert [404] * 6 + [200] * 2 == [await clients.status(ident) for ident in flood]


@KINDS
@within(120)
async def test_one_more_session_of_a_client_is_refused_and_told_when_to_try_again(kind: str) -> None:
    """A client gets half of the places, all clients of an address three quarters; the places come back."""
    async with applications(kind, Sessions(path="/mcp", most=4)) as clients:
        greedy = [await clients.opened("10.0.0.9", PING) for _ in range(2)]
        refused = await clients.open("10.0.0.9")
        assert (503, "30") == (refused.status_code, refused.headers["retry-after"])
        assert "Too many sessions" in refused.json()["error"]["message"]
        await clients.opened("10.0.0.9", PING, token="Bearer x")
        assert 503 == (await clients.open("10.0.0.9", "Bearer y")).status_code, "one address"
        last = await clients.opened("10.0.0.1", PING)
        assert 503 == (await clients.open("10.0.0.2")).status_code, "all"
        assert [200] * 3 == [await clients.status(ident) for ident in (*greedy, last)]
        assert 200 == (await clients.send("10.0.0.9", "DELETE", headers={"mcp-session-id": greedy[0]})).status_code
        assert 200 == (await clients.open("10.0.0.2")).status_code


@within(120)
async def test_a_network_of_ipv6_is_one_client() -> None:
    """Whoever has one address of it has 2^64."""
    async with applications("server", Sessions(path="/mcp", most=4)) as clients:
        for number in range(2):
            await clients.opened(f"2001:db8::{number}", PING)
        assert 503 == (await clients.open("2001:db8::ffff")).status_code
        await clients.opened("2001:db8:0:1::1", PING)
        await clients.opened("::ffff:10.0.0.1", PING)
        assert 503 == (await clients.open("::ffff:10.0.0.2")).status_code, "all"


@within(120)
async def test_a_verified_client_counts_for_itself() -> None:
    """Not for its address, which may be that of a gateway; and no other client frees or ends its places."""
    async with applications("server", Sessions(path="/mcp", most=4)) as clients:
        alice = [await clients.opened("10.0.0.1", PING, user="alice") for _ in range(2)]
        assert 503 == (await clients.open("10.0.0.1", user="alice")).status_code
        for ident in alice:
            assert 404 == await clients.status(ident, user="bob")
        assert 503 == (await clients.open("10.0.0.1", user="alice")).status_code, "the 404 freed nothing"
        await clients.opened("10.0.0.1", user="bob")
        unused = await clients.opened("10.0.0.1", user="bob")
        assert 200 == (await clients.open("10.0.0.1", user="carol")).status_code, "a session of bob gave way"
        assert 200 == await clients.status(unused, user="bob")


@KINDS
@within(120)
async def test_a_handshake_that_does_not_end_has_a_short_life(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that goes on keeps its session."""
    monkeypatch.setattr(http, "HANDSHAKE", 0.3)
    monkeypatch.setattr(http, "_PERIOD", 0.05)
    async with applications(kind, Sessions(path="/mcp")) as clients:
        kept = [await clients.opened("a", INITIALIZED), await clients.opened("a", PING)]
        left = await clients.opened("a")
        await anyio.sleep(1)
        assert [200, 200] == [await clients.status(ident) for ident in kept]
        assert 404 == await clients.status(left)


@within(120)
async def test_an_idle_session_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that works, too."""
    monkeypatch.setattr(http, "_PERIOD", 0.05)
    async with applications("server", Sessions(path="/mcp", idle=0.3)) as clients:
        left = await clients.opened("a", INITIALIZED, PING)
        await anyio.sleep(1)
        assert 404 == await clients.status(left)


@pytest.mark.parametrize("fails", [False, True])
@within(120)
async def test_a_session_that_cannot_be_ended_holds_up_nobody(fails: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The application hangs, or fails; requests outside of sessions, and other paths, are not counted."""
    monkeypatch.setattr(http, "_END_IN", 0.05)
    opened = 0

    async def app(scope: Any, receive: Any, send: Any) -> None:
        nonlocal opened
        if scope["method"] == "DELETE":
            if fails:
                raise RuntimeError("x")
            await anyio.sleep_forever()
        await receive()
        opened += 1
        ident = (b"mcp-session-id", f"{opened}".encode()) if scope["path"] == "/mcp" else (b"x", b"")
        await send({"type": "http.response.start", "status": 200, "headers": [ident]})
        await send({"type": "http.response.body", "body": b""})

    clients = Strangers(Sessions(path="/mcp", most=1).in_front_of(app))
    for _ in range(3):
        assert 200 == (await clients.open()).status_code
    await clients.opened("a", PING)
    assert 503 == (await clients.open()).status_code
    assert 200 == (await clients.send("a", json=PING, headers={"mcp-protocol-version": "2026-07-28"})).status_code


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of the streams that the SDK lost
@KINDS
@within(120)
async def test_a_session_takes_its_streams_along(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them end, including those that were opened simultaneously, of which the SDK knows the last only."""
    monkeypatch.setattr(http, "_END_IN", 0.05)
    async with applications(kind, Sessions(path="/mcp")) as clients:
        headers = {"mcp-session-id": await clients.opened("a", INITIALIZED)}
        streams = [asyncio.ensure_future(clients.send("a", "GET", headers=headers)) for _ in range(5)]
        await anyio.sleep(0.5)
        assert 200 == (await clients.send("a", "DELETE", headers=headers)).status_code
        await asyncio.wait_for(asyncio.gather(*streams), 10)
    gc.collect()


@within(120)
async def test_a_request_without_an_answer_is_told_that_its_session_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """An application that forgets a request at the end of its session leaves no client waiting.

    An answer that opens no session takes no place for one.
    """
    monkeypatch.setattr(http, "_END_IN", 0.05)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["method"] == "PUT":
            await anyio.sleep_forever()
        headers = [] if scope["method"] == "OPTIONS" else [(b"mcp-session-id", b"1")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body"})

    sessions = Sessions(path="/mcp")
    clients = Strangers(sessions.in_front_of(app))
    assert (200, set()) == ((await clients.send("a", "OPTIONS")).status_code, sessions._sessions)
    headers = {"mcp-session-id": await clients.opened("a")}
    answer = asyncio.ensure_future(clients.send("a", "PUT", headers=headers))
    await anyio.sleep(0.1)
    await clients.send("a", "DELETE", headers=headers)
    assert (404, "The session has ended.") == ((await answer).status_code, (await answer).text)


@pytest.mark.parametrize("allowed", [None, "127.0.0.1", "10.9.9.9"])
@within(120)
async def test_forwarded_addresses_are_believed_only_where_the_operator_says_so(
    allowed: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise one client would pass for many; the real web server of the commands says who sent a request."""
    if allowed is None:
        monkeypatch.delenv("FORWARDED_ALLOW_IPS", raising=False)
    else:
        monkeypatch.setenv("FORWARDED_ALLOW_IPS", allowed)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": f"{scope['scheme']} {scope['client'][0]}".encode()})

    with socket.create_server(("127.0.0.1", 0)) as listening:
        web = web_server(app, level="critical", grace=1, lifespan="off")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(web.serve, [listening])
            forwarded = {"x-forwarded-for": "10.1.1.1", "x-forwarded-proto": "https"}
            async with httpx2.AsyncClient(trust_env=False) as client:
                url = f"http://127.0.0.1:{listening.getsockname()[1]}"
                answer = await client.get(url, headers=forwarded)
            assert ("https 10.1.1.1" if allowed == "127.0.0.1" else "http 127.0.0.1") == answer.text
            web.should_exit = True
