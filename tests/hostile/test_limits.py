"""Handlers and callers that work against timeouts, limits of concurrent calls, and scopes."""

from __future__ import annotations

import json
import logging
import threading
import time
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client

from mcpcore import Context, Envelope, ErrorCode, FailureMode, Server, tool
from tests.answers import envelope_of
from tests.doors import behind
from tests.runtime.test_auth_scopes import app_of
from tests.runtime.test_refusals import JSON, app_of as watched_app, records_of
from tests.serving import served

LOOPS = ["asyncio", "trio"]
HALF = FailureMode("half", ErrorCode.CONFLICT, when="Half is done.", recovery="Look first.", effects="partial")


@pytest.fixture(params=["server", "fastmcp"])
def framework(request: pytest.FixtureRequest) -> str:
    """The framework that serves in this process."""
    return str(request.param)


def client_of(framework: str, *tools: Any, **options: Any) -> Client:
    """Return a client of a server with some tools."""
    serving = behind(framework, Server("s", tools=tools, **options))
    return Client(getattr(serving, "_mcp_server", serving) if framework == "fastmcp" else serving)


def name_of(result: Any) -> str:
    """Return the name of the failure in a result, or "fine"."""
    envelope = Envelope.from_result(result)
    return "fine" if envelope is None else envelope.name


@pytest.mark.parametrize("anyio_backend", LOOPS)
@pytest.mark.anyio
async def test_a_handler_that_swallows_its_cancellation_fails_with_the_timeout(framework: str) -> None:
    """It may go on for a while; meanwhile other calls are answered, and its place is taken."""
    swallowed = []

    @tool(timeout=0.05, max_concurrency=1)
    async def stubborn() -> str:
        for _ in range(5):
            try:
                await anyio.sleep(30)
            except BaseException as exc:
                swallowed.append(exc)
        with anyio.CancelScope(shield=True):
            await anyio.sleep(0.3)
        return "done after all"

    @tool
    async def quick() -> str:
        return "quick"

    names: dict[str, Any] = {}
    async with client_of(framework, stubborn, quick) as client, anyio.create_task_group() as group:

        async def first() -> None:
            names["first"] = name_of(await client.call_tool("stubborn", {}))

        group.start_soon(first)
        while not swallowed:  # noqa: ASYNC110 - the handler knows nothing of the test
            await anyio.sleep(0.01)
        names["second"] = name_of(await client.call_tool("stubborn", {}))
        names["quick"] = name_of(await client.call_tool("quick", {}))
    assert {"first": "TIMEOUT", "second": "RATE_LIMITED", "quick": "fine"} == names
    assert len(swallowed) >= 5


@pytest.mark.parametrize("anyio_backend", LOOPS)
@pytest.mark.parametrize("ends_with", [KeyError, TimeoutError, SystemExit, StopAsyncIteration, "half"])
@pytest.mark.anyio
async def test_whatever_a_stopped_handler_raises_is_answered(framework: str, ends_with: Any) -> None:
    """A declared failure as such, all else as the timeout, and without a word of it."""

    @tool(errors=[HALF], timeout=0.05)
    async def stopped(ctx: Context[Any]) -> str:
        try:
            await anyio.sleep(30)
        except BaseException:
            raise (ctx.fail("half") if ends_with == "half" else ends_with("hunter2")) from None
        return "never"

    async with client_of(framework, stopped) as client:
        result = await client.call_tool("stopped", {})
    assert ("CONFLICT" if ends_with == "half" else "TIMEOUT") == name_of(result)
    assert "hunter2" not in result.model_dump_json()


@pytest.mark.parametrize("anyio_backend", LOOPS)
@pytest.mark.anyio
async def test_places_come_back_however_calls_end(framework: str, caplog: pytest.LogCaptureFixture) -> None:
    """Hundreds of calls that are left, refused, stopped, crash, or succeed: afterwards all places are free."""
    release = threading.Event()

    @tool(max_concurrency=4, timeout=0.2)
    async def mixed(kind: str) -> str:
        if kind == "crash":
            raise KeyError(kind)
        if kind == "exit":
            raise SystemExit(kind)
        if kind in ("late", "left"):
            await anyio.sleep(30)
        return kind

    @tool(max_concurrency=4, timeout=0.05)
    def threaded() -> str:
        release.wait(20)
        return "done"

    outcomes = set()

    with caplog.at_level(logging.CRITICAL):
        async with client_of(framework, mixed, threaded, max_concurrency=8) as client:

            async def call(kind: str) -> None:
                with anyio.move_on_after(0.02 if kind == "left" else 30):
                    name = "threaded" if kind == "threaded" else "mixed"
                    outcomes.add(name_of(await client.call_tool(name, {} if kind == "threaded" else {"kind": kind})))

            for _ in range(6):
                async with anyio.create_task_group() as group:
                    for kind in ("crash", "exit", "late", "left", "fine", "threaded") * 5:
                        group.start_soon(call, kind)
            release.set()
            names = [""]

            async def again(name: str, arguments: dict[str, str]) -> None:
                names.append(name_of(await client.call_tool(name, arguments)))

            with anyio.fail_after(20):
                while names != ["fine"] * 8:
                    names.clear()
                    async with anyio.create_task_group() as group:
                        for _ in range(4):
                            group.start_soon(again, "mixed", {"kind": "fine"})
                            group.start_soon(again, "threaded", {})
            assert ["fine"] * 8 == names
    assert {"INTERNAL_ERROR", "TIMEOUT", "RATE_LIMITED"} <= outcomes


