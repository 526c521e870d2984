"""The front over streamable HTTP: many clients, for each of whom the proxy is the server."""

from __future__ import annotations

from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING, Final

import anyio

from mcpcore.proxy.child_front import ChildFront
from mcpcore.proxy.forward import Forward
from mcpcore.proxy.stdio import cancel_on_signal
from mcpcore.sdk.http import Front, Hosts, Sessions, web_server

if TYPE_CHECKING:
    import signal
    import socket
    from collections.abc import Sequence

    from starlette.types import Receive, Scope, Send

    from mcpcore.proxy.answers import ResponseRewriter

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
        from starlette.requests import ClientDisconnect, Request
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
