"""What HTTP adds to messages: the headers and the body of a request, and events that the server sends.

An event stays the bytes that it is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, cast

from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    encode_header_value,
    mcp_param_headers,
    x_mcp_header_map,
)

from mcpcore.proxy.lines import MAX_LINE, LineTooLongError
from mcpcore.proxy.messages import VERSION_META_KEY, meta_of, params_of, parse
from mcpcore.values.untrusted import quietly

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import anyio
    from starlette.requests import Request
    from starlette.types import Receive, Send

    from mcpcore.proxy.conversation import Conversation


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
