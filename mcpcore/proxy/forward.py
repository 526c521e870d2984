"""The front over HTTP for a server behind a URL: requests are forwarded, and their answers looked into.

Statuses, headers, sessions, event ids and requests to authenticate stay those of the server, and an event stays the
bytes that it is.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import OrderedDict
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import anyio
import httpx2
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER, REQUEST_CANCELLED
from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    encode_header_value,
    mcp_param_headers,
    x_mcp_header_map,
)

from mcpcore.proxy.child import MAX_LINE, LineTooLongError
from mcpcore.proxy.conversation import MAX_LIST_WAIT, Conversation
from mcpcore.proxy.listings import Listing
from mcpcore.proxy.messages import VERSION_META_KEY, Step, meta_of, params_of, parse, read, write
from mcpcore.values.logs import LOGGER
from mcpcore.values.untrusted import quietly

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from starlette.requests import Request
    from starlette.types import Receive, Send

    from mcpcore.proxy.answers import ResponseRewriter


def unread(request: Request, body: bytes) -> Receive:
    """A channel that receives a request again, whose body was read already."""
    parts = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Any:
        return parts.pop() if parts else await request.receive()

    return receive


async def respond(request: Request, send: Send, status: int, body: bytes) -> None:
    """Answer with JSON, or with nothing."""
    from starlette.responses import Response

    kind = "application/json" if body else None
    await Response(body, status, media_type=kind)(request.scope, request.receive, send)


async def cancel_on_disconnect(request: Request, scope: anyio.CancelScope) -> None:
    """Cancel `scope` when the client leaves; the body must have been read."""
    await request.receive()  # nothing else can come after the body
    scope.cancel()


_END: Final = re.compile(rb"(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r)")
"""A blank line; the lines of one event may end in different ways."""

_MARK: Final = b"\xef\xbb\xbf"
"""The byte order mark, which clients drop at the beginning of a stream."""

_LINE: Final = re.compile(rb"\r\n|\n|\r")


async def events_of(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The events of a stream, each with the blank line that ends it; a comment is an event, too.

    Raises:
        LineTooLongError: If an event is longer than a message may be.
    """
    buffer = bytearray()
    async for chunk in chunks:
        # The end of an event may be spread over two chunks.
        start = max(0, len(buffer) - 3)
        buffer += chunk
        while (match := _END.search(buffer, start)) is not None:
            yield bytes(buffer[: match.end()])
            del buffer[: match.end()]
            start = 0
        if len(buffer) > MAX_LINE:
            raise LineTooLongError(f"an event has more than {MAX_LINE} bytes")
    if buffer:
        yield bytes(buffer)


def data_of(event: bytes) -> bytes:
    """The data of an event; empty if it has none."""
    lines = [line[5:].removeprefix(b" ") for line in _lines(event) if line.startswith(b"data:")]
    return b"\n".join(lines)


def with_data(event: bytes, data: bytes) -> bytes:
    """An event with other data, which is one line; its id and its name stay."""
    others = [line for line in _lines(event) if line and not line.startswith(b"data:")]
    return b"".join(line + b"\r\n" for line in (*others, b"data: " + data)) + b"\r\n"


def _lines(event: bytes) -> list[bytes]:
    return _LINE.split(event.removeprefix(_MARK))


def headers_for(raw: bytes, conversation: Conversation) -> dict[str, str]:
    """The headers of a message of the client, which is one of JSON-RPC."""
    message: Any = parse(raw)
    version = meta_of(message).get(VERSION_META_KEY)
    if not isinstance(version, str):
        known = conversation.version
        return {} if known is None or message.get("method") == "initialize" else {MCP_PROTOCOL_VERSION_HEADER: known}
    method, params = str(message.get("method", "")), params_of(message)
    headers = {MCP_PROTOCOL_VERSION_HEADER: version, MCP_METHOD_HEADER: method}
    name = params.get("uri") if method.startswith("resources/") else params.get("name")
    if isinstance(name, str):
        headers[MCP_NAME_HEADER] = encode_header_value(name)
    tool = conversation.listing.get(cast("str", name)) if method == "tools/call" else None
    arguments = params.get("arguments")
    if tool is not None and isinstance(arguments, dict):
        schema = tool.input_schema
        headers |= quietly(lambda: mcp_param_headers(x_mcp_header_map(schema), arguments), {})
    return headers


K = TypeVar("K")
V = TypeVar("V")

