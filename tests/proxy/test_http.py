"""The front over HTTP: statuses, sessions, streams and cancellations, as raw requests see them."""

from __future__ import annotations

import contextlib
import json
import socket
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.proxy.conftest import PLAIN, SERVERS
from tests.serving import answering

ACCEPT = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
MODERN = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "c", "version": "1"},
}


def modern(url: str, method: str, *, ident: Any = 1, headers: Any = None, **params: Any) -> httpx2.Response:
    """Send one request of the protocol since 2026-07-28."""
    sent = {**ACCEPT, "mcp-protocol-version": MODERN, "mcp-method": method}
    if isinstance(name := params.get("name"), str):
        sent["mcp-name"] = name
    body = {"jsonrpc": "2.0", "id": ident, "method": method, "params": {"_meta": META, **params}}
    return httpx2.post(url, json=body, headers={**sent, **(headers or {})}, timeout=20)


def test_requests_that_stand_for_themselves(http_front: Any) -> None:
    """The child front answers with the statuses of the specification."""
    with http_front("--", *PLAIN) as url:
        called = modern(url, "tools/call", ident="x", name="add", arguments={"a": 1, "b": 2})
        assert (200, "x") == (called.status_code, called.json()["id"])
        assert {"value": 3} == called.json()["result"]["structuredContent"]
        assert 404 == modern(url, "initialize").status_code
        assert 404 == modern(url, "no/such").status_code
        assert 400 == modern(url, "tools/list", headers={"mcp-method": "tools/call"}).status_code
        version = {"mcp-protocol-version": MODERN}
        assert 405 == httpx2.get(url, headers={**ACCEPT, **version}).status_code
        assert 400 == httpx2.post(url, content=b"{", headers={**ACCEPT, **version}).status_code
        assert (
            202
            == httpx2.post(url, content=b'{"jsonrpc":"2.0","method":"x"}', headers={**ACCEPT, **version}).status_code
        )
        assert (
            400 == httpx2.post(url, content=b'{"jsonrpc":"2.0","id":true}', headers={**ACCEPT, **version}).status_code
        )
        progress = modern(url, "tools/call", name="progress", arguments={}, _meta={**META, "progressToken": "mine"})
        events = [json.loads(line[6:]) for line in progress.text.splitlines() if line.startswith("data: ")]
        assert ["mine"] == [event["params"]["progressToken"] for event in events if "method" in event]
        assert 1 == events[-1]["id"]
        ended = modern(url, "tools/call", name="end", arguments={}).json()["result"]
        assert "server_ended" == ended["structuredContent"]["error"]["data"]["reason"]
        modern(url, "tools/call", name="end", arguments={})
        time.sleep(0.5)
        again = modern(url, "tools/call", name="add", arguments={"a": 1, "b": 2})
        assert {"value": 3} == again.json()["result"]["structuredContent"], "a new child answers new requests"


def test_other_hosts_paths_and_sessions(http_front: Any) -> None:
    """A name that resolves to this host, another path, and an unknown session are refused."""
    with http_front("--", *PLAIN) as url:
        assert 421 == httpx2.post(url, headers={**ACCEPT, "host": "evil.example"}, json={}).status_code
        assert 403 == httpx2.post(url, headers={**ACCEPT, "origin": "http://evil.example"}, json={}).status_code
        assert 404 == httpx2.post(url + "x", headers=ACCEPT, json={}).status_code
        assert 404 == httpx2.post(url, headers={**ACCEPT, "mcp-session-id": "nope"}, json={}).status_code
        refused = httpx2.post(url, headers=ACCEPT, json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        assert 400 == refused.status_code


def test_a_client_that_leaves_cancels_its_request(http_front: Any, tmp_path: Path) -> None:
    """The server hears of a client that has closed its stream."""
    answers, seen = tmp_path / "answers", tmp_path / "seen"
    answers.write_bytes(b"*")
    with http_front("--", sys.executable, SERVERS / "scripted.py", answers, seen) as url:
        headers = {**ACCEPT, "mcp-protocol-version": MODERN, "mcp-method": "ping"}
        body = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"_meta": META}}
        with pytest.raises(httpx2.ReadTimeout):
            httpx2.post(url, json=body, headers=headers, timeout=1)
        deadline = time.monotonic() + 5
        while b"cancelled" not in seen.read_bytes() and time.monotonic() < deadline:
            time.sleep(0.05)
        sent, cancelled = map(json.loads, seen.read_bytes().splitlines())
        assert "notifications/cancelled" == cancelled["method"]
        assert sent["id"] == cancelled["params"]["requestId"]


