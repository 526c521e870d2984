"""The middleware and the web server of every command that serves HTTP: whom it answers, and how long it waits.

A web page can make a browser call a server on the reader's own machine: it lets its own name resolve to that machine,
and the browser then takes both for one site. Such a request still carries the name of the page in `Host`, so each
request must name a host that the command knows. Source: the MCP specification, "Transports", security warning.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import hashlib
import ipaddress
import math
import os
import re
import socket
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import anyio
import uvicorn
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import principal_components
from mcp_types import INTERNAL_ERROR
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mcpcore.boundary.crash_log import log_traced
from mcpcore.values.logs import LOGGER

MAX_SESSIONS: Final = 2_000
"""Open sessions of one server."""

IDLE: Final = 30 * 60.0
"""Seconds without a request after which a session ends."""

HANDSHAKE: Final = 10.0
"""Seconds after which a session ends unless its client has sent `notifications/initialized`, or a request."""

_PERIOD: Final = 0.5
"""Seconds between two looks for sessions that have to end."""

_OPENING_FOR: Final = 1
_WORKING_FOR: Final = 30
"""Seconds after which a refused client may try again, while handshakes take the places, or sessions that work."""

_END_IN: Final = 2.0
"""Seconds that the application may take to end a session, and then the session's requests."""

_SESSION: Final = "mcp-session-id"
_VERSION: Final = "mcp-protocol-version"
_OPENED, _INITIALIZED, _WORKING = range(3)


@dataclass(slots=True, eq=False)
class _Session:
    groups: tuple[object, ...]
    """Whose sessions it counts to: those of its client, of all clients at its address, and all."""

    scope: dict[str, Any]
    """The request that opened it; another of the same client can end it."""

    used: float
    """When the last request began or ended."""

    opened: float
    ident: str | None = None
    stage: int = _OPENED
    posting: int = 0
    requests: set[anyio.CancelScope] = field(default_factory=set)


