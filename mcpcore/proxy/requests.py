"""HTTP requests of clients: bodies that are read twice, simple answers, and clients that leave."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import anyio
    from starlette.requests import Request
    from starlette.types import Receive, Send


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
