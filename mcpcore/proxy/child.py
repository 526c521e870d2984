"""The server as a child process: started in a separate process group, and ended with all its children."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Self

import anyio

from mcpcore.proxy.lines import lines_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from anyio.abc import Process

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


def exists(command: str) -> bool:
    """Whether a command can be found, so that a misspelt one is reported before anything is served."""
    return shutil.which(command) is not None