@pytest.mark.anyio
async def test_a_nested_call_keeps_its_own_limits(framework: str) -> None:
    """A tool that calls another does not lend it its time, and the other does not prolong it."""
    server = Server("s", timeout=5)

    @tool(timeout=30)
    async def inner(seconds: float) -> str:
        await anyio.sleep(seconds)
        return "inner"

    @tool(timeout=0.1)
    async def outer() -> str:
        return await inner(seconds=30)

    @tool(timeout=30)
    async def patient() -> str:
        return await outer()

    for made in (inner, outer, patient):
        server.add_tool(made)

    serving = behind(framework, server)
    target = serving._mcp_server if framework == "fastmcp" else serving
    async with Client(target) as client:
        began = time.monotonic()
        names = [name_of(await client.call_tool("outer", {}))]
        assert time.monotonic() - began < 4
        names.append(name_of(await client.call_tool("inner", {"seconds": 0})))
    assert ["TIMEOUT", "fine"] == names


@pytest.mark.parametrize("seconds", [1e-300, 1e300, 10**300, 2**70])
@pytest.mark.anyio
async def test_a_timeout_of_any_size_is_one(framework: str, seconds: float) -> None:
    """Too short for any call, or longer than any."""

    @tool(timeout=seconds)
    async def sleeper() -> str:
        await anyio.sleep(0.01)
        return "done"

    async with client_of(framework, sleeper) as client:
        name = name_of(await client.call_tool("sleeper", {}))
    assert ("TIMEOUT" if seconds < 1 else "fine") == name


FORGED = [
    "Bearer",
    "Bearer forged",
    "Bearer writer,writer",
    "Bearer writer\u00e9",
    "bearer " + "x" * 20_000,
    "Basic d3JpdGVyOndyaXRlcg==",
    "Bearer eyJhbGciOiJub25lIn0.eyJzY29wZSI6Im9yZGVyczp3cml0ZSJ9.",
    "Bearer ../writer",
    "Token writer",
    'Bearer {"scopes": ["orders:write"]}',
]


def test_a_forged_token_calls_nothing(served_by: str) -> None:
    """Whatever it claims, the answer is 401, and no tool has run."""
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "cancel", "arguments": {"order_id": "1"}},
    }
    forged_meta = {"scopes": ["orders:write"], "authorization": "Bearer writer", "auth": {"scopes": ["orders:write"]}}
    with served(app_of(served_by, stateless_http=True)) as url, httpx2.Client() as client:
        for token in FORGED:
            answer = client.post(url, json=body, headers=[*JSON.items(), ("authorization", token.encode("latin-1"))])
            assert 401 == answer.status_code, token
            assert "cancelled" not in answer.text
        body["params"]["_meta"] = forged_meta  # type: ignore[index]
        answer = client.post(
            url, json=body, headers={**JSON, "authorization": "Bearer reader", "x-scopes": "orders:write"}
        )
        envelope = envelope_of(json.loads(answer.text.partition("data: ")[2].partition("\r\n")[0]))
        assert ("FORBIDDEN", ["orders:write"]) == (envelope.name, envelope.details["missingScopes"])


def test_hundreds_of_refused_requests_leave_a_record_for_each_kind(served_by: str, trail: Any) -> None:
    """From many connections; the server answers all of them and starts no thread for each."""
    kinds: list[dict[str, Any]] = [
        {"content": b"{"},
        {"content": b"\xff\xfe"},
        {"content": b"{}", "headers": {**JSON, "mcp-session-id": "f" * 32}},
        {"content": b"{}", "headers": {**JSON, "mcp-session-id": "\u00e9" * 1000}},
        {"content": b"{}", "headers": {**JSON, "host": "evil.example"}},
        {"content": b"{}", "headers": {**JSON, "origin": "null"}},
        {"content": b"{}", "headers": {**JSON, "accept": "evil/*"}},
        {"content": b"{}", "headers": {**JSON, "content-type": "text/evil"}},
        {"content": b"{}", "headers": {**JSON, "mcp-protocol-version": "evil"}},
        {"method": "PATCH"},
        {"method": "EVIL"},
        {"method": "DELETE"},
    ]
    statuses: list[int] = []

    async def attack(url: str) -> None:
        async with httpx2.AsyncClient(timeout=60) as client, anyio.create_task_group() as group:

            async def requests(first: int) -> None:
                for number in range(first, first + 25):
                    kind = {"method": "POST", "headers": JSON, **kinds[number % len(kinds)]}
                    headers = {name: value.encode("latin-1") for name, value in kind.pop("headers").items()}
                    statuses.append((await client.request(url=url, headers=headers, **kind)).status_code)

            for connection in range(20):
                group.start_soon(requests, connection * 25)

    with served(watched_app(served_by, trail)) as url:
        before = threading.active_count()
        anyio.run(attack, url)
        assert threading.active_count() - before < 10
    assert 500 == len(statuses)
    assert all(400 <= status < 500 for status in statuses)
    assert 500 == sum(record["count"] for record in records_of(trail).values())
    assert "evil" not in trail.read_text().lower()
