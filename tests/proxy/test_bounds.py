"""Messages that are too long, connections that break, and streams that end early."""

from __future__ import annotations

import json
import os
from typing import Any

import anyio
import httpx2
import pytest
from starlette.requests import Request

from mcpcore import Envelope, Retry
from mcpcore.boundary.script import Boundary
from mcpcore.proxy import child, forward
from mcpcore.proxy.answers import ResponseRewriter
from mcpcore.proxy.child import Input, LineTooLongError, Output, lines_of
from mcpcore.proxy.forward import Forward
from mcpcore.proxy.learning import Learner, Statistics
from mcpcore.proxy.overlay import Facts, Overlay
from tests.proxy.test_http import ACCEPT

CALL = {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "t"}}
LISTED = b'data: {"jsonrpc":"2.0","method":"notifications/x"}\n\n'
JSON = {"content-type": "application/json"}
STREAM = {"content-type": "text/event-stream"}


class Breaking(httpx2.AsyncByteStream):
    """A body that breaks after some bytes."""

    def __init__(self, start: bytes) -> None:
        self.start = start

    async def __aiter__(self) -> Any:
        yield self.start
        raise httpx2.ReadError("gone")


def fronted(answer: Any) -> tuple[Forward, httpx2.AsyncClient]:
    """Return the front of a server that answers by a function, and a client of the front."""
    front = Forward("http://server/mcp", ResponseRewriter(Boundary(server="s", audit=None)))
    front._client = httpx2.AsyncClient(transport=httpx2.MockTransport(answer))

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await front.handle(Request(scope, receive), send)

    return front, httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://proxy")


def forwarded(message: Any, *answers: httpx2.Response, **headers: str) -> str:
    """Return the body of what a client gets, whose requests a server answers with `answers` in turn."""
    left = list(answers)

    async def run() -> str:
        async with fronted(lambda _: left.pop(0))[1] as client:
            return (await client.post("/mcp", json=message, headers={**ACCEPT, **headers})).text

    return anyio.run(run)


def no_list() -> httpx2.Response:
    """Return the answer of a server without a list of tools."""
    return httpx2.Response(404, text="no")


def test_a_stream_that_breaks_is_answered() -> None:
    """Unless the client knows the id of an event, after which it may ask for the others."""
    text = forwarded(CALL, no_list(), httpx2.Response(200, headers=STREAM, stream=Breaking(LISTED)))
    assert "server_ended" in text
    text = forwarded(CALL, no_list(), httpx2.Response(200, headers=STREAM, stream=Breaking(b"id: 1\n" + LISTED)))
    assert "server_ended" not in text


@pytest.mark.parametrize("kind", [
    "Application/JSON", " application/json", "application/json;charset=utf-8", "application/problem+json", None,
    "Text/Event-Stream", "TEXT/EVENT-STREAM;charset=UTF-8", " text/event-stream ;x",
])  # fmt: skip
def test_a_failure_is_converted_whatever_type_is_named(kind: str | None) -> None:
    """Types have no case, and clients differ in those that they read."""
    failed = {"isError": True, "content": [{"type": "text", "text": "KeyError: 'hunter22'"}]}
    body = json.dumps({"jsonrpc": "2.0", "id": CALL["id"], "result": failed}).encode()
    if kind is not None and "stream" in kind.lower():
        body = b"event: message\ndata: %b\n\n" % body
    headers = {} if kind is None else {"content-type": kind}

    text = forwarded(CALL, no_list(), httpx2.Response(200, headers=headers, content=body))

    assert "INTERNAL_ERROR" in text
    assert "hunter22" not in text


@pytest.mark.anyio
async def test_a_late_answer_over_http_is_an_error() -> None:
    """A client that has cancelled the call gets no failure that it does not wait for, and HTTP needs an answer."""
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}}
    failed = {"jsonrpc": "2.0", "id": 5, "result": {"isError": True, "content": [{"type": "text", "text": "no"}]}}

    def answer(sent: httpx2.Request) -> httpx2.Response:
        message = json.loads(sent.content)
        if message["method"] == "tools/list":
            listed = {"jsonrpc": "2.0", "id": message["id"], "result": {"tools": []}}
            return httpx2.Response(200, headers=STREAM, content=LISTED + b"data: %b\n\n" % json.dumps(listed).encode())
        front._conversation_of({"mcp-session-id": "s"}).from_client(json.dumps(cancel).encode())
        return httpx2.Response(200, json=failed)

    front, client = fronted(answer)
    async with client:
        answered = await client.post("/mcp", json=CALL, headers={**ACCEPT, "mcp-session-id": "s"})
    assert {"code": -32800, "message": "Request cancelled"} == answered.json()["error"]
    assert 1 == sum(front.answers.statistics.failures.values())


