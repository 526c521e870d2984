"""One client's session with the server behind the proxy: a child process, which is started again once, or a URL.

Over stdio there is one client, for whom the proxy is the server.
"""

from __future__ import annotations

import signal
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import anyio
from mcp_types import INTERNAL_ERROR, ErrorData, JSONRPCError, jsonrpc_message_adapter

from mcpcore.boundary.outcome import FailedCall
from mcpcore.client.headers import http_transport
from mcpcore.contract.codes import ErrorCode
from mcpcore.proxy.answers import ResponseRewriter, ServerCrash
from mcpcore.proxy.child import GRACE, Child, Input, LineTooLongError, Output, lines_of
from mcpcore.proxy.conversation import MAX_LIST_WAIT, Conversation
from mcpcore.proxy.listings import Listing
from mcpcore.values.logs import LOGGER
from mcpcore.values.unwrapping import leaves_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from mcpcore.proxy.messages import Step

    Send = Callable[[bytes], Awaitable[None]]

MAX_RESTARTS: Final = 1

_UNREADABLE: Final = "Failed to parse JSON response: "
"""The beginning of the error that the SDK makes of an answer over HTTP that is not JSON-RPC."""

_LAST_MOMENT: Final = 0.2
"""Seconds in which a server whose output has ended may exit by itself, so that its own exit code is known."""


class ServerEndedError(Exception):
    """The server cannot be started, ended again after it was started again, or has never answered."""


@dataclass(slots=True)
class _Session:
    """A session, whichever way its messages take."""

    answers: ResponseRewriter
    to_client: Send
    conversation: Conversation = field(init=False)
    holding: anyio.Event = field(init=False, default_factory=anyio.Event)
    """Set when a request begins to wait for the list of tools."""

    def __post_init__(self) -> None:
        """Begin the conversation."""
        self.conversation = Conversation(self.answers, Listing())

    async def _send(self, step: Step) -> None:
        raise NotImplementedError  # pragma: no cover - each kind of session has its own

    async def _answer_open(self, sentence: str, *, final: bool = True) -> None:
        """Answer the requests that the server left open when it ended."""
        for answer in self.conversation.lost(sentence, final=final):
            await self.to_client(answer)

    async def _release_late(self) -> None:
        """Let no call wait too long for the list of tools."""
        while True:
            await self.holding.wait()
            self.holding = anyio.Event()
            while (held := self.conversation.held) is not None:
                await anyio.sleep(MAX_LIST_WAIT)
                if self.conversation.held is held:
                    await self._send(self.conversation.release())


@dataclass(slots=True)
class ChildSession(_Session):
    """A session with a child process."""

    command: Sequence[str]

    _child: Child | None = None
    _sending: anyio.Lock = field(default_factory=anyio.Lock)
    _ready: anyio.Event = field(default_factory=anyio.Event)
    _delivering: anyio.Lock = field(default_factory=anyio.Lock)
    _gone: str | None = None
    """Why no server runs any more."""

    _closing: bool = False
    _relaying: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    _ended: anyio.Event = field(default_factory=anyio.Event)

    async def run(self, child: Child | None = None) -> None:
        """Run the server until `close` is called, or it has ended twice; `child` is one that runs already.

        Raises:
            ServerEndedError: If it cannot be started, ended again, or never answered.
        """
        try:
            await self._run(child)
        except ServerEndedError as exc:
            self._gone = str(exc)
            self._ready.set()
            async with self._delivering:
                pass  # a message that has arrived is answered
            raise
        finally:
            self._ready.set()  # else `deliver` and `close` would wait for ever

    async def _run(self, child: Child | None) -> None:
        program, how = self.command[0], ""
        for restarts in range(MAX_RESTARTS + 1):
            try:
                child = self._child = child or await Child.start(self.command)
            except OSError as exc:
                how = f"{program} cannot be started: {exc.strerror or exc}"
                await self._answer_open(how)
                raise ServerEndedError(how) from exc
            try:
                if restarts:
                    self.answers.statistics.restarts += 1
                    await self._send(self.conversation.restart())
                self._ready.set()
                await self._relay(child)
            finally:
                # After its output has ended, a server has nothing left to do but to exit.
                how = await child.stop(grace=_LAST_MOMENT)
            if self._closing:
                self._ended.set()
                talk = self.conversation
                failed = not talk.answered and bool(restarts or child.has_failed)
                if failed:
                    # The client may still read, as in a pipeline.
                    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                        await self._answer_open(how)
                if failed or talk.never_answered:
                    raise ServerEndedError(f"{program} has not answered a single message: {how}")
                return
            self._ready = anyio.Event()
            await self._report(how, last=restarts == MAX_RESTARTS)
            child = None
        raise ServerEndedError(f"{program} ended again: {how}")

    async def _relay(self, child: Child) -> None:
        async with anyio.create_task_group() as tasks:
            self._relaying = tasks.cancel_scope
            tasks.start_soon(self._release_late)
            try:
                async for message in child.messages():
                    await self._send(self.conversation.from_server(message))
            except LineTooLongError as exc:
                LOGGER.error("the server is ended: %s", exc)  # noqa: TRY400 - the traceback says nothing more
            tasks.cancel_scope.cancel()

    async def _report(self, how: str, *, last: bool) -> None:
        again = "it is not started again" if last else "it is started again"
        LOGGER.error("the server %s ended while it was in use: %s; %s", self.command[0], how, again)
        call = FailedCall(name=self.command[0], surface="server", code=ErrorCode.SERVICE_UNAVAILABLE)
        self.answers.boundary.record_failure(ServerCrash(how), call)
        await self._answer_open(how, final=last)

    async def deliver(self, raw: bytes) -> None:
        """Take a message of the client."""
        async with self._delivering:
            await self._ready.wait()
            # Nothing may come between these two: a request is answered if the server ends after it was noted.
            await self._send(self.conversation.from_client(raw))
            if self._gone is not None:
                await self._answer_open(self._gone)
            if self.conversation.held is not None:
                self.holding.set()

    async def _send(self, step: Step) -> None:
        if self._child is not None and step.to_server:
            # Nothing that the client sends now may come before a request that was held back.
            async with self._sending:
                for message in step.to_server:
                    await self._child.send(message)
        for message in step.to_client:
            await self.to_client(message)

    async def close(self) -> None:
        """End the session: the server gets the end of its input, once it has all messages."""
        with anyio.move_on_after(GRACE):
            while self.conversation.holds_back:  # noqa: ASYNC110 - it waits at the end alone
                await anyio.sleep(0.01)
        self._closing = True
        await self._ready.wait()
        if self._child is not None:
            await self._child.close_input()
            # Its last answers still arrive; a server that does not end by itself is ended.
            with anyio.move_on_after(GRACE):
                await self._ended.wait()
            self._relaying.cancel()