class Sessions:
    """The open sessions of one application, in front of which it is ASGI middleware; call `run`, too.

    It belongs behind the middleware that authenticates clients.
    """

    def __init__(self, *, path: str, most: int = MAX_SESSIONS, idle: float = IDLE) -> None:
        """Limit the sessions at `path` to `most`, of which one client gets half and one address three quarters.

        A session ends after `idle` seconds without a request.
        """
        self._app: ASGIApp | None = None
        self._path = path.rstrip("/")
        self._limits = (max(most // 2, 1), max(most * 3 // 4, 1), most)
        self._idle = idle
        self._sessions: set[_Session] = set()
        self._named: dict[str, _Session] = {}

    def in_front_of(self, app: ASGIApp) -> ASGIApp:
        """Middleware in front of `app`, which answers the requests."""
        self._app = app
        return self._answer

    async def run(self) -> None:
        """End the sessions whose time is up, until this is cancelled."""
        while True:
            await anyio.sleep(_PERIOD)
            now = anyio.current_time()
            for session in list(self._sessions):
                is_late = session.stage == _OPENED and not session.posting and now - session.opened >= HANDSHAKE
                if is_late or (not session.requests and now - session.used >= self._idle):
                    await self._end(session)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert self._app is not None
        session: _Session | None = None
        if scope["type"] == "http" and scope["path"].rstrip("/") == self._path:
            headers = Headers(scope=scope)
            ident, version = headers.get(_SESSION), headers.get(_VERSION)
            if ident is not None:
                session = self._named.get(ident)
            elif version is None or version in HANDSHAKE_PROTOCOL_VERSIONS:
                admitted = await self._admitted(scope, headers)
                if isinstance(admitted, int):
                    await _refuse(admitted, scope, receive, send)
                    return
                session = admitted
        if session is None:
            await self._app(scope, receive, send)
        else:
            await self._follow(session, scope, receive, send)

    async def _admitted(self, scope: Scope, headers: Headers) -> _Session | int:
        """A place for the session that a request may open; or the seconds after which to try again."""
        now = anyio.current_time()
        opening = {**scope, "headers": [], "query_string": b""}
        session = _Session(_groups_of(scope, headers), opening, used=now, opened=now)
        leaving: list[_Session] = []
        for group, limit in zip(session.groups, self._limits, strict=True):
            members = [other for other in self._sessions if group in other.groups and other not in leaving]
            if len(members) < limit:
                continue
            strangers = [other for other in members if other.stage != _WORKING and not other.posting]
            if not strangers:
                return _OPENING_FOR if any(other.stage == _OPENED for other in members) else _WORKING_FOR
            # Whoever opens sessions and leaves them loses places before others do.
            held = Counter(other.groups[0] for other in strangers)
            leaving.append(min(strangers, key=lambda other: (other.stage, -held[other.groups[0]], other.opened)))
        # Before anything is awaited, so that requests that arrive meanwhile find the place taken.
        self._sessions.add(session)
        for other in leaving:
            await self._end(other)
        return session

    async def _follow(self, session: _Session, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the application answer a request of a session, and take from the answer how far the session is."""
        assert self._app is not None
        status = 0
        is_post = scope["method"] == "POST"

        async def followed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                if session.ident is None and status < 400:
                    self._name(session, Headers(raw=message.get("headers", [])).get(_SESSION))
                elif is_post and status == 202:
                    session.stage = max(session.stage, _INITIALIZED)
                elif is_post and status == 200:
                    session.stage = _WORKING
            await send(message)

        session.posting += is_post
        answering = anyio.CancelScope()
        session.requests.add(answering)
        try:
            with answering:
                await self._app(scope, receive, followed)
            if answering.cancelled_caught and status:
                await send({"type": "http.response.body"})
            elif answering.cancelled_caught:
                await PlainTextResponse("The session has ended.", 404)(scope, receive, send)
        finally:
            session.requests.discard(answering)
            session.posting -= is_post
            session.used = anyio.current_time()
            has_ended = scope["method"] == "DELETE" and 200 <= status < 300
            # To the credentials of others, the application says that the session does not exist.
            is_gone = status == 404 and _user_of(scope) == _user_of(session.scope)
            if session.ident is None or has_ended or is_gone:
                self._forget(session)

    def _name(self, session: _Session, ident: str | None) -> None:
        if ident is not None:
            session.ident = ident
            self._named[ident] = session

    def _forget(self, session: _Session) -> None:
        self._sessions.discard(session)
        self._named.pop(session.ident or "", None)
        for request in session.requests:
            # Of streams that are opened simultaneously or with one id, the application knows the last only.
            request.deadline = anyio.current_time() + _END_IN

    async def _end(self, session: _Session) -> None:
        """End a session as its client would."""
        assert self._app is not None
        self._forget(session)
        headers = [(_SESSION.encode(), (session.ident or "").encode("latin-1"))]
        scope = {**session.scope, "method": "DELETE", "headers": headers}

        async def receive() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(_: Message) -> None:
            pass

        try:
            with anyio.move_on_after(_END_IN):
                await self._app(scope, receive, send)
        except Exception as failed:  # noqa: BLE001 - the others go on
            log_traced(failed, "a session could not be ended")


def _groups_of(scope: Scope, headers: Headers) -> tuple[object, ...]:
    """Whose sessions a new one counts to, from the narrowest."""
    user = _user_of(scope)
    if user is not None:
        # Many may come from one address, that of a gateway.
        return user, ("verified", user), "all"
    address = _network_of((scope.get("client") or ("",))[0])
    credential = hashlib.sha256(headers.get("authorization", "").encode("latin-1")).digest()
    return (address, credential), address, "all"


def _user_of(scope: Scope) -> Any:
    """The client, the issuer and the subject of a token that was verified; None without one."""
    user = scope.get("user")
    return principal_components(user.access_token) if isinstance(user, AuthenticatedUser) else None


def _network_of(address: str) -> str:
    """The address of a client; of IPv6 the network, since whoever has one address there has all of it."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped is None:
        return str(ipaddress.ip_network((ip, 64), strict=False))
    return str(ip)


async def _refuse(seconds: int, scope: Scope, receive: Receive, send: Send) -> None:
    error = {"code": INTERNAL_ERROR, "message": f"Too many sessions are open. Try again in {seconds} s."}
    content = {"jsonrpc": "2.0", "id": None, "error": error}
    await JSONResponse(content, 503, {"retry-after": str(seconds)})(scope, receive, send)


ANY_HOST: Final = "*"
"""Allows each name of a host."""

MAX_HEADER_SECONDS: Final = 10.0
"""Seconds for which a connection may go without a complete request: while it is new, and between requests."""

MAX_HEADER_BYTES: Final = 1024 * 1024
"""Bytes that may arrive before a request has begun."""

MAX_BODY_SECONDS: Final = 30.0
"""Seconds in which the body of a request must arrive."""

_EXHAUSTED: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
"""The errors of an `accept` after which asyncio tries again."""

_WARN_EVERY: Final = 60.0
"""Seconds between two warnings about them."""

MAX_UNREAD_SECONDS: Final = 60.0
"""Seconds for which a client may leave an answer unread after the buffers are full."""

_NAMED: Final = re.compile(r"(?:\[(?P<ipv6>[0-9a-f:.]+)\]|(?P<name>[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)\.?)(?::[0-9]{0,5})?")
"""A host of a URL in lower case, with or without a port. A user name and the zone of an address have no place in it."""


class Hosts:
    """The hosts that requests may name: this machine as it names itself, and those that its operator allows."""

    def __init__(self, bound: socket.socket, typed: str, allowed: Iterable[str]) -> None:
        """Serve on the socket `bound`, for which the operator wrote the host `typed`.

        Args:
            bound: The socket.
            typed: The host as it was written.
            allowed: More names; `ANY_HOST` allows all.

        Raises:
            ValueError: If one of `allowed` is no host.
        """
        # The address of a link has its zone behind a percent sign.
        address = ipaddress.ip_address(bound.getsockname()[0].partition("%")[0])
        self.is_loopback = _is_loopback(address)
        self._names = {"localhost"}
        self.allows_any = False
        for text in allowed:
            name = _host_in(text) or _host_in(f"[{text}]")
            if text == ANY_HOST:
                self.allows_any = True
            elif name is None:
                raise ValueError(f"{text!r} is not the name of a host")
            else:
                self._names.add(name)
        self.is_extended = self.allows_any or len(self._names) > 1
        own = _host_in(typed)
        if self.is_loopback and own is not None:
            # The operator has chosen this name, and it is not an attacker's who lets it resolve to here.
            self._names.add(own)
        shown = "localhost" if address.is_unspecified else f"[{address}]" if address.version == 6 else str(address)
        self.url: Final = f"http://{shown}:{bound.getsockname()[1]}"
        """The URL of the server, as a client on this machine can use it."""

    def allows(self, text: str) -> bool:
        """Whether a request may name the host `text`, with or without a port."""
        host = _host_in(text)
        if host is None:
            return False
        return self.allows_any or host in self._names or _is_loopback(host)

    def refusal(self, headers: Iterable[tuple[bytes, bytes]]) -> tuple[int, str] | None:
        """The status and the sentence with which a request that has these `headers` is refused; None if it is not."""
        # Each header is collected, since a second Host or Origin could pass a check that reads the first alone.
        hosts, origins, lengths = [], [], set()
        for name, value in headers:
            if name == b"host":
                hosts.append(value.decode("latin-1"))
            elif name == b"origin":
                origins.append(value.decode("latin-1"))
            elif name in (b"content-length", b"transfer-encoding"):
                lengths.add(name)
        if len(lengths) > 1:
            # A server in between may take another part of the bytes for the next request.
            return 400, "The request has both Content-Length and Transfer-Encoding."
        if len(hosts) != 1 or not self.allows(hosts[0]):
            return 421, "The Host header does not name this server. Whoever runs it can add a name with --allow-host."
        for origin in origins:
            scheme, _, site = origin.partition("://")
            # With any host allowed, a page may still call only the server that it came from.
            is_own = not self.allows_any or _host_in(site) == _host_in(hosts[0]) or self._is_named(site)
            if scheme.lower() not in ("http", "https") or not self.allows(site) or not is_own:
                return (
                    403,
                    "The Origin header names a site that may not call. Whoever runs the server can add its host.",
                )
        return None

    def _is_named(self, text: str) -> bool:
        host = _host_in(text)
        return host in self._names or _is_loopback(host)


def _host_in(text: str) -> Any:
    """The host that `text` names: an IP address, or a name in lower case without a final dot; None if it names none."""
    match = _NAMED.fullmatch(text.lower())
    if match is None:
        return None
    host = match["ipv6"] or match["name"]
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None if match["ipv6"] else host


def _is_loopback(host: Any) -> bool:
    return bool(getattr(getattr(host, "ipv4_mapped", None) or host, "is_loopback", False))


class Front:
    """ASGI middleware in front of an application: it refuses requests to other hosts, and bodies that do not arrive."""

    def __init__(self, app: ASGIApp, hosts: Hosts, *, resumes: bool = False) -> None:
        """Let `app` answer requests to `hosts`; `resumes` says that it keeps events for clients that come back."""
        self._app = app
        self._hosts = hosts
        self._resumes = resumes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request of ASGI."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        refused = self._hosts.refusal(scope["headers"])
        if not self._resumes:
            # The SDK leaves a client without an answer that asks for the events after one which nobody keeps.
            scope["headers"] = [header for header in scope["headers"] if header[0] != b"last-event-id"]
        if refused is None:
            refused = await self._answered(scope, receive, send)
        if refused is not None:
            status, sentence = refused
            await PlainTextResponse(sentence, status, {"connection": "close"})(scope, receive, send)

    async def _answered(self, scope: Scope, receive: Receive, send: Send) -> tuple[int, str] | None:
        """Let the application answer; returns why the request is refused if its body does not arrive in time.

        Without its body, a request is cancelled: the SDK would log a traceback for each client that leaves.
        """
        deadline = anyio.current_time() + MAX_BODY_SECONDS
        begun = complete = late = False
        answering = anyio.CancelScope()

        async def received() -> Message:
            nonlocal complete, late
            message: Message = {"type": "http.disconnect"}
            # Once the body is complete, the application asks on only to learn that the client has left, as long as it
            # answers.
            with anyio.CancelScope(deadline=math.inf if complete else deadline) as waiting:
                message = await receive()
            late = waiting.cancelled_caught
            has_left = message["type"] == "http.disconnect"
            complete = complete or not (has_left or message.get("more_body", False))
            if has_left and not (complete or begun):
                answering.cancel()
                # Here the cancellation arrives, so that the application never sees the disconnect.
                await anyio.lowlevel.checkpoint()
            return message

        async def sent(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        with answering:
            await self._app(scope, received, sent)
        return None if begun or not late else (408, f"The body did not arrive within {MAX_BODY_SECONDS:g} s.")


def web_server(app: ASGIApp, *, level: str, grace: int, lifespan: Literal["auto", "off"] = "auto") -> uvicorn.Server:
    """The server that runs `app`: it logs from `level` on, and lets requests end within `grace` seconds when it stops.

    A connection that sends no request, or does not read its answer, is closed, so that nobody can use them up.
    """
    import uvicorn
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

    base: Any = AutoHTTPProtocol  # one of two classes, by what is installed

    class ImpatientProtocol(base):  # type: ignore[misc]
        """A connection with deadlines for the client."""

        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            self._answer: ASGIApp = vars(self)["app"]
            self.app = self._answered
            self._is_answering = False
            self._unsent: float = math.inf
            self._unread = 0
            self._timer: asyncio.TimerHandle | None = None

        async def _answered(self, scope: Any, receive: Any, send: Any) -> None:
            self._is_answering = True
            self._unread = 0
            self._wait(None)
            try:
                await self._answer(scope, receive, send)
            finally:
                self._is_answering = False
                # The last part of an answer may still wait for a client that does not read.
                is_unread = self.transport.get_write_buffer_size() > 0
                self._wait(MAX_UNREAD_SECONDS if is_unread else MAX_HEADER_SECONDS)

        def _wait(self, seconds: float | None) -> None:
            if self._timer is not None:
                self._timer.cancel()
            self._timer = None if seconds is None else asyncio.get_running_loop().call_later(seconds, self._give_up)

        def _give_up(self) -> None:
            unsent = self.transport.get_write_buffer_size()
            if 0 < unsent < self._unsent:
                # The client reads, if slowly.
                self._unsent = unsent
                self._wait(MAX_UNREAD_SECONDS)
            else:
                self.transport.abort()

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._wait(MAX_HEADER_SECONDS)

        def data_received(self, data: bytes) -> None:
            # The rest of a refused body is read, so that the client reads why it was refused.
            is_body = self._is_answering or (self.cycle is not None and self.cycle.more_body)
            self._unread += 0 if is_body else len(data)
            if self._unread > MAX_HEADER_BYTES:
                self.transport.abort()  # pragma: no cover - only httptools has no limit itself
            else:
                super().data_received(data)

        def connection_lost(self, exc: Exception | None) -> None:
            self._wait(None)
            super().connection_lost(exc)

        def pause_writing(self) -> None:
            super().pause_writing()
            self._unsent = math.inf
            self._wait(MAX_UNREAD_SECONDS)

        def resume_writing(self) -> None:
            super().resume_writing()
            self._unsent = math.inf
            self._wait(None if self._is_answering else MAX_HEADER_SECONDS)

    class PatientServer(uvicorn.Server):
        """A server that goes on when the process has no descriptors left."""

        _warned = -math.inf

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            asyncio.get_running_loop().set_exception_handler(self._handle_error)
            await super().startup(sockets)

        def _handle_error(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
            error = context.get("exception")
            if not (isinstance(error, OSError) and error.errno in _EXHAUSTED and "socket" in context):
                loop.default_exception_handler(context)
            elif loop.time() - self._warned >= _WARN_EVERY:
                self._warned = loop.time()
                # A traceback needs files, and a log handler that raises here would end the event loop.
                with contextlib.suppress(OSError):
                    LOGGER.error("connections are not accepted: %s", error.strerror)

    return PatientServer(
        uvicorn.Config(
            app,
            http=ImpatientProtocol,
            ws="none",
            log_level=level,
            timeout_graceful_shutdown=grace,
            lifespan=lifespan,
            # uvicorn believes any process on this machine by default; then X-Forwarded-For would get around the limit
            # of sessions for each address.
            proxy_headers="FORWARDED_ALLOW_IPS" in os.environ,
        )
    )