class _Upstream(BaseHTTPRequestHandler):
    """A server over HTTP with its own statuses, headers and streams."""

    seen: list[tuple[str, dict[str, str]]]

    def _respond(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        self._respond(200, b": hello\n\nid: 7\nevent: message\ndata: {\ndata: }\n\n", content_type="text/event-stream")

    def do_DELETE(self) -> None:
        self._respond(204, b"")

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.seen.append((message["method"], {name.lower(): value for name, value in self.headers.items()}))
        if "authorization" not in {name.lower() for name in self.headers}:
            self._respond(401, b"who?", www_authenticate='Bearer resource_metadata="x"', content_type="text/plain")
        elif message.get("params", {}).get("name") == "refused":
            error = {"code": -32603, "message": "postgres://u:hunter2@db is down\nTraceback (most recent call last):"}
            answer = json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode()
            self._respond(500, answer, content_type="application/json")
        elif message["method"] == "tools/list":
            more = {} if message.get("params", {}).get("cursor") else {"nextCursor": "2"}
            tools = [{"name": "t2" if not more else "t1", "inputSchema": {"type": "object", "required": ["a"]}}]
            result = {"jsonrpc": "2.0", "id": message["id"], "result": {"tools": tools, **more}}
            self._respond(200, json.dumps(result).encode(), content_type="application/json")
        else:
            failed = {"isError": True, "content": [{"type": "text", "text": "HTTP 404 Not Found"}]}
            result = {"jsonrpc": "2.0", "id": message["id"], "result": failed}
            event = f"id: 9\r\nevent: message\r\ndata: {json.dumps(result)}\r\n\r\n".encode()
            self._respond(200, b'data: {"jsonrpc":"2.0","method":"x"}\n\n' + event, content_type="text/event-stream")


@pytest.fixture
def upstream() -> Iterator[str]:
    """The URL of a server over HTTP."""
    _Upstream.seen = []
    with answering(_Upstream) as address:
        yield f"{address}/mcp"


def test_statuses_headers_and_streams_stay(http_front: Any, upstream: str) -> None:
    """Requests to authenticate, event ids, comments and statuses are the server's; only the failure is changed."""
    call = {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "t2", "arguments": {"a": 1}}}
    with http_front("--url", upstream) as url:
        refused = httpx2.post(url, json=call, headers=ACCEPT)
        assert (401, "who?") == (refused.status_code, refused.text)
        assert 'Bearer resource_metadata="x"' == refused.headers["www-authenticate"]
        allowed = {**ACCEPT, "authorization": "Bearer k", "mcp-session-id": "s", "x-own": "y"}
        answered = httpx2.post(url, json=call, headers=allowed)
        note, failure = answered.text.replace("\r\n", "\n").strip().split("\n\n")
        assert 'data: {"jsonrpc":"2.0","method":"x"}' == note
        ident, event, data = failure.split("\n")
        assert ("id: 9", "event: message") == (ident, event)
        assert "NOT_FOUND" == json.loads(data[6:])["result"]["structuredContent"]["error"]["name"]
        methods = [method for method, _ in _Upstream.seen]
        assert ["tools/list", "tools/call", "tools/list", "tools/list", "tools/call"] == methods
        assert "y" == _Upstream.seen[-1][1]["x-own"]
        bad = httpx2.post(url, json={**call, "params": {"name": "t1", "arguments": {}}}, headers=allowed)
        assert "invalid_arguments" == bad.json()["result"]["structuredContent"]["error"]["data"]["reason"]
        assert methods == [method for method, _ in _Upstream.seen], "the server is not called"
        early = httpx2.post(url, json={**call, "params": {"name": "refused", "arguments": {}}}, headers=allowed)
        assert (200, 5) == (early.status_code, early.json()["id"])
        assert "hunter2" not in early.text
        assert early.json()["result"]["structuredContent"]["error"]["correlationId"]
        assert ": hello\n\nid: 7\nevent: message\ndata: {\ndata: }\n\n" == httpx2.get(url, headers=allowed).text
        assert 204 == httpx2.delete(url, headers=allowed).status_code


