"""Whom a server answers over HTTP: each kind of server on real sockets, and requests as their bytes."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from click.testing import CliRunner

from mcpcore.cli.root import cli
from mcpcore.sdk import http
from mcpcore.sdk.http import ANY_HOST, Hosts

SERVERS = {
    "server": "from mcpcore import Server\nserver = Server('s')\n",
    "fastmcp": "from fastmcp import FastMCP\nserver = FastMCP('s')\n",
    "sdk": "from mcp.server import MCPServer\nserver = MCPServer('s')\n",
    "proxy": "",
}


@contextlib.contextmanager
def serving(
    kind: str,
    folder: Path,
    *options: str,
    allowed: str = "",
    modules: Path | None = None,
    command: Sequence[str] = ("cat",),
) -> Iterator[tuple[str, str]]:
    """A server of a kind while it serves; yields its URL and all that was printed until then."""
    (folder / "server.py").write_text(SERVERS[kind])
    what = ["proxy", *options, "--", *command] if kind == "proxy" else ["run", str(folder / "server.py"), *options]
    environment = {**os.environ, "MCPCORE_ALLOW_HOST": allowed}
    if modules is not None:
        environment["PYTHONPATH"] = str(modules)
    with subprocess.Popen(
        [sys.executable, "-m", "mcpcore", *what], stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            assert process.stderr is not None
            printed = ""
            for line in process.stderr:
                printed += line
                if match := re.search(r"Serving .* at (http://\S+)", line):
                    break
            else:
                pytest.fail(printed)
            yield match[1], printed
        finally:
            process.kill()


def status(url: str, *headers: str, target: str | None = None, version: str = "1.1") -> int:
    """The status of the answer to a request that has these headers and no others; 0 for none."""
    place = urlsplit(url)
    lines = [f"DELETE {target or place.path} HTTP/{version}", *headers, "Connection: close", "", ""]
    with socket.create_connection((place.hostname, place.port), timeout=30) as client:
        client.sendall("\r\n".join(lines).encode())
        answer = client.makefile("rb").readline().split()
    return int(answer[1]) if answer else 0


LOOPBACK = (
    "localhost",
    "LOCALHOST",
    "localhost.",
    "127.0.0.1",
    "127.8.9.1",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[::ffff:127.0.0.1]",
)
STRANGE = (
    "evil.example", "localhost.evil.example", "evil.localhost", "127.0.0.1.evil.example", "evil@localhost", "localhost@evil",
    "localhost..", ".localhost", "localhost/", "localhost#", "localhost, evil.example", "localhost evil", "[::1%25lo]",
    "[::1%lo]", "::1", "[::1", "0.0.0.0", "[::]", "10.0.0.1", "127.2", "0x7f.0.0.1", "2130706433", "", ":80",
    "localhost:80:80", "localhost:x", "localhost:123456", "l\u00f6calhost", "*",
)  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "bound"),
    [
        ("server", "LOCALHOST"),
        ("fastmcp", "127.0.0.2"),
        ("sdk", "127.1"),
        ("proxy", "127.0.0.2"),
        ("fastmcp", "0.0.0.0"),
    ],
)
def test_only_names_of_this_machine_are_answered(kind: str, bound: str, tmp_path: Path) -> None:
    """Whatever the address is called, and whatever serves; a status of 400 says that the request got through."""
    with serving(kind, tmp_path, "--http", f"{bound}:0") as (url, printed):
        assert ("--allow-host NAME" in printed) == (bound == "0.0.0.0")
        port = urlsplit(url).port
        assert 400 == status(url, f"Host: {urlsplit(url).netloc}"), "the URL works as it is printed"
        for name in LOOPBACK:
            assert [400, 400] == [status(url, f"Host: {name}"), status(url, f"hOsT:{name}:{port}")], name
            assert 400 == status(url, "Host: localhost", f"Origin: http://{name}:5173"), name
        for name in STRANGE:
            assert [421, 421] == [status(url, f"Host: {name}"), status(url, f"Host: {name}:{port}")], name
            assert 403 == status(url, "Host: localhost", f"Origin: http://{name}"), name
        for origin in (
            "null",
            "file://",
            "localhost",
            "//localhost",
            "ftp://localhost",
            "http://",
            "http://localhost/x",
        ):
            assert 403 == status(url, "Host: localhost", f"Origin: {origin}"), origin
        assert 403 == status(url, "Host: localhost", "Origin: http://localhost", "Origin: http://evil.example")
        assert 421 == status(url, "Host: evil.example", "X-Forwarded-Host: localhost", "Forwarded: host=localhost")
        assert 421 == status(url, version="1.0"), "no Host"
        assert 400 == status(url, "Host: localhost", "Content-Length: 0", "Transfer-Encoding: chunked"), "two lengths"
        assert 400 == status(url, "Host: localhost", "Host: evil.example"), "two of them"
        assert status(url, "Host: localhost", target="http://evil.example/mcp") == 404
        assert 421 == status(url, "Host: evil.example", target="http://localhost/mcp")
        assert 421 == status(
            url, "Host: evil.example", "Connection: upgrade", "Upgrade: websocket", "Sec-WebSocket-Key: x"
        )


@pytest.mark.parametrize("kind", ["server", "fastmcp", "proxy"])
def test_an_operator_allows_more(kind: str, tmp_path: Path) -> None:
    """With the option or with the variable; a name is allowed as a host and as the site of a page."""
    options = ("--http", "127.0.0.1:0", "--allow-host", "Tools.Example.com:8443")
    with serving(kind, tmp_path, *options) as (url, _):
        assert 400 == status(url, "Host: tools.example.com.", "Origin: https://tools.example.com")
        assert 421 == status(url, "Host: sub.tools.example.com")
    with serving(kind, tmp_path, "--http", "0.0.0.0:0", allowed="a.example 10.0.0.1 fd00::1") as (url, printed):
        assert "allow" not in printed
        assert [400] * 4 == [
            status(url, f"Host: {name}:80") for name in ("a.example", "10.0.0.1", "[FD00::1]", "localhost")
        ]
        assert 421 == status(url, "Host: b.example")


def test_any_host_still_means_no_other_site(tmp_path: Path) -> None:
    """A page may call the server that it came from, and one on this machine may."""
    with serving("server", tmp_path, "--http", "127.0.0.1:0", allowed="*") as (url, _):
        assert 400 == status(url, "Host: any.example", "Origin: https://any.example")
        assert 400 == status(url, "Host: any.example", "Origin: http://localhost:6274")
        assert 403 == status(url, "Host: any.example", "Origin: https://evil.example")
        assert 421 == status(url, "Host: any example")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "s.py", "--http", "127.0.0.1:0", "--allow-host", "https://a.example"), "is not the name of a host"),
        (("proxy", "--http", "127.0.0.1:0", "--allow-host", "a b", "--", "cat"), "is not the name of a host"),
        (("run", "s.py", "--allow-host", "a.example"), "--allow-host needs --http"),
        (("proxy", "--allow-host", "a.example", "--", "cat"), "--allow-host needs --http"),
    ],
)
def test_hosts_that_are_none_are_told(
    arguments: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is served."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.py").write_text(SERVERS["server"])
    done = CliRunner().invoke(cli, arguments)
    assert 2 == done.exit_code
    assert message in done.stderr


@pytest.mark.parametrize("kind", ["server", "fastmcp", "proxy"])
def test_a_client_that_is_slow_is_cut_off(kind: str, tmp_path: Path) -> None:
    """While it sends nothing, its headers or its body, and after an answer; others are answered meanwhile."""
    (tmp_path / "sitecustomize.py").write_text(
        "from mcpcore.sdk import http\nhttp.MAX_HEADER_SECONDS, http.MAX_BODY_SECONDS = 1.0, 1.0\n"
    )
    head = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n"
    parts = [
        b"",
        b"POST /mcp HTTP/1.1\r\nHost:",
        head + b"\r\n{",
        b"DELETE /mcp HTTP/1.1\r\nHost: localhost\r\n\r\nDEL",
    ]
    with serving(kind, tmp_path, "--http", "127.0.0.1:0", modules=tmp_path) as (url, _):
        port = urlsplit(url).port
        with contextlib.ExitStack() as stack:
            clients = [stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30)) for _ in parts]
            for client, part in zip(clients, parts, strict=True):
                client.sendall(part)
            assert 400 == status(url, "Host: localhost")
            # A byte now and then makes nobody patient.
            answers = [
                _until_closed(client, b"" if part == b"" else b"x") for client, part in zip(clients, parts, strict=True)
            ]
        assert [b"", b""] == answers[:2]
        assert b"HTTP/1.1 408" == answers[2][:12]
        assert b"HTTP/1.1 400" == answers[3][:12]
        assert 400 == status(url, "Host: localhost")


def _until_closed(client: socket.socket, drip: bytes) -> bytes:
    """What a client gets until the server closes the connection; it sends `drip` all the time."""
    client.settimeout(0.1)
    received = b""
    for _ in range(300):
        try:
            with contextlib.suppress(TimeoutError):
                part = client.recv(65536)
                if not part:
                    return received
                received += part
            client.sendall(drip)
        except (ConnectionError, BrokenPipeError):
            return received
    pytest.fail("the connection stays open")


@pytest.mark.parametrize("kind", ["server", "fastmcp", "proxy"])
def test_a_client_that_comes_back_gets_its_stream(kind: str, tmp_path: Path) -> None:
    """A client that comes back names the last event that it has; there is a stream, if without the events between."""
    upstream = tmp_path / "upstream.py"
    upstream.write_text("from mcpcore import Server\nServer('s').run()\n")
    command = (sys.executable, str(upstream)) if kind == "proxy" else ()
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
    with serving(kind, tmp_path, "--http", "127.0.0.1:0", command=command) as (url, _):
        accept = {"accept": "application/json, text/event-stream"}
        initialize = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
        opened = httpx2.post(url, json=initialize, headers=accept, timeout=30)
        session = {"mcp-session-id": opened.headers["mcp-session-id"], "last-event-id": "7"}
        for _ in range(3):
            with httpx2.stream("GET", url, headers={**accept, **session}, timeout=30) as stream:
                assert (200, "text/event-stream") == (stream.status_code, stream.headers["content-type"].split(";")[0])


@pytest.mark.parametrize(
    ("allowed", "headers", "expected"),
    [
        ((), {"host": "localhost:80"}, None),
        ((), {"host": "127.0.0.2"}, None),
        ((), {"host": "evil.example"}, 421),
        ((), {"host": "not a host"}, 421),
        ((), {"host": "localhost", "origin": "https://evil.example"}, 403),
        ((), {"host": "localhost", "content-length": "1", "transfer-encoding": "chunked"}, 400),
        (("tools.example.com",), {"host": "tools.example.com"}, None),
        ((ANY_HOST,), {"host": "anything.example"}, None),
        ((ANY_HOST,), {"host": "anything.example", "origin": "https://anything.example"}, None),
        ((ANY_HOST,), {"host": "anything.example", "origin": "https://other.example"}, 403),
        ((ANY_HOST,), {"host": "anything.example", "origin": "http://localhost"}, None),
    ],
)
def test_what_a_request_may_name(allowed: tuple[str, ...], headers: dict[str, str], expected: int | None) -> None:
    """By the address that was bound and by what the operator allows."""
    with socket.create_server(("127.0.0.1", 0)) as bound:
        hosts = Hosts(bound, "127.0.0.1", allowed)
        refusal = hosts.refusal((name.encode(), value.encode()) for name, value in headers.items())
        assert expected == (None if refusal is None else refusal[0])
        with pytest.raises(ValueError, match="is not the name of a host"):
            Hosts(bound, "127.0.0.1", ["not a host"])


@pytest.mark.skipif(sys.platform == "win32", reason="a limit of POSIX")
def test_more_connections_than_descriptors_do_not_end_the_server(tmp_path: Path) -> None:
    """A log handler of the SDK reads files for a traceback, which fails then, too; later clients are answered."""
    (tmp_path / "sitecustomize.py").write_text(
        "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))\n"
    )
    with serving("server", tmp_path, "--http", "127.0.0.1:0", modules=tmp_path) as (url, _):
        with contextlib.ExitStack() as stack:
            for _ in range(100):
                stack.enter_context(socket.create_connection(("127.0.0.1", urlsplit(url).port), timeout=30))
            time.sleep(1)
        assert 400 == status(url, "Host: localhost")


def test_a_connection_that_cannot_be_accepted_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    """asyncio tries up to 2,048 times a second; other errors of the loop are logged as ever."""
    refused = {"message": "m", "exception": OSError(errno.EMFILE, "none"), "socket": None}
    server = http.web_server(lambda *_: None, level="critical", grace=1, lifespan="off")  # type: ignore[arg-type]

    async def test() -> None:
        with socket.create_server(("127.0.0.1", 0)) as bound:
            serves = asyncio.ensure_future(server.serve([bound]))
            await asyncio.sleep(1)
            for context in (refused, refused, {"message": "a task failed"}):
                asyncio.get_running_loop().call_exception_handler(context)
            server.should_exit = True
            await serves

    asyncio.run(test())
    assert ["connections are not accepted: none", "a task failed"] == [record.message for record in caplog.records]


def test_a_client_that_leaves_before_its_body_is_complete_ends_its_request() -> None:
    """The SDK would log a traceback for each, so that anybody could fill the log."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        pytest.fail("the application goes on")

    async def receive() -> Any:
        return {"type": "http.disconnect"}

    with socket.create_server(("127.0.0.1", 0)) as bound:
        front = http.Front(app, Hosts(bound, "127.0.0.1", ()))
        asyncio.run(front({"type": "http", "headers": [(b"host", b"localhost")]}, receive, app))  # type: ignore[arg-type]


