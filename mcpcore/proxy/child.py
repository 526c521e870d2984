"""The server as a child process, ended with all its children; and lines of bytes: a message of stdio is one line."""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, Self

import anyio
from anyio import to_thread
from anyio.abc import ByteReceiveStream, Process

from mcpcore.proxy.messages import parse

MAX_LINE: Final = 128 * 1024 * 1024
"""Bytes of a message; a program that sends more without a line feed would fill the memory."""

_CHUNK: Final = 64 * 1024

_ATOMIC: Final = 4096
"""Bytes for which a pipe has room if it has any: PIPE_BUF of Linux, and less than sockets have."""


class LineTooLongError(Exception):
    """A line has more than MAX_LINE bytes."""


async def lines_of(stream: Input | ByteReceiveStream) -> AsyncIterator[bytes]:
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


GRACE: Final = 2.0
"""Seconds that a server has to end after its input was closed, and again after a signal to end."""

_POLL: Final = 0.01


@dataclass(slots=True)
class Child:
    """A running server: a process that was started with pipes, and in a new session."""

    _process: Process
    _sending: anyio.Lock = field(default_factory=anyio.Lock)

    @property
    def has_failed(self) -> bool:
        """Whether it ended by itself with an exit code that means failure."""
        return (self._process.returncode or 0) > 0

    @classmethod
    async def start(
        cls, command: Sequence[str], *, env: Mapping[str, str] | None = None, keep_stderr: bool = False
    ) -> Self:
        """Start `command`.

        Args:
            command: The program and its arguments.
            env: Its environment; None for that of this process.
            keep_stderr: Whether `stderr` reads its standard error, which otherwise goes to that of this process.

        Raises:
            OSError: If it cannot be started.
        """
        # On Windows, `npx` is found only by its whole name.
        program = shutil.which(command[0]) or command[0]
        # Cancelled halfway, it would leave a process that is never ended.
        with anyio.CancelScope(shield=True):
            process = await anyio.open_process(
                [program, *command[1:]],
                stderr=subprocess.PIPE if keep_stderr else None,
                env=env,
                start_new_session=sys.platform != "win32",
            )
        return cls(process)  # pyright: ignore[reportPossiblyUnboundVariable] - the scope is never cancelled itself

    def messages(self) -> AsyncIterator[bytes]:
        """The lines of its standard output."""
        assert self._process.stdout is not None
        return lines_of(self._process.stdout)

    async def stderr(self) -> AsyncIterator[bytes]:
        """Its standard error in pieces, until it ends."""
        assert self._process.stderr is not None
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, ConnectionError):
            async for piece in self._process.stderr:
                yield piece

    async def send(self, message: bytes) -> None:
        """Write one line to its standard input; a server that does not read any more gets nothing."""
        assert self._process.stdin is not None
        async with self._sending:
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
                await self._process.stdin.send(message + b"\n")

    async def close_input(self) -> None:
        """Close its standard input; by the specification, the server then exits."""
        assert self._process.stdin is not None
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            await self._process.stdin.aclose()

    async def stop(self, *, grace: float = GRACE) -> str:
        """End the process and its whole group; returns how it ended, as the end of a sentence."""
        with anyio.CancelScope(shield=True):
            await self.close_input()
            ended = await self._exited(grace)
            # Children of the server may still run.
            await self._end_group()
            if not ended:
                await self._exited(GRACE)
            self._close()
        return self._how()

    async def ended(self) -> str:
        """Wait until it ends by itself; returns how, as the end of a sentence."""
        await self._exited(float("inf"))
        return self._how()

    async def _exited(self, seconds: float) -> bool:
        # Not `wait()`, which also waits for the pipes, and a grandchild may hold them open.
        with anyio.move_on_after(seconds):
            while self._process.returncode is None:  # noqa: ASYNC110 - nothing sets an event for it
                await anyio.sleep(_POLL)
        return self._process.returncode is not None

    async def _end_group(self) -> None:
        if sys.platform == "win32":  # pragma: no cover - no process groups there
            with suppress(OSError):
                self._process.kill()
            return
        from mcp.os.posix.utilities import terminate_posix_process_tree

        await terminate_posix_process_tree(self._process, GRACE)

    def _close(self) -> None:
        # On asyncio the transport stays open while a process that left the group holds a pipe; it is not public.
        process: Any = self._process
        with suppress(AttributeError, OSError):
            process._process._transport.close()  # noqa: SLF001

    def _how(self) -> str:
        code = self._process.returncode
        if code is None:  # pragma: no cover - a process that not even SIGKILL ends
            return "it did not end"
        if code < 0:
            name = signal.Signals(-code).name if -code in set(signal.Signals) else str(-code)
            return f"it was ended by the signal {name}"
        return f"it ended with the exit code {code}"