def test_a_client_that_leaves_ends_its_stream(http_front: Any) -> None:
    """Else each client would keep a connection to the server, without an end."""
    gone = threading.Event()

    class Upstream(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            with contextlib.suppress(OSError):
                while True:
                    self.wfile.write(b": ping\n\n")
                    time.sleep(0.02)
            gone.set()

    with answering(Upstream) as address, http_front("--url", f"{address}/mcp") as url:
        with httpx2.stream("GET", url, headers=ACCEPT) as stream:
            assert b": ping\n\n" == next(stream.iter_bytes())
        assert gone.wait(5)
        port = int(url.split(":")[2].split("/")[0])
        with socket.create_connection(("127.0.0.1", port)) as half:
            half.sendall(b"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:%d\r\n" % port)
            half.sendall(b"content-type: application/json\r\ncontent-length: 99\r\n\r\n{")
        assert 501 == httpx2.post(url, headers=ACCEPT, json={}).status_code, "it goes on"


def test_a_server_that_cannot_be_reached(http_front: Any) -> None:
    """A call is answered with a failure, and anything else with 502."""
    call = {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "t"}}
    with http_front("--url", "http://127.0.0.1:9/mcp") as url:
        answered = httpx2.post(url, json=call, headers=ACCEPT)
        assert "server_ended" == answered.json()["result"]["structuredContent"]["error"]["data"]["reason"]
        assert 502 == httpx2.get(url, headers=ACCEPT).status_code


SHARED = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    meta = {"io.modelcontextprotocol/subscriptionId": request["id"]}
    print("junk")
    for message in (
        {"jsonrpc": "2.0", "id": "unasked", "result": {}},
        {"jsonrpc": "2.0", "id": [1], "result": {}},
        {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": "other"}},
        {"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "log"}},
        {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"_meta": meta}},
        {"jsonrpc": "2.0", "id": request["id"], "result": {"resultType": "complete"}},
    ):
        print(json.dumps(message), flush=True)
"""


def test_notifications_find_the_request_that_they_belong_to(http_front: Any) -> None:
    """Ids are the client's again; a log line goes to the request that runs, and anything unasked is dropped."""
    with http_front("--", sys.executable, "-c", SHARED) as url:
        answered = modern(url, "subscriptions/listen", ident=4)
        events = [json.loads(line[6:]) for line in answered.text.splitlines() if line.startswith("data: ")]
        assert ["log", None, None] == [event.get("params", {}).get("data") for event in events]
        assert 4 == events[1]["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"]
        assert 4 == events[2]["id"]
        doubled = [("mcp-method", "ping"), ("mcp-method", "ping"), ("mcp-protocol-version", MODERN), *ACCEPT.items()]
        body = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"_meta": META}}
        assert 400 == httpx2.post(url, json=body, headers=doubled).status_code


def test_a_shared_child_that_cannot_stay(http_front: Any) -> None:
    """Its requests are answered, however often it ends."""
    with http_front("--", sys.executable, "-c", "pass") as url:
        for _ in range(3):
            answered = modern(url, "tools/call", name="t", arguments={}).json()
            assert answered.get("error") or answered["result"]["isError"]


@pytest.mark.anyio
async def test_events_are_split_as_they_arrive() -> None:
    """Any line end, any chunk, and an end without a blank line."""

    from mcpcore.proxy.forward import data_of, events_of, with_data

    async def chunks() -> Any:
        for chunk in (b"data: a\n", b"\nid: 1\r\ndata:b\r", b"\n\r\n", b": c\r\rdata: d"):
            yield chunk

    events = [event async for event in events_of(chunks())]
    assert [b"a", b"b", b"", b"d"] == [data_of(event) for event in events]
    assert b"id: 1\r\ndata: new\r\n\r\n" == with_data(events[1], b"new")
