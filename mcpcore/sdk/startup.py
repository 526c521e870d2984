"""Failures of the server itself: while it starts, in its lifespan or in a component, and while it stops.

They reach no client, so the record in the trail is all that stays of them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from types import TracebackType
from typing import Any, Generic

from typing_extensions import TypeVar

from mcpcore.contract.codes import ErrorCode
from mcpcore.values.logs import LOGGER
from mcpcore.values.request_var import current
from mcpcore.values.untrusted import quietly
from mcpcore.values.unwrapping import leaves_of, passes_through
from mcpcore.wire.envelope import Envelope

AppT = TypeVar("AppT")
StateT = TypeVar("StateT", default=Any)


def no_lifespan(_: object) -> AbstractAsyncContextManager[dict[str, Any]]:
    """The lifespan of a server that has none; the defaults of the SDK and of FastMCP yield the same."""
    return contextlib.nullcontext({})


class Startup:
    """Records the exceptions that keep a server from starting, or that it stops with; each is raised on.

    Attributes:
        failure: The exception that kept the server from starting, or None.
    """

    def __init__(
        self,
        server: str,
        record: Callable[[BaseException, ErrorCode | None], Envelope],
        check: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """Record with `record`, which takes an exception and the code for it unless it is a `CodedError`.

        `check` runs after the lifespan has started, when all tools are registered; its exceptions keep the server from
        starting.
        """
        self._server = server
        self._record = record
        self._check = check
        self._running = 0
        self.failure: BaseException | None = None
        self._registering: BaseException | None = None

    @property
    def running(self) -> bool:
        """Whether the server has started and not stopped; some transports start it once for each session."""
        return self._running > 0

    def watched(
        self, lifespan: Callable[[AppT], AbstractAsyncContextManager[StateT]]
    ) -> Callable[[AppT], AbstractAsyncContextManager[StateT]]:
        """`lifespan`, with its failures recorded, and the check after it."""
        return lambda app: _Watched(self, lambda: lifespan(app))

    def component(self) -> AbstractContextManager[None]:
        """Record an exception that leaves the block: a component that cannot be started."""
        return _recording(self.failed)

    def registration(self) -> AbstractContextManager[None]:
        """Record an exception that leaves the block: a component that cannot be registered.

        Whoever registers it may handle the exception, so it need not keep the server from starting. Within a call,
        the exception is that call's failure.
        """
        return _recording(self._unregistered)

    def registered(self, decorate: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """`decorate`, a decorator that registers a component, with its failures recorded."""

        def register(fn: Any) -> Any:
            with self.registration():
                return decorate(fn)

        return register

    @contextlib.contextmanager
    def transport(self) -> Iterator[None]:
        """Record the error that made uvicorn exit: a port that is taken, or a host that is not this machine's."""
        try:
            yield
        except SystemExit as exc:
            self.ended(exc)
            raise

    def ended(self, exc: BaseException | None) -> None:
        """Record the error behind `exc`, which ends the server, if uvicorn exits since it cannot listen."""
        if type(exc) is SystemExit and isinstance(exc.__context__, OSError):
            self.failed(exc.__context__)

    async def ready(self) -> None:
        """Check the server, whose lifespan has started.

        Raises:
            ContractError: If it must not start.
        """
        if self._check is not None:
            await self._check()
        self._running += 1

    def stopping(self) -> None:
        """Note that a lifespan ends."""
        self._running -= 1

    def failed(self, exc: BaseException) -> None:
        """Record that `exc` keeps the server from starting."""
        if exc is self.failure or passes_in(exc):
            return
        self.failure = exc
        if exc is self._registering:
            return  # recorded as such
        envelope = self._record(exc, ErrorCode.INITIALIZATION_FAILED)
        # Whoever runs the server prints the exception, which is raised on; a second traceback would say no more.
        LOGGER.error("the server %r cannot start: %s (id %s)", self._server, envelope.name, envelope.correlation_id)

    def _unregistered(self, exc: BaseException) -> None:
        if exc is self._registering or current.get() is not None or passes_in(exc):
            return
        self._registering = exc
        envelope = self._record(exc, ErrorCode.INITIALIZATION_FAILED)
        LOGGER.error(
            "the server %r cannot register a component: %s (id %s)",
            self._server,
            envelope.name,
            envelope.correlation_id,
        )

    def stopped(self, exc: BaseException) -> None:
        """Record that the server stopped with `exc`."""
        envelope = self._record(exc, None)
        LOGGER.error("the server %r failed to stop: %s (id %s)", self._server, envelope.name, envelope.correlation_id)


@contextlib.contextmanager
def _recording(record: Callable[[BaseException], None]) -> Iterator[None]:
    try:
        yield
    except BaseException as exc:
        record(exc)
        raise


def passes_in(exc: BaseException) -> bool:
    """Whether `exc` is a cancellation or an exit rather than a failure; outside an event loop, too."""
    return quietly(lambda: passes_through(exc), not isinstance(exc, Exception | SystemExit))


class _Watched(Generic[StateT]):
    """A lifespan with its failures recorded."""

    def __init__(self, startup: Startup, make: Callable[[], AbstractAsyncContextManager[StateT]]) -> None:
        self._startup = startup
        self._make = make
        self._lifespan: AbstractAsyncContextManager[StateT]

    async def __aenter__(self) -> StateT:
        with self._startup.component():
            self._lifespan = self._make()
            state = await self._lifespan.__aenter__()
            try:
                await self._startup.ready()
            except BaseException as exc:
                await self._lifespan.__aexit__(type(exc), exc, exc.__traceback__)
                raise
            return state

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        self._startup.stopping()
        try:
            return await self._lifespan.__aexit__(kind, exc, trace)
        except BaseException as failure:
            # An error that ended the server is not the lifespan's own; a task group in there puts it into a new group.
            outside = {id(leaf) for leaf in (() if exc is None else leaves_of(exc))}
            own = [leaf for leaf in leaves_of(failure) if id(leaf) not in outside]
            if own and not passes_in(failure):
                self._startup.stopped(failure)
            raise