_HAS_ID: Final = re.compile(rb"^id:", re.MULTILINE)
_MAX_SESSIONS: Final = 10_000
_MAX_LISTED: Final = 32 * 1024 * 1024
"""Bytes of the tools of all sessions, as JSON, and as many of all callers without one."""

_OF_THE_MESSAGE: Final = ("mcp-method", "mcp-name", "mcp-param-", "traceparent", "tracestate", "last-event-id")
"""Headers that differ between the messages of one caller: they repeat the message, or name its trace (W3C)."""

_OF_THE_HOP: Final = frozenset(
    {
        "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te", "trailer", "transfer-encoding",
        "upgrade", "host", "content-length", "content-encoding", "accept-encoding",
    }
)  # fmt: skip
"""Headers of one connection, and those that change with the body."""


@dataclass(slots=True)
class Forward:
    """Forwards the requests of many clients."""

    url: str
    answers: ResponseRewriter
    _client: Any = None
    _listings: OrderedDict[bytes, Listing] = field(default_factory=OrderedDict)
    """The tools of callers without a session, by a digest of what says who they are."""

    _conversations: OrderedDict[str, Conversation] = field(default_factory=OrderedDict)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Keep connections open while the front serves."""
        # A tool may take any time, and an event stream is silent for long.
        timeout = httpx2.Timeout(30.0, read=None)
        # Each open stream of a client keeps a connection; a client that leaves ends its own.
        limits = httpx2.Limits(max_connections=None)
        async with httpx2.AsyncClient(timeout=timeout, limits=limits, follow_redirects=False) as client:
            self._client = client
            yield

    async def handle(self, request: Request, send: Send) -> None:
        """Answer one request of a client, until it leaves."""
        body = await request.body()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(cancel_on_disconnect, request, tasks.cancel_scope)
            await self._handle(request, body, send)
            tasks.cancel_scope.cancel()

    async def _handle(self, request: Request, body: bytes, send: Send) -> None:
        headers = {name: value for name, value in request.headers.items() if name not in _OF_THE_HOP}
        headers["accept-encoding"] = "identity"
        conversation = self._conversation_of(headers)
        step = conversation.from_client(body) if request.method == "POST" and body else Step(to_server=[body])
        while step.to_server and step.to_server != [body]:
            step = await self._ask(conversation, step.to_server[0], headers)
        if step.to_client:
            await _respond(send, 200, [(b"content-type", b"application/json")], step.to_client[0])
            return
        try:
            await self._forward(request.method, headers, body, conversation, send)
        except httpx2.HTTPError as exc:
            answers = self._lost(conversation, body, exc)
            kind = [(b"content-type", b"application/json")]
            await _respond(send, 200 if answers else 502, kind, answers[0] if answers else b"{}")

    def _conversation_of(self, headers: Mapping[str, str]) -> Conversation:
        """The conversation of a session; a request without a session begins a new one.

        Different callers may see different tools, so what one of them listed never answers another.
        """
        session = headers.get(MCP_SESSION_ID_HEADER)
        if session is None:
            listing = _kept(self._listings, _caller(headers), Listing, lambda listing: listing)
            return Conversation(self.answers, listing, ordered=False)
        return _kept(
            self._conversations,
            session,
            lambda: Conversation(self.answers, Listing(), ordered=False),
            lambda conversation: conversation.listing,
        )

    async def _ask(self, conversation: Conversation, raw: bytes, headers: Mapping[str, str]) -> Step:
        """Send a request of the proxy itself; returns what follows from its answer."""
        request: Any = parse(raw)
        own = {name: value for name, value in headers.items() if not name.startswith("mcp-param-")}
        if "mcp-method" in own:
            own["mcp-method"] = request["method"]
            own.pop("mcp-name", None)
        answer = b""
        with anyio.move_on_after(MAX_LIST_WAIT), suppress(httpx2.HTTPError, LineTooLongError):
            async with self._client.stream("POST", self.url, content=raw, headers=own) as response:
                if _is_stream(response):
                    async for event in events_of(response.aiter_bytes()):
                        message: Any = parse(data_of(event))
                        if isinstance(message, dict) and message.get("id") == request["id"]:
                            answer = data_of(event)
                            break
                else:
                    answer = await response.aread()
        message = parse(answer)
        if not isinstance(message, dict) or message.get("id") != request["id"]:
            answer = b'{"jsonrpc":"2.0","id":"%b","error":{"code":-32603,"message":""}}' % request["id"].encode()
        return conversation.from_server(answer)

    async def _forward(
        self, method: str, headers: Mapping[str, str], body: bytes, conversation: Conversation, send: Send
    ) -> None:
        content = body or None
        async with self._client.stream(method, self.url, content=content, headers=headers) as response:
            kept = [(name, value) for name, value in response.headers.raw if name.lower().decode() not in _OF_THE_HOP]
            if not _is_stream(response):
                # Whatever its type says: clients differ in the types that they take for JSON.
                answer = await response.aread()
                read_as = _addressed(answer, body) if response.status_code >= 400 else answer
                changed = _changed(conversation.from_server(read_as), answer)
                is_changed = changed != read_as
                # Clients on the SDK read no result where the status is one of an error.
                status = 200 if is_changed and response.status_code >= 400 else response.status_code
                # Such as one that was refused; its session may go on for long.
                conversation.forget(body)
                await _respond(send, status, kept, changed if is_changed else answer)
                return
            await send({"type": "http.response.start", "status": response.status_code, "headers": kept})
            async for part in self._parts(response, conversation, body):
                await send({"type": "http.response.body", "body": part, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _parts(self, response: Any, conversation: Conversation, body: bytes) -> AsyncIterator[bytes]:
        """The events of a stream, with the answers that changed."""
        resumable = False
        try:
            async for event in events_of(response.aiter_bytes()):
                data = data_of(event)
                resumable = resumable or _HAS_ID.search(event) is not None
                changed = _changed(conversation.from_server(data), data) if data else data
                yield event if changed == data else with_data(event, changed)
        except (httpx2.HTTPError, LineTooLongError) as exc:
            # A client that knows the id of an event may ask for those after it.
            for answer in [] if resumable else self._lost(conversation, body, exc):
                yield with_data(b"event: message", answer)

    def _lost(self, conversation: Conversation, body: bytes, exc: Exception) -> list[bytes]:
        """The answer to a request whose connection failed; none for any other message."""
        LOGGER.error("%s cannot be reached: %s", self.url, type(exc).__name__)
        return conversation.abandon(body, f"{self.url} cannot be reached")


def _caller(headers: Mapping[str, str]) -> bytes:
    """A digest of all headers that are sent on, but for those that say what one message is about.

    Any of them may hold a credential or name a tenant, so none is trusted to be alike for two callers.
    """
    own = sorted((name, value) for name, value in headers.items() if not name.startswith(_OF_THE_MESSAGE))
    return hashlib.sha256(json.dumps(own).encode()).digest()


def _kept(table: OrderedDict[K, V], key: K, make: Callable[[], V], listing_of: Callable[[V], Listing]) -> V:
    """The value of a table of bounded size, whose keys clients choose; the oldest use goes first.

    If the listings are too large together, the proxy forgets the oldest and requests them again. It keeps their
    conversations, which know which answers are still expected.
    """
    if key not in table:
        if len(table) >= _MAX_SESSIONS:
            table.popitem(last=False)
        listings = [listing_of(value) for value in table.values()]
        total = sum(listing.size for listing in listings)
        for listing in listings:
            if total <= _MAX_LISTED:
                break
            total -= listing.size
            listing.forget()
        table[key] = make()
    table.move_to_end(key)
    return table[key]


def _addressed(answer: bytes, request: bytes) -> bytes:
    """An error with the id of its request, which a server that refuses it early may leave out.

    Clients on the SDK take such an error for the answer, wherever the status is one of an error.
    """
    error, asked = read(answer), read(request)
    if not isinstance(error, dict) or "error" not in error or error.get("id") is not None:
        return answer
    return write({**error, "id": asked["id"]}) if isinstance(asked, dict) and "id" in asked else answer


def _changed(step: Step, answer: bytes) -> bytes:
    """What the client gets; HTTP needs an answer also to a request that the client has cancelled."""
    if step.to_client:
        return step.to_client[0]
    error = {"code": REQUEST_CANCELLED, "message": "Request cancelled"}
    message = read(answer)
    ident = message.get("id") if isinstance(message, dict) else None
    return write({"jsonrpc": "2.0", "id": ident, "error": error})


def _is_stream(response: Any) -> bool:
    """Whether clients read a response as events, as the SDK does: in any case, with any parameters."""
    return bool(response.headers.get("content-type", "").strip().lower().startswith("text/event-stream"))


async def _respond(send: Send, status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
    length = (b"content-length", str(len(body)).encode())
    has_body = status not in (202, 204, 304) or body
    await send(
        {"type": "http.response.start", "status": status, "headers": [*headers, length] if has_body else headers}
    )
    await send({"type": "http.response.body", "body": body, "more_body": False})
