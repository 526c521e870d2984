"""The front over stdio: one client, for whom the proxy is the server."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING

import anyio

from mcpcore.proxy.lines import Input, LineTooLongError, Output, lines_of
from mcpcore.proxy.sessions import ChildSession, UrlSession
from mcpcore.values.logs import LOGGER

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcpcore.proxy.answers import ResponseRewriter


async def serve_stdio(
    target: Sequence[str] | str,
    answers: ResponseRewriter,
    *,
    stdin: int,
    stdout: int,
    headers: Mapping[str, str] | None = None,
) -> signal.Signals | None:
    """Relay between a client on two descriptors and the server: a command, or a URL that the headers are sent to.

    Returns when the client has closed its end, or a signal to end arrives, which it returns.

    Raises:
        ServerEndedError: If the server cannot be started, ended again, or never answered.
    """
    output = Output(stdout)
    session: ChildSession | UrlSession
    session = (
        UrlSession(answers, output.send, target, headers or {})
        if isinstance(target, str)
        else ChildSession(answers, output.send, target)
    )

    async def read() -> None:
        try:
            async for line in lines_of(Input(stdin)):
                await session.deliver(line)
        except LineTooLongError as exc:
            LOGGER.error("the client is disconnected: %s", exc)  # noqa: TRY400 - the traceback says nothing more
        await session.close()

    async def run() -> None:
        # A client that reads no more has left.
        try:
            await session.run()
        except* anyio.BrokenResourceError:
            pass
        tasks.cancel_scope.cancel()

    signals: list[signal.Signals] = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(cancel_on_signal, tasks.cancel_scope, signals)
        tasks.start_soon(read)
        tasks.start_soon(run)
    return signals[0] if signals else None


async def cancel_on_signal(scope: anyio.CancelScope, signals: list[signal.Signals]) -> None:
    """Cancel `scope` at the first signal to end, so that the server is ended, too; append it to `signals`."""
    with anyio.open_signal_receiver(*ending_signals()) as received:
        async for number in received:  # pragma: no branch - signals never end
            signals.append(number)
            scope.cancel()
            return


def ending_signals() -> list[signal.Signals]:
    """The signals that end the proxy."""
    signals = [signal.SIGINT, signal.SIGTERM]
    # `nohup` ignores SIGHUP, which Windows does not have.
    if sys.platform != "win32" and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signals.append(signal.SIGHUP)
    return signals
