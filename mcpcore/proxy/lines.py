"""Lines of bytes over file descriptors and streams; a message of stdio is one line."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Final, Protocol

import anyio
from anyio import to_thread

from mcpcore.proxy.messages import parse

MAX_LINE: Final = 128 * 1024 * 1024
"""Bytes of a message; a program that sends more without a line feed would fill the memory."""

_CHUNK: Final = 64 * 1024

_ATOMIC: Final = 4096
"""Bytes for which a pipe has room if it has any: PIPE_BUF of Linux, and less than sockets have."""


class LineTooLongError(Exception):
    """A line has more than MAX_LINE bytes."""


class Receiving(Protocol):
    """A stream of bytes."""

    async def receive(self) -> bytes:
        """The next bytes.

        Raises:
            anyio.EndOfStream: At the end.
        """
        ...


async def lines_of(stream: Receiving) -> AsyncIterator[bytes]:
    """The lines of a stream, without their line feeds; the last one need not have one if it is JSON.

    Raises:
        LineTooLongError: If a line is longer than MAX_LINE.
    """
    parts: list[bytes] = []
    length = 0
    while True:
        try:
            chunk = await stream.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError, ConnectionError):
            break
        first, *rest = chunk.split(b"\n")
        parts.append(first)
        length += len(first)
        for part in rest:
            yield b"".join(parts)
            parts, length = [part], len(part)
        if length > MAX_LINE:
            raise LineTooLongError(f"a message has more than {MAX_LINE} bytes")
    last = b"".join(parts)
    # A program that died in the middle of a line has sent no message.
    if parse(last) is not None:
        yield last


@dataclass(slots=True)
class Input:
    """Reads a file descriptor, which stays open, without blocking the event loop."""

    _descriptor: int
    _polled: bool = True

    async def receive(self) -> bytes:
        """The next bytes.

        Raises:
            anyio.EndOfStream: At the end.
        """
        if self._polled:
            try:
                await anyio.wait_readable(self._descriptor)
            except (OSError, NotImplementedError, ValueError):
                self._polled = False  # a file, which cannot be waited for; on Windows, any pipe
        if self._polled:
            chunk = os.read(self._descriptor, _CHUNK)
        else:
            chunk = await to_thread.run_sync(os.read, self._descriptor, _CHUNK, abandon_on_cancel=True)
        if not chunk:
            raise anyio.EndOfStream
        return chunk


@dataclass(slots=True)
class Output:
    """Writes lines to a file descriptor, which stays open, one at a time."""

    _descriptor: int
    _lock: anyio.Lock = field(default_factory=anyio.Lock)

    async def send(self, line: bytes) -> None:
        """Write `line` and a line feed.

        Raises:
            anyio.BrokenResourceError: If the reader has closed its end.
        """
        data = line + b"\n"
        async with self._lock:
            try:
                if len(data) <= _ATOMIC and self._has_room():
                    self._write(data)
                else:
                    # In a thread, since a client that does not read must not stop the whole proxy.
                    await to_thread.run_sync(self._write, data, abandon_on_cancel=True)
            except OSError as exc:
                raise anyio.BrokenResourceError from exc

    def _has_room(self) -> bool:
        """Whether a short line can be written without waiting."""
        if sys.platform == "win32":  # pragma: no cover - only sockets can be asked there
            return False
        return bool(select.select([], [self._descriptor], [], 0)[1])

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._descriptor, view) :]
