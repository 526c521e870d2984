"""Clients that write bytes: to the pipe of a stdio server, or to the socket of an HTTP server."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
TIMEOUT = 30.0

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": "hello",
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "raw", "version": "1"},
    },
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def call(name: str, arguments: Any, *, id: Any = 1) -> dict[str, Any]:
    """Return the request of a call."""
    return {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name, "arguments": arguments}}


def encoded(message: Any) -> bytes:
    """Return a message as JSON."""
    return json.dumps(message).encode()


BEHIND_PROXY = "proxy"
"""The door of a hostile server of stdio behind `mcpcore proxy`: the SDK's own door, with noise between the messages."""


def command_of(door: str, options: Sequence[str]) -> list[str]:
    """Return the command of the victim."""
    victim = [sys.executable, "-m", "tests.hostile.victim", "--door"]
    if door != BEHIND_PROXY:
        return [*victim, door, *options]
    front = ["--http", "127.0.0.1:0"] if "--http" in options else []
    hostile = [sys.executable, "-m", "tests.hostile.noisy", *victim, "server"]
    return [sys.executable, "-m", "mcpcore", "proxy", *front, "--", *hostile]


class Process:
    """A server in another process, with its trail and what it wrote to standard error."""

    def __init__(self, door: str, folder: Path, *options: str) -> None:
        self.is_hostile = door == BEHIND_PROXY
        self.trail = folder / "trail.jsonl"
        self.log = folder / "stderr.txt"
        environment = {**os.environ, "MCPCORE_AUDIT": str(self.trail)}
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                command_of(door, options),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=environment,
                cwd=ROOT,
            )

    @property
    def peak_kib(self) -> int:
        """The most memory that the server has had."""
        return int(Path(f"/proc/{self.process.pid}/status").read_text().partition("VmHWM:")[2].split()[0])

    @property
    def records(self) -> list[dict[str, Any]]:
        """The records of the trail."""
        return [json.loads(line) for line in self.trail.read_text().splitlines()] if self.trail.exists() else []

    def end(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        try:
            if "--http" in self.process.args:  # type: ignore[operator]
                self.process.terminate()
            self.process.wait(TIMEOUT)
        finally:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()


class Stdio(Process):
    """A stdio server, and the messages that it wrote."""

    def __init__(self, door: str, folder: Path) -> None:
        super().__init__(door, folder)
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._messages: list[dict[str, Any]] = []
        self._number = 0
        threading.Thread(target=self._read, daemon=True).start()
        self._send(encoded(INITIALIZE))
        self._answer_to("hello")
        self._send(encoded(INITIALIZED))

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)

    def _send(self, line: bytes) -> None:
        assert self.process.stdin is not None
        assert b"\n" not in line
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def _answer_to(self, id: Any) -> dict[str, Any]:
        deadline = time.monotonic() + TIMEOUT
        while not (answers := [message for message in self._messages if message.get("id") == id]):
            with contextlib.suppress(ValueError, RecursionError):  # a hostile server writes other lines, too
                message = json.loads(self._lines.get(timeout=max(0.01, deadline - time.monotonic())))
                if isinstance(message, dict) and ("result" in message or "error" in message):
                    self._messages.append(message)
        return answers[0]

    def ask(self, data: bytes, *, id: Any = 7, answered: bool = True) -> tuple[int, dict[str, Any] | None]:
        """Send bytes and make a normal call; return 200 and the answer to the bytes, or 400 without an answer."""
        if self.is_hostile:
            self.check()  # so that forged answers to the request before are read
        self._messages.clear()
        self._send(data)
        self.check()
        if answered:
            return 200, self._answer_to(id)
        return 400, next((message for message in self._messages if message.get("id") == id), None)

    def check(self) -> None:
        """Make a normal call."""
        self._number += 1
        text = f"check-{self._number}"
        self._send(encoded(call("echo", {"text": text}, id=text)))
        answer = self._answer_to(text)
        assert text == answer["result"]["structuredContent"]["result"], answer


class Http(Process):
    """An HTTP server, to whose port bytes are sent."""

    def __init__(self, door: str, folder: Path) -> None:
        super().__init__(door, folder, "--http")
        assert self.process.stdout is not None
        self.port = self._port_of_proxy() if self.is_hostile else int(self.process.stdout.readline())
        self._number = 0
        head, _ = self.exchange(self.post(encoded(INITIALIZE), session=None))
        self.session = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])[b"mcp-session-id"]
        self.exchange(self.post(encoded(INITIALIZED)))

    def _port_of_proxy(self) -> int:
        deadline = time.monotonic() + TIMEOUT
        while (match := re.search(r" at http://127\.0\.0\.1:(\d+)/mcp\b", self.log.read_text())) is None:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        return int(match[1])

    def post(self, body: bytes, *, session: Any = ..., length: int | None = None, headers: bytes = b"") -> bytes:
        """Return the bytes of a request; `length` is what it says of its body."""
        session = self.session if session is ... else session
        known = b"" if session is None else b"Mcp-Session-Id: " + session + b"\r\n"
        length = len(body) if length is None else length
        return (
            b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: application/json\r\nConnection: close\r\n"
            b"Accept: application/json, text/event-stream\r\n%s%sContent-Length: %d\r\n\r\n"
            % (self.port, known, headers, length)
        ) + body

    def connect(self) -> socket.socket:
        """Return a new connection."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=TIMEOUT)

    def exchange(self, request: bytes) -> tuple[bytes, bytes]:
        """Send bytes on a new connection; return the head and the body of the response."""
        received = b""
        with self.connect() as connection, contextlib.suppress(BrokenPipeError, ConnectionResetError):
            connection.sendall(request)
            while part := connection.recv(1 << 16):
                received += part
        head, _, body = received.partition(b"\r\n\r\n")
        return head, body

    def ask(self, data: bytes, *, id: Any = 7, answered: bool = True) -> tuple[int, dict[str, Any] | None]:
        """Send bytes as a body and make a normal call; return the status of HTTP and the answer to the bytes.

        The server hangs up on a body that is too long; then the status is 413.
        """
        head, body = self.exchange(self.post(data))
        self.check()
        status = int(head.split()[1]) if head else 413
        events = [json.loads(line[6:]) for line in body.split(b"\r\n") if line.startswith(b"data: {")]
        return status, next((event for event in events if "result" in event or "error" in event), None)

    def check(self) -> None:
        """Make a normal call."""
        self._number += 1
        text = f"check-{self._number}"
        _, body = self.exchange(self.post(encoded(call("echo", {"text": text}, id=text))))
        assert b'"structuredContent":{"result":"%s"}' % text.encode() in body, body
