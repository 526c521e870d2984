"""The front over streamable HTTP: many clients, for each of whom the proxy is the server."""

from __future__ import annotations

from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING, Final

import anyio

from mcpcore.proxy.child_front import ChildFront
from mcpcore.proxy.forward import Forward
from mcpcore.proxy.stdio import cancel_on_signal

if TYPE_CHECKING:
    import signal
    import socket
    from collections.abc import Sequence

    from starlette.types import Receive, Scope, Send

    from mcpcore.proxy.answers import Answers

PATH: Final = "/mcp"
MAX_BODY: Final = 16 * 1024 * 1024
"""Bytes of a request of a client."""

_LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")


async def serve_http(
    target: Sequence[str] | str, answers: Answers, *, bound: socket.socket, host: str
) -> signal.Signals | None:
    """Serve HTTP on a bound socket until a signal to end arrives, and return that."""
    import uvicorn
    from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings

    names = [f"[{name}]" if ":" in name else name for name in _LOOPBACK]
    security = TransportSecurityMiddleware(
        # Else a web page could reach the server of whoever reads it, through a name that resolves to this host.
        TransportSecuritySettings(
            enable_dns_rebinding_protection=host in _LOOPBACK,
            allowed_hosts=[f"{name}:*" for name in names],
            allowed_origins=[f"http://{name}:*" for name in names],
        )
    )
    front = Forward(target, answers) if isinstance(target, str) else ChildFront(target, answers)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        from starlette.requests import ClientDisconnect, Request
        from starlette.responses import Response

        request = Request(scope, receive)
        refused = await security.validate_request(request, is_post=request.method == "POST")
        if refused is None and scope["path"].rstrip("/") != PATH:
            refused = Response(status_code=404)
        with suppress(ClientDisconnect):
            await (front.handle(request, send) if refused is None else refused(scope, receive, send))

    from mcp.server.transport_security import RequestBodyLimitMiddleware

    limited = RequestBodyLimitMiddleware(app, MAX_BODY)
    config = uvicorn.Config(limited, log_level="warning", timeout_graceful_shutdown=1, lifespan="off", ws="none")
    server = uvicorn.Server(config)
    # The proxy handles signals itself, since it has children to end.
    server.capture_signals = nullcontext  # type: ignore[assignment,method-assign]
    signals: list[signal.Signals] = []
    async with anyio.create_task_group() as tasks, front.running():
        tasks.start_soon(cancel_on_signal, tasks.cancel_scope, signals)
        try:
            await server.serve(sockets=[bound])
        finally:
            tasks.cancel_scope.cancel()
    return signals[0] if signals else None
