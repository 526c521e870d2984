"""Fixtures for the proxy: the command in front of real servers, over real pipes and sockets."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.serving import running

SERVERS = Path(__file__).parent / "servers"
PLAIN = (sys.executable, str(SERVERS / "plain.py"))
PROXY = (sys.executable, "-m", "mcpcore", "proxy")

Connect = Callable[..., AbstractAsyncContextManager[Client]]


@pytest.fixture
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    """Keep the records of failures out of the report."""
    caplog.set_level(logging.CRITICAL)


@pytest.fixture
def through() -> Connect:
    """A client over stdio, through the proxy: `async with through(*options, mode=..., command=...) as client`."""

    @contextlib.asynccontextmanager
    async def connect(
        *options: object, mode: str = "auto", command: Sequence[str] = PLAIN, **client: Any
    ) -> AsyncIterator[Client]:
        args = [*PROXY[1:], *map(str, options), *(["--", *command] if command else [])]
        parameters = StdioServerParameters(command=PROXY[0], args=args, env=dict(os.environ))
        with open(os.devnull, "w") as nowhere:  # noqa: ASYNC230 - once
            async with Client(stdio_client(parameters, errlog=nowhere), mode=mode, **client) as connected:
                yield connected

    return connect


@pytest.fixture
def relay() -> Callable[..., tuple[bytes, bytes, int]]:
    """The output, the errors and the exit code of the proxy for lines of a client: `relay(lines, *arguments)`.

    With `in_turn`, each line waits for an answer to the one before.
    """

    def run(lines: bytes, *arguments: object, wait_for: int = 0, in_turn: bool = False) -> tuple[bytes, bytes, int]:
        with subprocess.Popen(
            [*PROXY, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            got = b""
            for part in lines.splitlines(keepends=True) if in_turn else [lines]:
                process.stdin.write(part)
                process.stdin.flush()
                if in_turn:
                    got += process.stdout.readline()
            # A client leaves after it has its answers.
            got += b"".join(process.stdout.readline() for _ in range(wait_for))
            rest, errors = process.communicate(timeout=30)
            return got + rest, errors, process.returncode

    return run


@pytest.fixture
def http_front() -> Callable[..., AbstractContextManager[str]]:
    """The proxy with `--http`; yields its URL."""

    @contextlib.contextmanager
    def serve(*arguments: object) -> Iterator[str]:
        command = [*PROXY, "--http", "127.0.0.1:0", *map(str, arguments)]
        # The proxy ends as other commands do.
        with running(command, r" at (http://\S+)", stop=signal.SIGTERM, code=-signal.SIGTERM) as match:
            yield match[1]

    return serve


@contextlib.contextmanager
def served(*command: str) -> Iterator[str]:
    """A server over HTTP; its last argument is a port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}/mcp"
    with subprocess.Popen([*command, str(port)], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
        try:
            for _ in range(200):
                try:
                    urllib.request.urlopen(url, timeout=1)
                except urllib.error.HTTPError as exc:
                    exc.close()
                    break
                except OSError:
                    time.sleep(0.05)
            yield url
        finally:
            process.terminate()


@pytest.fixture
def plain_url() -> Iterator[str]:
    """The URL of the plain server over HTTP."""
    with served(*PLAIN) as url:
        yield url


@pytest.fixture
def conformance_url() -> Iterator[str]:
    """The URL of the server for the conformance suite."""
    with served(sys.executable, str(Path(__file__).parent / "conformance" / "server.py")) as url:
        yield url


def request(method: str, ident: Any = 1, **params: Any) -> bytes:
    """Return a request as a line."""
    return json.dumps({"jsonrpc": "2.0", "id": ident, "method": method, "params": params}).encode() + b"\n"
