"""The front over stdio: one client, for whom the proxy is the server."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING

import anyio

from mcpcore.proxy.lines import Input, LineTooLongError, Output, lines_of
from mcpcore.proxy.sessions import ChildSession, UrlSession

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcpcore.proxy.answers import Answers


async def serve_stdio(
    target: Sequence[str] | str, answers: Answers, *, stdin: int, stdout: int, headers: Mapping[str, str] | None = None
) -> None:
    """Relay between a client on two descriptors and the server: a command, or a URL that the headers are sent to.

    Returns when the client has closed its end, or a signal to end arrives.

    Raises:
        OSError: If the command cannot be started.
        ServerEndedError: If the server ended more often than it is started again.
    """
    output = Output(stdout)
    session: ChildSession | UrlSession
    session = (
        UrlSession(target, answers, output.send, headers or {})
        if isinstance(target, str)
        else ChildSession(target, answers, output.send)
    )

    async def read() -> None:
        try:
            async for line in lines_of(Input(stdin)):
                await session.deliver(line)
        except LineTooLongError:
            pass  # the client is no client of MCP
        await session.close()

    async def run() -> None:
        # A client that reads no more has left.
        try:
            await session.run()
        except* anyio.BrokenResourceError:
            pass
        tasks.cancel_scope.cancel()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(cancel_on_signal, tasks.cancel_scope)
        tasks.start_soon(read)
        tasks.start_soon(run)


async def cancel_on_signal(scope: anyio.CancelScope) -> None:
    """Cancel `scope` at the first signal to end, so that the server is ended, too."""
    signals = [signal.SIGINT, signal.SIGTERM]
    if sys.platform != "win32":  # pragma: no branch - Windows has no such signal
        signals.append(signal.SIGHUP)
    with anyio.open_signal_receiver(*signals) as received:
        async for _ in received:
            scope.cancel()
            return