@dataclass(slots=True)
class UrlSession(_Session):
    """A session with a server behind a URL, over streamable HTTP."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    _write: Any = None
    _wanted: anyio.Event = field(default_factory=anyio.Event)
    _ready: anyio.Event = field(default_factory=anyio.Event)
    _closed: anyio.Event = field(default_factory=anyio.Event)

    async def run(self) -> None:
        """Relay messages until `close` is called.

        After a failure of the connection, a new one is made when the client sends something next.

        Raises:
            ServerEndedError: If the server never answered.
        """
        import httpx2

        is_first = True
        while not self._closed.is_set():
            await self._wanted.wait()
            try:
                async with http_transport(self.url, self.headers) as (read, write), anyio.create_task_group() as tasks:
                    self._write = write
                    tasks.start_soon(self._receive, read)
                    tasks.start_soon(self._release_late)
                    if not is_first:
                        await self._send(self.conversation.restart())
                    is_first = False
                    self._ready.set()
                    await self._closed.wait()
                    tasks.cancel_scope.cancel()
            except* httpx2.HTTPError as group:
                self._wanted, self._ready = anyio.Event(), anyio.Event()
                kind = type(next(leaves_of(group))).__name__
                LOGGER.error("%s cannot be reached: %s", self.url, kind)  # noqa: TRY400 - no bug
                await self._answer_open(f"{self.url} cannot be reached")
        if self.conversation.never_answered:
            raise ServerEndedError(f"{self.url} has not answered a single message")

    async def _receive(self, read: Any) -> None:
        async for received in read:
            if isinstance(received, Exception):
                LOGGER.error("a message of %s cannot be read: %s", self.url, type(received).__name__)
                continue
            message = received.message
            if isinstance(message, JSONRPCError) and message.error.message.startswith(_UNREADABLE):
                # The SDK quotes the answer, which nobody wrote for a client.
                LOGGER.error("an answer of %s cannot be read", self.url)
                message.error = ErrorData(code=INTERNAL_ERROR, message="Internal error: the answer was not JSON-RPC.")
            raw = message.model_dump_json(by_alias=True, exclude_unset=True).encode()
            await self._send(self.conversation.from_server(raw))

    async def deliver(self, raw: bytes) -> None:
        """Take a message of the client."""
        self._wanted.set()
        await self._ready.wait()
        await self._send(self.conversation.from_client(raw))
        if self.conversation.held is not None:
            self.holding.set()

    async def _send(self, step: Step) -> None:
        for message in step.to_client:
            await self.to_client(message)
        for message in step.to_server:
            sent = self._with_headers(message)
            if sent is not None:
                # A request on a broken connection is answered with the others that it left open.
                with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
                    await self._write.send(sent)

    def _with_headers(self, raw: bytes) -> Any:
        """A message with its HTTP headers; None if it is not a message."""
        from mcp.shared.message import ClientMessageMetadata, SessionMessage

        from mcpcore.proxy.forward import headers_for

        try:
            message = jsonrpc_message_adapter.validate_json(raw, by_name=False)
        except ValueError:
            LOGGER.error("a message of the client is not JSON-RPC, and was not sent on")  # noqa: TRY400 - hostile
            return None
        headers = headers_for(raw, self.conversation)
        return SessionMessage(message, ClientMessageMetadata(headers=headers) if headers else None)

    async def close(self) -> None:
        """End the session, once its last answers have arrived."""
        with anyio.move_on_after(GRACE):
            while self.conversation.holds_back or self.conversation.waits:  # noqa: ASYNC110 - as above
                await anyio.sleep(0.01)
        self._closed.set()
        self._wanted.set()


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