@pytest.mark.anyio
async def test_a_list_that_never_comes_over_http_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The call is sent unchecked."""
    monkeypatch.setattr(forward, "MAX_LIST_WAIT", 0.05)

    async def answer(sent: httpx2.Request) -> httpx2.Response:
        message = json.loads(sent.content)
        if message["method"] == "tools/list":
            await anyio.sleep_forever()
        return httpx2.Response(200, json={"jsonrpc": "2.0", "id": message["id"], "result": {"content": []}})

    async with fronted(answer)[1] as client:
        answered = await client.post("/mcp", json=CALL, headers={**ACCEPT, "mcp-session-id": "s"})
    assert {"content": []} == answered.json()["result"]


def test_an_event_that_is_too_long_ends_the_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    """An event without an end cannot fill the memory."""
    monkeypatch.setattr(forward, "MAX_LINE", 100)
    text = forwarded(CALL, no_list(), httpx2.Response(200, headers=STREAM, content=b"data: " + b"x" * 200))
    assert "server_ended" in text


@pytest.mark.parametrize("listed", [
    httpx2.Response(200, headers=STREAM, content=LISTED),
    httpx2.Response(200, headers=STREAM, content=b""),
    httpx2.Response(200, headers=JSON, content=b"{}"),
    httpx2.Response(200, headers=STREAM, stream=Breaking(LISTED)),
])  # fmt: skip
def test_a_list_that_does_not_come_holds_up_no_call(listed: httpx2.Response) -> None:
    """The call is sent all the same; its own headers are not those of the list."""
    answer = {"jsonrpc": "2.0", "id": 5, "result": {"content": []}}
    text = forwarded(CALL, listed, httpx2.Response(200, json=answer), **{"mcp-method": "tools/call", "mcp-name": "t"})
    assert answer == json.loads(text)


def test_sessions_that_are_not_used_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients choose the ids, so there is a bound."""
    monkeypatch.setattr("mcpcore.proxy.forward._MAX_SESSIONS", 2)
    front = Forward("http://server/mcp", ResponseRewriter(Boundary(server="s", audit=None)))
    first, _, _ = (front._conversation_of({"mcp-session-id": ident}) for ident in "abc")
    assert first is not front._conversation_of({"mcp-session-id": "a"})


def test_a_line_that_is_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes without a line feed cannot fill the memory; a last line without one counts if it is a message."""
    monkeypatch.setattr(child, "MAX_LINE", 100)

    async def read(data: bytes) -> list[bytes]:
        reader, writer = os.pipe()
        try:
            os.write(writer, data)
            os.close(writer)
            return [line async for line in lines_of(Input(reader))]
        finally:
            os.close(reader)

    assert [b"a", b"", b"{}"] == anyio.run(read, b"a\n\n{}")
    assert [b"{}"] == anyio.run(read, b'{}\n{"id":1,"resu')
    with pytest.raises(LineTooLongError):
        anyio.run(read, b"x" * 200)


@pytest.mark.anyio
async def test_a_reader_that_left_is_reported() -> None:
    """As a stream would report it."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        with pytest.raises(anyio.BrokenResourceError):
            await Output(writer).send(b"x")
    finally:
        os.close(writer)


def test_kinds_of_failures_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients may call tools of any name."""
    monkeypatch.setattr("mcpcore.proxy.learning._MAX_KINDS", 2)
    statistics, envelope = Statistics(), Envelope(code=-32001, name="NOT_FOUND", message="", retry=Retry.never())
    statistics.calls = 1
    for name in "abca":
        statistics.count(name, envelope)
        statistics.suspect(name)
    assert [
        "1 tool call, 3 failures, 0 restarts",
        "       2  a  NOT_FOUND",
        "       1  b  NOT_FOUND",
        "3 successes passed unchanged, and may be failures; see --learn:",
        "       2  a",
        "       1  b",
    ] == list(statistics.lines(Overlay()))


def test_a_draft_has_a_bounded_number_of_entries(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server may fail in ever new words."""
    monkeypatch.setattr("mcpcore.proxy.learning._MAX_SHAPES", 1)
    learner = Learner(tmp_path / "d.toml", "s")
    envelope = Envelope(code=-32001, name="NOT_FOUND", message="", retry=Retry.never())
    for text in ("no such table", "no such row", "the disk is full"):
        learner.saw("tools", "t", envelope, Facts(text=text), {})
    assert 1 == len(Overlay.read(learner.path).tools.entries["t"])


WHO = [{}, {"x-api-key": "a"}, {"x-api-key": "b"}, {"authorization": "Bearer a"}, {"cookie": "s=a"}, {"x-tenant": "1"}]


