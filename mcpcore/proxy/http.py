"""The front over streamable HTTP: many clients, for each of whom the proxy is the server.

A server of stdio has one client. Before 2026-07-28 each session gets a separate child. Since then
requests have no session, so they share one child, which sees other ids than the clients.

Messages of sessions, and answers, are relayed as the bytes that arrived. Requests without a session, and notifications
that name one, get the other id, so their numbers may be written in another way, with the same value.
"""

from __future__ import annotations

import json
import signal
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import uuid4

import anyio
from anyio.abc import TaskGroup
from anyio.streams.memory import MemoryObjectSendStream
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER, StreamableHTTPServerTransport
from mcp.shared.inbound import (
    ERROR_CODE_HTTP_STATUS,
    InboundLadderRejection,
    classify_inbound_request,
    find_duplicated_routing_header,
    validate_mcp_param_headers,
)
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp_types import HEADER_MISMATCH, JSONRPCNotification, JSONRPCResponse
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import PrivateAttr
from starlette.requests import ClientDisconnect, Request
from starlette.types import Receive, Scope, Send

from mcpcore.proxy.answers import ResponseRewriter
from mcpcore.proxy.child import GRACE, Child
from mcpcore.proxy.conversation import Conversation
from mcpcore.proxy.forward import Forward, cancel_on_disconnect, respond, unread
from mcpcore.proxy.listings import Listing
from mcpcore.proxy.messages import Json, answer_in, key_of, meta_of, params_of, parse, write
from mcpcore.proxy.sessions import ChildSession, ServerEndedError, cancel_on_signal
from mcpcore.sdk.http import IDLE, Front, Hosts, Sessions, web_server
from mcpcore.values.logs import LOGGER
from mcpcore.values.untrusted import object_in

_VERSION: Final = "mcp-protocol-version"
_SUBSCRIPTION: Final = "io.modelcontextprotocol/subscriptionId"

_MAX_WAITING: Final = 1_000
"""Messages that wait for a client that reads slowly; with more, its stream is closed."""

_PING: Final = 15.0
"""Seconds after which a silent event stream gets a comment, so that no proxy in between closes it."""


