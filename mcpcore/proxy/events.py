"""Server-sent events, one at a time, as the bytes that they are."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from mcpcore.proxy.lines import MAX_LINE, LineTooLongError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

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