def asking_front() -> tuple[Forward, Any, list[str]]:
    """Return a front, a function that calls a tool, and the methods of the requests that the server got.

    The server shows its tool with one argument to each caller, whose name is that of the caller.
    """
    seen: list[str] = []

    def answer(sent: httpx2.Request) -> httpx2.Response:
        message = json.loads(sent.content)
        seen.append(message["method"])
        schema = {"type": "object", "required": [name_of(sent.headers)]}
        result = {"tools": [{"name": "t", "inputSchema": schema}]} if "list" in message["method"] else {"content": []}
        return httpx2.Response(200, json={"jsonrpc": "2.0", "id": message["id"], "result": result})

    def name_of(headers: Any) -> str:
        return "".join(f"{name}={headers[name]};" for who in WHO for name in who if name in headers) or "nobody"

    async def call(**headers: str) -> Any:
        message = {**CALL, "params": {"name": "t", "arguments": {name_of(headers): 1}}}
        return (await client.post("/mcp", json=message, headers={**ACCEPT, **headers})).json()

    front, client = fronted(answer)
    return front, call, seen


@pytest.mark.anyio
async def test_what_one_caller_listed_never_answers_another() -> None:
    """Each caller has its own list, by its session or by all of its headers; a caller's next call needs no new one."""
    _, call, seen = asking_front()
    for number, who in enumerate(WHO, 1):
        for trace in ("1", "2"):
            assert {"content": []} == (await call(**who, traceparent=trace))["result"]
        assert number == seen.count("tools/list")
    for session in ("a", "b", "Bearer a"):
        assert {"content": []} == (await call(**{"mcp-session-id": session}))["result"]
    assert len(WHO) + 3 == seen.count("tools/list")


@pytest.mark.anyio
async def test_the_lists_of_callers_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """With too many callers or too many tools, the oldest lists are forgotten, and requested again."""
    front, call, seen = asking_front()
    monkeypatch.setattr(forward, "_MAX_SESSIONS", 3)
    for number in range(10):
        await call(**{"x-other": str(number)})
    assert 3 == len(front._listings)
    monkeypatch.setattr(forward, "_MAX_LISTED", 0)
    for session in ("a", "b", "c"):
        await call(**{"mcp-session-id": session})
    assert [0, 0] == [talk.listing.size for talk in front._conversations.values()][:2]
    before = seen.count("tools/list")
    assert {"content": []} == (await call(**{"mcp-session-id": "a"}))["result"]
    assert before + 1 == seen.count("tools/list")


@pytest.mark.anyio
@pytest.mark.parametrize("ends", ["\n\n", "\r\n\r\n", "\r\r", "\n\r\n", "\r\n\n", "\n\r", "\r\n\r"])
@pytest.mark.parametrize("step", [1, 7, 1_000])
async def test_events_end_with_any_blank_line(ends: str, step: int) -> None:
    """However the bytes arrive; else two events would be read as one, which is no JSON."""
    end = ends.encode()
    stream = b"\xef\xbb\xbfdata: {1}" + end + b"id: 1\rdata: {2}" + end + b": ping" + end

    async def chunks() -> Any:
        for at in range(0, len(stream), step):
            yield stream[at : at + step]

    events = [event async for event in forward.events_of(chunks())]
    assert stream == b"".join(events)
    assert [b"{1}", b"{2}"] == [data for event in events if (data := forward.data_of(event))]
    assert b"id: 1\r\ndata: x\r\n\r\n" == forward.with_data(events[1].lstrip(), b"x")


@pytest.mark.anyio
async def test_an_answer_on_a_stream_that_was_resumed_is_looked_into() -> None:
    """The stream of the call breaks, and the client asks for what came after the last event that it got."""
    failed = {
        "jsonrpc": "2.0",
        "id": 5,
        "result": {"isError": True, "content": [{"type": "text", "text": "'a' KeyError"}]},
    }
    asked = {"mcp-session-id": "s"}

    def answer(sent: httpx2.Request) -> httpx2.Response:
        if sent.method == "GET":
            return httpx2.Response(200, headers=STREAM, content=b"id: 2\ndata: %b\n\r\n" % json.dumps(failed).encode())
        return no_list() if b"list" in sent.content else httpx2.Response(200, headers=STREAM, stream=Breaking(first))

    first = b"id: 1\n" + LISTED
    front, client = fronted(answer)
    async with client:
        broken = await client.post("/mcp", json=CALL, headers={**ACCEPT, **asked})
        resumed = await client.get("/mcp", headers={**ACCEPT, **asked, "last-event-id": "1"})
    assert broken.content == first
    assert "correlationId" in resumed.text
    assert resumed.text.startswith("id: 2\r\n")
    assert 1 == sum(front.answers.statistics.failures.values())