def test_a_client_that_reads_nothing_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that reads slowly gets the whole answer."""
    monkeypatch.setattr(http, "MAX_UNREAD_SECONDS", 0.4)
    size = 30_000_000

    async def app(scope: Any, receive: Any, send: Any) -> None:
        start = {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % size)]}
        await send(start)
        await send({"type": "http.response.body", "body": b"x" * size})

    server = http.web_server(app, level="critical", grace=1, lifespan="off")
    with socket.create_server(("127.0.0.1", 0)) as bound:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
        thread.start()
        try:
            read = {}
            for pause in (0.0, 0.1, 2.5):
                with socket.create_connection(bound.getsockname(), timeout=20) as client:
                    client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
                    read[pause] = _read_in_pieces(client, pause)
        finally:
            server.should_exit = True
            thread.join()
    assert read[0.0] > size
    assert read[0.1] > size
    assert read[2.5] < size


def _read_in_pieces(client: socket.socket, pause: float) -> int:
    """The bytes that a client gets that waits before it reads, and after the first pieces."""
    time.sleep(pause)
    count, pieces = 0, 0
    with contextlib.suppress(ConnectionResetError):
        while piece := client.recv(4_000_000):
            count += len(piece)
            pieces += 1
            if pieces < 5:
                time.sleep(min(pause, 0.3))
            if count > 30_000_000:
                break
    return count
