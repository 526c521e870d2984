"""Clients that vanish: in the middle of a request, before the answer, or while the answer is being written."""

from __future__ import annotations

import itertools
import socket
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mcpcore.audit.verification import verify
from tests.doors import DOORS
from tests.hostile.raw import BEHIND_PROXY, Http, Stdio, call, encoded


def wait_until(holds: Callable[[], Any]) -> None:
    """Wait at most 20 seconds."""
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


UNFINISHED = b'{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "par'
WAITING = encoded(call("wait", {})) + b"\n"


@pytest.mark.parametrize(
    ("victim", "last"),
    [("server", UNFINISHED), ("fastmcp", WAITING), (BEHIND_PROXY, UNFINISHED), (BEHIND_PROXY, WAITING)],
)
def test_a_stdio_server_ends_with_its_client(victim: str, tmp_path: Path, last: bytes) -> None:
    """In the middle of a line, and while a handler waits; neither is a failure."""
    server = Stdio(victim, tmp_path)
    assert server.process.stdin is not None
    server.process.stdin.write(last)
    began = time.monotonic()
    server.end()
    assert 0 == server.process.returncode
    assert time.monotonic() - began < 15
    assert "Traceback" not in server.log.read_text()
    # Behind the proxy, the server itself answers the open call at the end of its input.
    assert [] == [record for record in server.records if record["message"] != "Connection closed"]


def reset(connection: socket.socket) -> None:
    """Close a connection without a word."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def keep_nobody_waiting(server: Http) -> None:
    """Let clients read nothing of their answers: these are held for them, and others get theirs."""
    connections = [server.connect() for _ in range(20)]
    for connection in connections:
        connection.sendall(server.post(encoded(call("echo", {"text": "x" * 1_000_000}))))
    began = time.monotonic()
    server.check()
    assert time.monotonic() - began < 10
    for connection in connections:
        reset(connection)


@pytest.mark.parametrize("victim", [*DOORS, BEHIND_PROXY])
def test_an_http_server_survives_clients_that_vanish(victim: str, tmp_path: Path) -> None:
    """Failures that nobody waits for are recorded all the same, and nothing is left open."""
    server = Http(victim, tmp_path)
    files = Path(f"/proc/{server.process.pid}/fd")
    try:
        server.check()
        before = len(list(files.iterdir()))
        failing = encoded(call("fetch", {"key": "x" * 1000}, id="ID00"))
        numbers = itertools.count()
        requests = {
            b"POST /mcp HTTP/1.1\r\nHost:": 10,
            server.post(failing)[:-100]: 10,
            server.post(failing, length=10**15): 10,
            server.post(encoded(call("wait", {}, id="ID00"))): 10,
            server.post(encoded(call("slow", {}, id="ID00"))): 1,
            server.post(failing): 20,
        }
        for request, count in requests.items():
            for _ in range(count):
                connection = server.connect()
                connection.sendall(request.replace(b"ID00", b"ID%02d" % next(numbers)))
                if request.endswith(failing) and b"Content-Length: %d\r\n" % len(failing) in request:
                    connection.recv(1)  # the answer has begun
                reset(connection)
        server.check()
        wait_until(lambda: 20 == len([record for record in server.records if record.get("reason") == "no_match"]))
        # The session lives on without the connection, and so does its call.
        wait_until(lambda: server.is_hostile or "call_timeout" in {record.get("reason") for record in server.records})
        wait_until(lambda: len(list(files.iterdir())) <= before + 2)
        keep_nobody_waiting(server)
        server.check()
    finally:
        server.end()
    assert verify(server.trail).ok
    assert "failed unexpectedly" not in server.log.read_text()