@dataclass(slots=True)
class ChildFront:
    """Answers the requests of many clients with children."""

    command: Sequence[str]
    answers: ResponseRewriter
    _transports: dict[str, StreamableHTTPServerTransport] = field(default_factory=dict)
    _waiting: dict[str, set[str]] = field(default_factory=dict)
    """The ids of the requests of each session that have no answer yet."""

    _tasks: TaskGroup | None = None
    _shared: Shared | None = None
    _starting: anyio.Lock = field(default_factory=anyio.Lock)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run children while the front serves."""
        async with anyio.create_task_group() as self._tasks:
            try:
                yield
            finally:
                self._tasks.cancel_scope.cancel()

    async def handle(self, request: Request, send: Send) -> None:
        """Answer one request of a client."""
        version = request.headers.get(_VERSION)
        if version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS:
            await self._handle_single(request, send)
            return
        session = request.headers.get(MCP_SESSION_ID_HEADER)
        if session is None:
            await self._open(request, send)
            return
        transport = self._transports.get(session)
        if transport is None:
            await respond(request, send, 404, _error(-32600, "Session not found"))
            return
        await self._exchange(session, transport, request, send)
        if transport.is_terminated:
            self._transports.pop(session, None)

    # --- sessions -------------------------------------------------------------------------------------------------

    async def _exchange(
        self, ident: str, transport: StreamableHTTPServerTransport, request: Request, send: Send
    ) -> None:
        """Answer a request of a session.

        The ids of a session are unique by the specification. The transport would send the answer of one request to
        another that has the same id, so the second is refused while the first is open.
        """
        body = await request.body()
        message = parse(body)
        is_request = isinstance(message, dict) and "method" in message and key_of(message.get("id")) is not None
        own = str(message["id"]) if is_request else None
        waiting = self._waiting.get(ident, set())
        if own is not None and own in waiting:
            text = "Another request of this session has the same id"
            await respond(request, send, 400, _error(-32600, text, message["id"]))
            return
        if own is not None:
            waiting.add(own)
        try:
            await transport.handle_request(request.scope, unread(request, body), send)
        finally:
            if own is not None:
                waiting.discard(own)

    async def _open(self, request: Request, send: Send) -> None:
        body = await request.body()
        message = parse(body)
        if not isinstance(message, dict) or message.get("method") != "initialize":
            # Else any request would start a child.
            await respond(request, send, 400, _error(-32600, "Missing session ID"))
            return
        ident = uuid4().hex
        self._waiting[ident] = set()
        transport = self._transports[ident] = StreamableHTTPServerTransport(ident, idle_timeout=IDLE)
        status: list[int] = []

        async def watched(message: Any) -> None:
            if message["type"] == "http.response.start":
                status.append(message["status"])
            await send(message)

        assert self._tasks is not None
        try:
            await self._tasks.start(self._run, ident, transport)
        except OSError as exc:
            await self._refuse_unstarted(body, exc, request, send)
            return
        try:
            await self._exchange(ident, transport, request, watched)
        finally:
            if not status or status[0] >= 400:
                await self._discard(ident)

    async def _refuse_unstarted(self, raw: bytes, exc: OSError, request: Request, send: Send) -> None:
        """Answer a request whose child cannot be started."""
        sentence = f"{self.command[0]} cannot be started: {exc.strerror or exc}"
        LOGGER.error("%s", sentence)
        conversation = Conversation(self.answers, Listing(complete=True))
        conversation.from_client(raw)
        answers = conversation.lost(sentence, final=True, started=False)
        # A request without an id that can be answered is not a request.
        await respond(request, send, 200 if answers else 400, *(answers or [_error(-32600, "Invalid id")]))

    async def _discard(self, ident: str) -> None:
        self._waiting.pop(ident, None)
        transport = self._transports.pop(ident, None)
        if transport is not None and not transport.is_terminated:
            with anyio.CancelScope(shield=True):
                await transport.terminate()

    async def _run(
        self,
        ident: str,
        transport: StreamableHTTPServerTransport,
        *,
        task_status: anyio.abc.TaskStatus[None],
    ) -> None:
        """Relay between the transport of one session and its child.

        Raises:
            OSError: If the child cannot be started.
        """
        try:
            child = await Child.start(self.command)
        except OSError:
            await self._discard(ident)
            raise
        async with transport.connect() as (read, stream):
            routes = _Routes()

            async def to_client(raw: bytes) -> None:
                message = parse(raw)
                if not isinstance(message, dict):
                    LOGGER.error("the server sent a line that is not a message")
                    return
                related = routes.of(message)
                metadata = None if related is None else ServerMessageMetadata(related_request_id=related)
                await stream.send(SessionMessage(_as_it_came(raw, message), metadata))

            session = ChildSession(self.answers, to_client, self.command)

            async def deliver() -> None:
                while True:
                    received = await read.receive()
                    if isinstance(received, SessionMessage):  # pragma: no branch - else an error of the transport
                        raw = await _line_of(received)
                        message = parse(raw)
                        routes.opened(message, received.metadata)
                        await session.deliver(raw)
                        if (end_stream := routes.cancelled(message)) is not None:
                            await end_stream()

            task_status.started()
            assert transport.idle_scope is not None
            try:
                with transport.idle_scope:
                    async with anyio.create_task_group() as tasks:
                        tasks.start_soon(deliver)
                        try:
                            await session.run(child)
                        except ServerEndedError as exc:
                            LOGGER.error("a session ended: %s", exc)  # noqa: TRY400 - no bug
                            # The answers to the requests that are still open must reach the client.
                            with anyio.move_on_after(GRACE):
                                while self._waiting.get(ident):  # noqa: ASYNC110 - it waits at the end alone
                                    await anyio.sleep(0.01)
                        tasks.cancel_scope.cancel()
            except* (anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.EndOfStream):
                pass  # the client ended the session
            except* Exception:
                LOGGER.exception("a session ended with an error of the proxy")  # the other sessions go on
            finally:
                await self._discard(ident)

    # --- requests without a session -------------------------------------------------------------------------

    async def _handle_single(self, request: Request, send: Send) -> None:
        message: Any = parse(await request.body())
        refusal = self._refusal(message, request)
        if refusal is not None:
            await respond(request, send, *refusal)
            return
        assert self._tasks is not None
        async with self._starting:
            if self._shared is None or self._shared.ended:
                shared = Shared(self.command, self.answers)
                try:
                    await self._tasks.start(shared.run)
                except OSError as exc:
                    await self._refuse_unstarted(await request.body(), exc, request, send)
                    return
                self._shared = shared
            shared = self._shared
        await shared.answer(message, request, send)

    def _refusal(self, message: Any, request: Request) -> tuple[int, bytes] | None:
        """The status and the body for what the child does not get; None for a request that it answers."""
        if request.method != "POST":
            return 405, b""
        if not isinstance(message, dict):
            return 400, _error(-32700, "Parse error")
        if "id" not in message:
            return 202, b""
        ident = message["id"]
        if key_of(ident) is None or not isinstance(message.get("method"), str):
            return 400, _error(-32600, "Body must be a single JSON-RPC request or notification object")
        if message["method"] == "initialize":
            # A handshake with the shared child would be one for all of its clients; and the method is gone.
            return 404, _error(-32601, "Method not found", ident)
        rejection = self._rejection(message, request)
        if rejection is None:
            return None
        data = {} if rejection.data is None else {"data": rejection.data}
        body = _error(rejection.code, rejection.message, ident, **data)
        return ERROR_CODE_HTTP_STATUS.get(rejection.code, 200), body

    def _rejection(self, message: Json, request: Request) -> InboundLadderRejection | None:
        """Why a request and its headers do not belong together; None if they do."""
        duplicated = find_duplicated_routing_header(request.headers.items())
        if duplicated is not None:
            return InboundLadderRejection(code=HEADER_MISMATCH, message=f"{duplicated} header appears more than once")
        verdict = classify_inbound_request(message, headers=dict(request.headers))
        if isinstance(verdict, InboundLadderRejection):
            return verdict
        params = params_of(message)
        listing = None if self._shared is None else self._shared.session.conversation.listing
        tool = None if listing is None else listing.get(str(params.get("name")))
        arguments = params.get("arguments")
        if message["method"] != "tools/call" or tool is None or not isinstance(arguments, dict):
            return None
        return validate_mcp_param_headers(tool.input_schema, arguments, request.headers)


class Shared:
    """The child of all requests without a session."""

    def __init__(self, command: Sequence[str], answers: ResponseRewriter) -> None:
        """Prepare to run `command`."""
        self.session = ChildSession(answers, self._to_client, command)
        self.session.conversation.session = None
        self.ended = False
        self._open: dict[str, tuple[Any, Any, MemoryObjectSendStream[bytes]]] = {}
        self._listening: set[str] = set()
        """The open requests that are streams of notifications, and run no tool."""

    async def run(self, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        """Run the child.

        Raises:
            OSError: If it cannot be started.
        """
        child = await Child.start(self.session.command)
        task_status.started()
        try:
            await self.session.run(child)
        except ServerEndedError as exc:
            LOGGER.error("the server ended: %s", exc)  # noqa: TRY400 - no bug
        except Exception:
            LOGGER.exception("the server was ended after an error of the proxy")  # the next request starts it again
        finally:
            self.ended = True
            for _, _, stream in self._open.values():
                stream.close()

    async def _to_client(self, raw: bytes) -> None:
        message: Any = parse(raw)
        if not isinstance(message, dict):
            return
        params = params_of(message)
        if answer_in(message) is not None:
            own, restored = message.get("id"), "id"
        elif message.get("method") == "notifications/progress":
            own, restored = params.get("progressToken"), "progressToken"
        else:
            own, restored = object_in(params, "_meta").get(_SUBSCRIPTION), _SUBSCRIPTION
        if not isinstance(own, str) or own not in self._open:
            if restored != _SUBSCRIPTION or not self._open:
                return
            # A notification that names no request, such as a line of a log, belongs to the one that runs. If several
            # run, it may be about the call of another client.
            running = self._open.keys() - self._listening or self._open.keys()
            if len(running) > 1:
                return
            (own,), restored = running, ""
        ident, token, stream = self._open[own]
        line = _line(raw, message)
        if restored == "id":
            quoted = f'"{own}"'.encode()
            if line.count(quoted) == 1:  # else the server has repeated it elsewhere, or written it in another way
                line = line.replace(quoted, json.dumps(ident).encode())
            else:
                line = write({**message, "id": ident})
        elif restored == "progressToken":
            line = write({**message, "params": {**params, "progressToken": token}})
        elif restored:
            line = write({**message, "params": {**params, "_meta": {**params["_meta"], _SUBSCRIPTION: ident}}})
        try:
            stream.send_nowait(line)
        except anyio.WouldBlock:
            stream.close()  # a client that does not read must not hold up the others
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return  # the client has left

    async def answer(self, message: Json, request: Request, send: Send) -> None:
        """Send a request to the child, and its answer to the client."""
        # The server cannot guess it, and so answers no request that it has not seen.
        own = f"http-{uuid4().hex}"
        params = params_of(message)
        token = object_in(params, "_meta").get("progressToken")
        if token is not None:
            params = {**params, "_meta": {**params["_meta"], "progressToken": own}}
        sender, receiver = anyio.create_memory_object_stream[bytes](_MAX_WAITING)
        self._open[own] = message["id"], token, sender
        if message["method"] == "subscriptions/listen":
            self._listening.add(own)
        left = anyio.CancelScope()
        try:
            async with anyio.create_task_group() as tasks, receiver:
                tasks.start_soon(cancel_on_disconnect, request, left)
                sent = {**message, "id": own}
                with left:
                    await self.session.deliver(write({**sent, "params": params} if "params" in message else sent))
                    await _stream(receiver, send, message["id"])
                if left.cancelled_caught and not self.ended:
                    await self._cancel(own)
                tasks.cancel_scope.cancel()
        finally:
            del self._open[own]
            self._listening.discard(own)
            sender.close()

    async def _cancel(self, own: str) -> None:
        cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": own}}
        with anyio.move_on_after(1):
            await self.session.deliver(write(cancelled))


async def _stream(receiver: Any, send: Send, ident: object) -> None:
    """Send messages as events, until the answer; if that comes first, it is sent as JSON."""
    begun = False
    while True:
        raw = None
        with anyio.move_on_after(_PING):
            try:
                raw = await receiver.receive()
            except anyio.EndOfStream:
                raw = _error(-32603, "The stream was closed.", ident)
        message: Any = None if raw is None else parse(raw)
        is_last = isinstance(message, dict) and answer_in(message) is not None
        if is_last and not begun:
            code: Any = object_in(message, "error").get("code")
            status = ERROR_CODE_HTTP_STATUS.get(code, 200)
            await send({
                "type": "http.response.start", "status": status, "headers": [(b"content-type", b"application/json")],
            })  # fmt: skip
            await send({"type": "http.response.body", "body": raw, "more_body": False})
            return
        if not begun:
            headers = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-cache, no-transform")]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            begun = True
        part = b": ping\r\n\r\n" if raw is None else b"event: message\r\ndata: " + raw + b"\r\n\r\n"
        await send({"type": "http.response.body", "body": part, "more_body": not is_last})
        if is_last:
            return


class _Routes:
    """Which request of a client a message of the server belongs to, which stdio does not say."""

    def __init__(self) -> None:
        self._open: dict[Any, tuple[Any, Any]] = {}

    def opened(self, message: Any, metadata: Any) -> None:
        """Note a message of the client, with the metadata of its transport."""
        if isinstance(message, dict) and "method" in message and key_of(message.get("id")) is not None:
            token = meta_of(message).get("progressToken")
            self._open[message["id"]] = token, getattr(metadata, "on_request_unanswered", None)

    def cancelled(self, message: Any) -> Callable[[], Awaitable[None]] | None:
        """What ends the stream of the request that a message of the client cancels; it gets no answer any more."""
        if not isinstance(message, dict) or message.get("method") != "notifications/cancelled":
            return None
        key = key_of(params_of(message).get("requestId"))
        _, end_stream = (None, None) if key is None else self._open.pop(key[1], (None, None))
        return end_stream

    def of(self, message: Any) -> Any:
        """The id of the request whose stream a message of the server goes to; None for the stream of the session."""
        if answer_in(message) is not None:
            key = key_of(message.get("id"))
            if key is not None:
                self._open.pop(key[1], None)
            return None
        if not isinstance(message.get("method"), str):
            return None
        if message["method"] == "notifications/progress":
            token = params_of(message).get("progressToken")
            return next((ident for ident, (known, _) in self._open.items() if known == token), None)
        if message["method"].endswith("list_changed") or message["method"] == "notifications/resources/updated":
            return None
        # A question or a line of a log most likely belongs to the request that came last.
        return next(reversed(self._open), None)


class _Answer(JSONRPCResponse):
    """An answer that the transport sends as it is; only the id is read."""

    _text: str = PrivateAttr(default="")

    def model_dump_json(self, **_: Any) -> str:
        return self._text


class _Other(JSONRPCNotification):
    """A notification or a request of the server, which the transport sends as it is."""

    _text: str = PrivateAttr(default="")

    def model_dump_json(self, **_: Any) -> str:
        return self._text


def _as_it_came(raw: bytes, message: Json) -> Any:
    """A message for the transport, which else would write numbers in another way, and leave out keys."""
    text = _line(raw, message).decode()
    if answer_in(message) is None:
        return _Other.model_construct(_text=text)
    return _Answer.model_construct(id=message.get("id"), _text=text)


def _line(raw: bytes, message: Json) -> bytes:
    """The bytes of a message; others with the same meaning if they are no UTF-8, or have a line break of events."""
    try:
        raw.decode()
    except UnicodeDecodeError:
        return write(message)
    return write(message) if b"\r" in raw else raw


async def _line_of(received: SessionMessage) -> bytes:
    """The bytes of a message of the client, in one line."""
    request: Any = getattr(received.metadata, "request_context", None)
    body: bytes = await request.body()
    if b"\n" in body or b"\r" in body:
        return received.message.model_dump_json(by_alias=True, exclude_unset=True).encode()
    return body


def _error(code: int, message: str, ident: object = None, **more: object) -> bytes:
    """An error of the protocol as the answer to the request with this id, or to none that can be named."""
    return write({"jsonrpc": "2.0", "id": ident, "error": {"code": code, "message": message, **more}})


PATH: Final = "/mcp"
MAX_SESSIONS: Final = 100
"""Sessions, and so children, at the same time."""

MAX_BODY: Final = 16 * 1024 * 1024
"""Bytes of a request of a client."""


async def serve_http(
    target: Sequence[str] | str, answers: ResponseRewriter, *, bound: socket.socket, hosts: Hosts
) -> signal.Signals | None:
    """Serve HTTP on a bound socket until a signal to end arrives, and return that."""
    from mcp.server.transport_security import RequestBodyLimitMiddleware, TransportSecurityMiddleware

    # It checks the Content-Type alone.
    security = TransportSecurityMiddleware()
    conversations = Forward(target, answers) if isinstance(target, str) else ChildFront(target, answers)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        from starlette.responses import Response

        request = Request(scope, receive)
        refused = await security.validate_request(request, is_post=request.method == "POST")
        if refused is None and scope["path"].rstrip("/") != PATH:
            refused = Response(status_code=404)
        with suppress(ClientDisconnect):
            await (conversations.handle(request, send) if refused is None else refused(scope, receive, send))

    sessions = Sessions(path=PATH, most=MAX_SESSIONS)
    # Behind a URL, sessions are those of the server there.
    inner = app if isinstance(target, str) else sessions.in_front_of(app)
    server = web_server(
        Front(RequestBodyLimitMiddleware(inner, MAX_BODY), hosts, resumes=isinstance(target, str)),
        level="warning",
        grace=1,
        lifespan="off",
    )
    # The proxy handles signals itself, since it has children to end.
    server.capture_signals = nullcontext  # type: ignore[assignment,method-assign]
    signals: list[signal.Signals] = []
    async with anyio.create_task_group() as tasks, conversations.running():
        tasks.start_soon(sessions.run)
        tasks.start_soon(cancel_on_signal, tasks.cancel_scope, signals)
        try:
            await server.serve(sockets=[bound])
        finally:
            tasks.cancel_scope.cancel()
    return signals[0] if signals else None
