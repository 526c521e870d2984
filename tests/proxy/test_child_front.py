"""The limits of the front over HTTP for a command, in this process: sessions, idle time, slow clients."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from unittest import mock

import anyio
import httpx2
import pytest
from starlette.requests import Request

from mcpcore import Retry
from mcpcore.boundary.script import Boundary
from mcpcore.proxy import http
from mcpcore.proxy.answers import ResponseRewriter
from mcpcore.proxy.conversation import Conversation
from mcpcore.proxy.http import ChildFront
from tests.answers import envelope_of, within
from tests.proxy.test_http import ACCEPT, META, MODERN

SLOW = """
import json, sys, time
for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        time.sleep(0.3 if request["method"] == "slow" else 0)
        for number in range(50 if request["method"] == "many" else 0):
            print(json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": number}}))
        if request["method"] == "junk":
            print("junk")
            print(json.dumps({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}))
        if request["method"] == "progress":
            params = {"progressToken": request["params"]["_meta"]["progressToken"], "progress": 1}
            print(json.dumps({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}))
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": {}}), flush=True)
"""

INITIALIZE = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}},
}  # fmt: skip


@contextlib.asynccontextmanager
async def front(*command: str, reads_in: float = 0) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of a front with a command, which takes `reads_in` seconds for each part of an answer."""
    served = ChildFront(command or (sys.executable, "-c", SLOW), ResponseRewriter(Boundary(server="s", audit=None)))

    async def app(scope: Any, receive: Any, send: Any) -> None:
        async def slowly(message: Any) -> None:
            await anyio.sleep(reads_in)
            await send(message)

        await served.handle(Request(scope, receive), slowly)

    transport = httpx2.ASGITransport(app)
    async with served.running(), httpx2.AsyncClient(transport=transport, base_url="http://test", timeout=20) as client:
        yield client


def single(method: str) -> dict[str, Any]:
    """Return a request of the protocol since 2026-07-28."""
    headers = {**ACCEPT, "mcp-protocol-version": MODERN, "mcp-method": method}
    meta = {**META, "progressToken": "mine"}
    return {"json": {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": meta}}, "headers": headers}


@within(30)
async def test_what_opens_no_session_starts_no_child() -> None:
    """A session that has ended is unknown."""
    async with front() as client:
        for refused in (b"", b"[1]", b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'):
            assert 400 == (await client.post("/mcp", content=refused, headers=ACCEPT)).status_code
        opened = await client.post("/mcp", json=INITIALIZE, headers=ACCEPT)
        assert 200 == opened.status_code
        session = {**ACCEPT, "mcp-session-id": opened.headers["mcp-session-id"]}
        assert 200 == (await client.delete("/mcp", headers=session)).status_code
        assert 404 == (await client.post("/mcp", json=INITIALIZE, headers=session)).status_code


@within(30)
async def test_a_session_without_requests_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its child ends, too."""
    monkeypatch.setattr(http, "IDLE", 0.2)
    async with front() as client:
        opened = await client.post("/mcp", json=INITIALIZE, headers=ACCEPT)
        session = {**ACCEPT, "mcp-session-id": opened.headers["mcp-session-id"]}
        status = 200
        while status != 404:
            await anyio.sleep(0.3)
            status = (await client.post("/mcp", json={**INITIALIZE, "method": "ping"}, headers=session)).status_code


def failure_of(answered: httpx2.Response) -> str:
    """Return the words of the JSON-RPC error that a response consists of."""
    assert 200 == answered.status_code
    message = json.loads(answered.text.partition("data: ")[2] or answered.text)
    assert 1 == message["id"]
    return str(message["error"]["message"])


@within(30)
async def test_a_command_that_cannot_start_is_an_answer(tmp_path: Path) -> None:
    """In both eras, for each request; nothing runs, and the front goes on."""
    broken = tmp_path / "broken"
    broken.write_bytes(b"\x7fELF no program")
    broken.chmod(0o755)
    async with front(str(broken)) as client:
        for _ in range(2):
            assert "cannot be started" in failure_of(await client.post("/mcp", json=INITIALIZE, headers=ACCEPT))
            assert "cannot be started" in failure_of(await client.post("/mcp", **single("ping")))
        called = (await client.post("/mcp", **single("tools/call"))).text
        envelope = envelope_of(json.loads(called.partition("data: ")[2] or called)["result"])
        assert ("none", Retry.never()) == (envelope.effects, envelope.retry)
        assert 400 == (await client.post("/mcp", json={**INITIALIZE, "id": None}, headers=ACCEPT)).status_code


@within(30)
async def test_a_command_that_ends_at_once_is_an_answer() -> None:
    """Its second end ends the session, once the handshake is answered."""
    async with front("false") as client:
        for _ in range(2):
            assert "exit code 1" in failure_of(await client.post("/mcp", json=INITIALIZE, headers=ACCEPT))
            assert "exit code 1" in failure_of(await client.post("/mcp", **single("ping")))


@within(30)
async def test_two_clients_of_one_session() -> None:
    """An id that is in use is refused; a cancelled request ends, and its late answer reaches nobody."""
    async with front() as client:
        opened = await client.post("/mcp", json=INITIALIZE, headers=ACCEPT)
        session = {**ACCEPT, "mcp-session-id": opened.headers["mcp-session-id"]}
        statuses, texts = [], []

        async def slow() -> None:
            answered = await client.post("/mcp", json={**INITIALIZE, "method": "slow"}, headers=session)
            statuses.append(answered.status_code)
            texts.append(answered.text)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(slow)
            tasks.start_soon(slow)
        assert [400, 200] == statuses
        assert "same id" in texts[0]
        assert '"result": {}' in texts[1]
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(slow)
            await anyio.sleep(0.1)
            ids: list[Any] = [[], 7, 1]
            for ident in ids:
                cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": ident}}
                assert 202 == (await client.post("/mcp", json=cancel, headers=session)).status_code
        assert "Request cancelled" in texts[2]
        ping = {**INITIALIZE, "method": "ping"}
        assert '"result": {}' in (await client.post("/mcp", json=ping, headers=session)).text


@within(30)
async def test_a_log_line_reaches_no_other_client() -> None:
    """It names no request, so it is dropped if several run."""
    server = """
import json
first, second = (json.loads(input())["id"] for _ in range(2))
print(json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "private"}}))
for ident in (first, second):
    print(json.dumps({"jsonrpc": "2.0", "id": ident, "result": {}}), flush=True)
input()
"""
    texts: list[str] = []
    async with front(sys.executable, "-c", server) as client:

        async def post() -> None:
            texts.append((await client.post("/mcp", **single("ping"))).text)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(post)
            tasks.start_soon(post)
    assert [{}, {}] == [json.loads(text)["result"] for text in texts]


@within(30)
async def test_an_error_of_the_proxy_ends_no_other_session(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither of a session nor of the child that requests without a session share."""
    async with front() as client:
        with monkeypatch.context() as patched:
            patched.setattr(
                Conversation,
                "from_server",
                mock.create_autospec(Conversation.from_server, side_effect=[KeyError("a bug"), KeyError("a bug")]),
            )
            assert '"result"' not in (await client.post("/mcp", json=INITIALIZE, headers=ACCEPT)).text
            assert "error" in (await client.post("/mcp", **single("ping"))).json()
        assert 200 == (await client.post("/mcp", json=INITIALIZE, headers=ACCEPT)).status_code
        assert {} == (await client.post("/mcp", **single("ping"))).json()["result"]
    assert 2 == len([record for record in caplog.records if "error of the proxy" in record.message])


@within(30)
async def test_messages_of_a_session_go_to_its_requests() -> None:
    """A log line goes to the last one; garbage is dropped, and so is a notification for a stream that is not open."""
    async with front() as client:
        no_stream = {"content-type": "application/json", "accept": "application/json"}
        assert 406 == (await client.post("/mcp", json=INITIALIZE, headers=no_stream)).status_code
        opened = await client.post("/mcp", json=INITIALIZE, headers=ACCEPT)
        session = {**ACCEPT, "mcp-session-id": opened.headers["mcp-session-id"]}
        counts = []
        for method in ("progress", "many", "junk"):
            body = {**single(method)["json"], "method": method}
            counts.append((await client.post("/mcp", json=body, headers=session)).text.count("data: "))
        assert [2, 51, 1] == counts


VERBATIM = r"""
import json, sys
for line in sys.stdin.buffer:
    request = json.loads(line)
    ident, method = json.dumps(request["id"]), request["method"]
    lines = [b'{"method": 5}', b'{"jsonrpc": "2.0", "id": [], "result": {}}', b'"text"']
    if method == "raw":
        lines.append(b'{"jsonrpc" : "2.0", "id": %b, "result": {"n": 1.50e2, "half": "\\ud800"}, "extra": 5 }')
    if method == "twice":
        lines.append(b'{"id": %b, "result": {"n": 1.50e2, "id": %b} }')
    if method == "break":
        lines.append(b'{"id": %b,\r"result": {"n": 1.50e2}}')
    if method == "bytes":
        lines.append(b'{"id": %b, "result": {"x": "\xed\xa0\x80"}}')
    if method == "echo":
        lines.append(b'{"id": %b, "result": {"line": ' + json.dumps(line.decode()).encode() + b'}}')
    if method == "initialize":
        lines.append(b'{"jsonrpc": "2.0", "id": %b, "result": {}}')
    for one in lines:
        sys.stdout.buffer.write(one.replace(b"%b", ident.encode()) + b"\n")
    sys.stdout.buffer.flush()
"""

RAW = '{"jsonrpc" : "2.0", "id": 1, "result": {"n": 1.50e2, "half": "\\ud800"}, "extra": 5 }'


def data_of(answered: httpx2.Response) -> str:
    """Return the last event of a response, or its body."""
    return answered.text.rpartition("data: ")[2].rstrip("\r\n")


@within(30)
async def test_the_bytes_of_a_message_arrive() -> None:
    """Numbers, unknown keys and half characters stay; what is no message neither arrives nor ends the session."""
    async with front(sys.executable, "-c", VERBATIM) as client:
        opened = await client.post("/mcp", json=INITIALIZE, headers=ACCEPT)
        session = {**ACCEPT, "mcp-session-id": opened.headers["mcp-session-id"]}

        async def post(method: str) -> list[str]:
            answers = [await client.post("/mcp", json={**INITIALIZE, "method": method}, headers=session)]
            answers.append(await client.post("/mcp", **single(method)))
            return list(map(data_of, answers))

        assert [RAW, RAW] == await post("raw")
        assert [150, 150] == [json.loads(text)["result"]["n"] for text in await post("break")]
        assert ["\ud800"] * 2 == [json.loads(text)["result"]["x"] for text in await post("bytes")]
        in_session, alone = map(json.loads, await post("twice"))
        assert (1, 1) == (in_session["id"], alone["id"])
        body = b'{"jsonrpc": "2.0", "id": 1, "method": "echo", "extra": 1.50e2}'
        for sent, line in (
            (body, body + b"\n"),
            (b"{\n" + body[1:], b'{"jsonrpc":"2.0","id":1,"method":"echo"}\n'),
        ):
            echoed = json.loads(data_of(await client.post("/mcp", content=sent, headers=session)))
            assert line.decode() == echoed["result"]["line"]


@within(30)
async def test_a_silent_stream_is_kept_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Comments come before the answer."""
    monkeypatch.setattr(http, "_PING", 0.05)
    async with front() as client:
        text = (await client.post("/mcp", **single("slow"))).text
        assert ": ping" in text
        assert {} == json.loads(text.rpartition("data: ")[2])["result"]


@within(30)
async def test_progress_has_the_token_of_the_client() -> None:
    """The child sees another one, since clients may choose the same."""
    async with front() as client:
        events = (await client.post("/mcp", **single("progress"))).text.split("data: ")[1:]
        assert "mine" == json.loads(events[0].partition("\r\n")[0])["params"]["progressToken"]


@within(30)
async def test_a_client_that_reads_too_slowly_is_told_that_its_stream_is_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its unread messages are bounded, and the other clients of the child get their answers."""
    monkeypatch.setattr(http, "_MAX_WAITING", 2)
    async with front(reads_in=0.02) as client:
        last = json.loads((await client.post("/mcp", **single("many"))).text.rpartition("data: ")[2])
        assert (1, "The stream was closed.") == (last["id"], last["error"]["message"])
        assert {} == (await client.post("/mcp", **single("ping"))).json()["result"]
