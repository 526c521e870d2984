"""Sessions in this process: servers that are gone, that do not answer in time, and that send garbage."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any
from unittest import mock

import anyio
import pytest
from click.testing import CliRunner

from mcpcore.boundary.script import Boundary
from mcpcore.cli.root import cli
from mcpcore.proxy import sessions
from mcpcore.proxy.answers import ResponseRewriter
from mcpcore.proxy.sessions import ChildSession, ServerEndedError, UrlSession, ending_signals
from tests.conftest import heed_signals
from tests.proxy.conftest import request
from tests.serving import answering


class Client:
    """What a session sends to its client."""

    def __init__(self) -> None:
        self.answers = ResponseRewriter(Boundary(server="s", audit=None))
        self.received: list[Any] = []

    async def take(self, raw: bytes) -> None:
        """Take a message."""
        self.received.append(json.loads(raw))

    async def has(self, count: int) -> None:
        """Wait for so many messages."""
        with anyio.fail_after(20):
            while len(self.received) < count:  # noqa: ASYNC110 - a test may wait
                await anyio.sleep(0.01)


@asynccontextmanager
async def running(kind: Any, *arguments: Any) -> AsyncIterator[tuple[Client, Any]]:
    """A client and its session, which is closed in the end."""
    client = Client()
    session = kind(client.answers, client.take, *arguments)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(session.run)
        yield client, session
        await session.close()


@pytest.mark.anyio
@pytest.mark.parametrize("command", ["no-such-command", "false"])
async def test_messages_to_a_server_that_is_gone_are_answered(command: str) -> None:
    """None waits for ever, and the session can be closed."""
    client = Client()
    session = ChildSession(client.answers, client.take, (command,))
    with pytest.raises(ServerEndedError):
        await session.run()
    await session.deliver(request("ping", 3))
    await session.close()
    assert [3] == [message["id"] for message in client.received]
    assert command in client.received[0]["error"]["message"]


@pytest.mark.anyio
async def test_a_call_that_still_waits_at_the_end_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """But not for ever: the list of tools that it waits for never comes."""
    monkeypatch.setattr(sessions, "GRACE", 0.05)
    client = Client()

    session = ChildSession(client.answers, client.take, ("cat",))
    with pytest.RaisesGroup(ServerEndedError):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.deliver, request("tools/call", 1, name="t"))
            tasks.start_soon(session.run)
            await client.has(1)
            await session.close()
    assert "tools/list" == client.received[0]["method"]


LATE = """
import json, sys
count = 0
for line in filter(str.strip, sys.stdin):
    message = json.loads(line)
    if message["method"] == "tools/list":
        count += 1
        if count == 1:
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {"tools": [{"name": "known"}]}}))
            print(json.dumps({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}), flush=True)
    else:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {"content": []}}), flush=True)
"""


@pytest.mark.anyio
async def test_a_list_of_tools_that_never_comes_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls reach the server unchecked, and what was sent after them comes after them."""
    monkeypatch.setattr(sessions, "MAX_LIST_WAIT", 0.1)
    async with running(ChildSession, (sys.executable, "-c", LATE)) as (client, session):
        await session.deliver(request("tools/call", 1, name="known"))
        await client.has(2)
        await anyio.sleep(0.2)
        await session.deliver(request("tools/call", 2, name="t"))
        await session.deliver(request("ping", 3))
        await session.deliver(request("tools/call", 4, name="t"))
        await client.has(5)
    assert [1, 2, 3, 4] == [message["id"] for message in client.received if "id" in message]


class _Garbage(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        note = b'{"jsonrpc":"2.0","method":"notifications/x"}'
        self.wfile.write(b"event: message\ndata: garbage\n\nevent: message\ndata: " + note + b"\n\n")

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        time.sleep(0.05)
        if message["method"] == "tools/list":
            self.send_response(202)
            self.end_headers()
            return
        result = "hunter2" if message.get("params", {}).get("name") == "odd" else {"ok": 1}
        answer = json.dumps({"jsonrpc": "2.0", "id": message.get("id"), "result": result}).encode()
        self.send_response(200 if "id" in message else 202)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.send_header("mcp-session-id", "s")
        self.end_headers()
        self.wfile.write(answer)

    def do_DELETE(self) -> None:
        self.send_response(204)
        self.end_headers()


@pytest.fixture
def garbage() -> Iterator[str]:
    """The URL of a server that sends garbage in the stream of its notifications."""
    with answering(_Garbage) as address:
        yield f"{address}/mcp"


@pytest.mark.anyio
async def test_garbage_of_a_url_is_logged(garbage: str, caplog: pytest.LogCaptureFixture) -> None:
    """What comes after it arrives, also the answers that are open when the client ends."""
    async with running(UrlSession, garbage) as (client, session):
        await session.deliver(request("initialize", 1, protocolVersion="2025-06-18", capabilities={}))
        await client.has(1)
        await session.deliver(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        await client.has(2)
        await session.deliver(request("ping", 3))
    assert [1, 3] == [message["id"] for message in client.received if "result" in message]
    assert f"a message of {garbage} cannot be read" in caplog.text


@pytest.mark.anyio
async def test_a_list_of_a_url_that_never_comes_is_not_waited_for(
    garbage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same as for a command."""
    monkeypatch.setattr(sessions, "MAX_LIST_WAIT", 0.1)
    async with running(UrlSession, garbage) as (client, session):
        await session.deliver(request("tools/call", 1, name="t"))
        await client.has(1)
    assert 1 == client.received[0]["id"]


@pytest.mark.anyio
async def test_an_answer_of_a_url_that_cannot_be_read_is_a_failure(
    garbage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The SDK makes an error of it that quotes the answer; the client gets a failure that does not."""
    monkeypatch.setattr(sessions, "MAX_LIST_WAIT", 0.1)
    async with running(UrlSession, garbage) as (client, session):
        await session.deliver(request("tools/call", 1, name="odd"))
        await client.has(1)
    assert client.received[0]["result"]["isError"] is True
    assert "hunter2" not in json.dumps(client.received)
    assert {("odd", "INTERNAL_ERROR"): 1} == dict(client.answers.statistics.failures)


@pytest.mark.skipif(sys.platform == "win32", reason="SIGHUP")
def test_nohup_is_respected() -> None:
    """A signal that is ignored from the start stays so."""
    assert signal.SIGHUP in ending_signals()
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert [signal.SIGINT, signal.SIGTERM] == ending_signals()
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.skipif(sys.platform == "win32", reason="SIGHUP")
@pytest.mark.parametrize("name", ["HUP", "INT"])
def test_the_tests_hold_under_nohup_and_in_a_background_job(name: str) -> None:
    """A process that a test starts is ended by a signal that pytest itself was started to ignore."""
    number = signal.Signals[f"SIG{name}"]
    before = signal.signal(number, signal.SIG_IGN)
    try:
        heed_signals()
        signal.raise_signal(number)
        assert -number == subprocess.run(["sh", "-c", f"kill -{name} $$"], check=False).returncode
    finally:
        signal.signal(number, before)


def test_an_interruption_before_the_proxy_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gives the same exit code as later."""

    monkeypatch.setattr("mcpcore.cli.proxy._serve", mock.Mock(side_effect=KeyboardInterrupt))
    assert 130 == CliRunner().invoke(cli, ["proxy", "--", "cat"]).exit_code
