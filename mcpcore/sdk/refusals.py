"""HTTP requests that a server refuses before they are calls: a bad session, a wrong host, no valid token.

The SDK and FastMCP answer them, as the specification says. Anybody can send such requests, so they are recorded in
aggregate: one record for each kind and minute, with a count. A stranger cannot fill the disk.
"""

from __future__ import annotations

import atexit
import threading
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import anyio.to_thread

from mcpcore.audit.kinds import REFUSED
from mcpcore.boundary.crash_log import log_traced
from mcpcore.contract.codes import ErrorCode
from mcpcore.wire.envelope_builder import new_correlation_id, now

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.applications import Starlette
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from mcpcore.audit import AuditTrail


WINDOW: Final = 60.0
"""Seconds for which the refusals of a kind become one record."""

ANSWERED: Final = "mcpcore.answered"
"""The key in the ASGI scope of a request whose failure was already recorded."""


class _Kind(NamedTuple):
    """A kind of refusal."""

    reason: str
    code: ErrorCode
    message: str


_WRONG_ORIGIN: Final = _Kind("wrong_origin", ErrorCode.FORBIDDEN, "The Origin header names a site that may not call.")
_MISSING_SCOPE: Final = _Kind("missing_scope", ErrorCode.FORBIDDEN, "The access token lacks a scope of the server.")
_KINDS: Final[Mapping[int, _Kind]] = {
    400: _Kind("bad_request", ErrorCode.INVALID_REQUEST, "The request is not a valid message of the protocol."),
    401: _Kind("not_authenticated", ErrorCode.UNAUTHORIZED, "There is no access token, or it is not valid."),
    403: _WRONG_ORIGIN,
    404: _Kind("unknown_session", ErrorCode.NOT_FOUND, "The session has ended, or never existed."),
    405: _Kind("wrong_method", ErrorCode.INVALID_REQUEST, "The protocol does not use this HTTP method."),
    406: _Kind(
        "not_acceptable", ErrorCode.INVALID_REQUEST, "The Accept header lacks a type that the server answers with."
    ),
    409: _Kind("second_stream", ErrorCode.CONFLICT, "The session has an open event stream already."),
    413: _Kind("body_too_large", ErrorCode.INVALID_REQUEST, "The body is longer than the server accepts."),
    415: _Kind("wrong_content_type", ErrorCode.INVALID_REQUEST, "The Content-Type is not application/json."),
    421: _Kind("wrong_host", ErrorCode.INVALID_REQUEST, "The Host header names another server."),
    503: _Kind("too_many_sessions", ErrorCode.SERVICE_UNAVAILABLE, "The server accepts no more sessions."),
}
"""The reason, code and message for each HTTP status of a refusal: those of the MCP specification, section "Transports",
and of `mcp.server.streamable_http`, `mcp.server.transport_security` and `mcp.server.auth`."""


class Refusals:
    """Counts the refused requests of one server, and records the counts."""

    def __init__(self, trail: AuditTrail, server: str) -> None:
        """Record in `trail` what `server` refused."""
        self._trail = trail
        self._server = server
        self._lock = threading.Lock()
        self._counts: Counter[tuple[int, _Kind]] = Counter()
        self._since = ""

    def count(self, status: int, *, challenged: bool) -> None:
        """Count a response with an HTTP `status`; `challenged` says that it asks for other credentials."""
        kind = _MISSING_SCOPE if status == 403 and challenged else _KINDS.get(status)
        if kind is None:
            return
        with self._lock:
            is_first = not self._counts
            self._counts[status, kind] += 1
            if not is_first:
                return
            self._since = now()
        # A thread, since the server may run on any event loop, and be mounted in an application of any kind.
        timer = threading.Timer(WINDOW, self.write)
        # The process must not wait a minute for the thread; at its exit, `atexit` writes what was counted.
        timer.daemon = True
        timer.start()
        atexit.register(self.write)

    def write(self) -> None:
        """Record what was counted until now."""
        with self._lock:
            counts, self._counts = self._counts, Counter()
            since = self._since
        atexit.unregister(self.write)
        for (status, (reason, code, message)), count in counts.items():
            try:
                if self._trail.listens(code.name):
                    facts = {"reason": reason, "message": message, "status": status, "count": count}
                    self._trail.record({**self._record(code, since), **facts})
            except Exception as failed:  # noqa: BLE001 - the refusals were already answered
                log_traced(failed, "%d refused requests could not be recorded", count)

    def _record(self, code: ErrorCode, since: str) -> dict[str, Any]:
        return {
            "timestamp": since,
            "surface": "http",
            "outcome": REFUSED,
            "http": "requests",
            "code": int(code),
            "name": code.name,
            "retry": code.retry.to_json(),
            "correlationId": new_correlation_id(),
            "server": self._server,
        }


def watched(app: Starlette, refusals: Refusals, *paths: str) -> Starlette:
    """`app`, a Starlette application that has not started, with the refused requests to `paths` counted."""
    app.add_middleware(RefusedRequests, refusals=refusals, paths=paths)
    return app


class RefusedRequests:
    """ASGI middleware that counts the refused requests to some paths."""

    def __init__(self, app: ASGIApp, *, refusals: Refusals, paths: tuple[str, ...]) -> None:
        """Count what `app` refuses of the requests to `paths`."""
        self._app = app
        self._refusals = refusals
        self._paths = paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request of ASGI."""

        async def written(message: Message) -> None:
            # The server stops as soon as it has this message.
            if message["type"].startswith("lifespan.shutdown."):
                await anyio.to_thread.run_sync(self._refusals.write)
            await send(message)

        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] >= 400 and ANSWERED not in scope:
                challenged = any(name.lower() == b"www-authenticate" for name, _ in message.get("headers", ()))
                self._refusals.count(message["status"], challenged=challenged)
            await send(message)

        if scope["type"] == "lifespan":
            await self._app(scope, receive, written)
        # The end of the path, since the application may be mounted below another one.
        elif scope["type"] == "http" and scope["path"].endswith(self._paths):
            await self._app(scope, receive, counted)
        else:
            await self._app(scope, receive, send)
