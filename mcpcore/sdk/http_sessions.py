"""How many sessions clients may keep open over HTTP, and which end to make room for others.

Anybody who reaches a server can open sessions, and each holds memory, or a process of the proxy. So one that does not
finish its handshake ends soon, and those that have never sent a request after it end as soon as others need their
place. A session that works is ended by its own client, or after it was idle for long; while all places are taken by
such sessions, new ones are refused.
"""

from __future__ import annotations

import hashlib
import ipaddress
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import anyio
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import principal_components
from mcp_types import INTERNAL_ERROR
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.responses import JSONResponse

from mcpcore.boundary.crash_log import log_traced

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
"""Seconds that the application may take to end a session."""

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
    requests: int = 0


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
            held = Counter(other.groups[0] for other in strangers)
            leaving.append(min(strangers, key=lambda other: (other.stage, -held[other.groups[0]], other.opened)))
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

        session.requests += 1
        session.posting += is_post
        try:
            await self._app(scope, receive, followed)
        finally:
            session.requests -= 1
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
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is None:
        return str(ipaddress.ip_network((found, 64), strict=False))
    return str(found)


async def _refuse(seconds: int, scope: Scope, receive: Receive, send: Send) -> None:
    error = {"code": INTERNAL_ERROR, "message": f"Too many sessions are open. Try again in {seconds} s."}
    content = {"jsonrpc": "2.0", "id": None, "error": error}
    await JSONResponse(content, 503, {"retry-after": str(seconds)})(scope, receive, send)
