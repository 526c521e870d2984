"""Sync handlers in worker threads: a cancelled call is answered immediately, and its thread counts until it ends."""

from __future__ import annotations

import contextlib
import math
import threading
import weakref
from typing import TYPE_CHECKING, Any, Final

import anyio.lowlevel
import anyio.to_thread

from mcpcore.boundary.framework_failures import own_failure
from mcpcore.contract.codes import ErrorCode
from mcpcore.contract.retry import Retry

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpcore.boundary.request import Request

MAX_WAIT: Final = 10.0
"""Seconds for which a call waits while its handler uses all the threads that it may; then it is refused."""

_unlimited: Final[anyio.lowlevel.RunVar[anyio.CapacityLimiter]] = anyio.lowlevel.RunVar("mcpcore_no_limit")
_of_handlers: Final[anyio.lowlevel.RunVar[dict[int, tuple[_Threads, weakref.ref[object]]]]] = anyio.lowlevel.RunVar(
    "mcpcore_threads"
)
"""The threads of each handler by its `id`, since it may have no hash, or be equal to another one."""


async def in_thread(fn: Callable[[], Any], handler: object, request: Request) -> Any:
    """Run `fn` in a worker thread and return its result.

    Each `handler`, any object that stays for as long as the handler is registered, has as many threads as the event
    loop has by default, so that one that hangs never stops the others.
    When the caller is cancelled, the thread is left to run on; it counts until it ends, so that cancelled calls cannot
    pile up threads without bound.

    Raises:
        CodedError: RATE_LIMITED, if no thread of the handler becomes free in time.
        BaseException: Whatever `fn` raises; `StopIteration` as the cause of a RuntimeError, as in any coroutine.
    """
    threads = _threads_of(handler)
    place = _Place(threads)
    await threads.take(place, request)
    request.began = True
    try:
        # anyio gives a thread's token back when the caller leaves, although the thread runs on; so its own limit is
        # none.
        raised, value = await anyio.to_thread.run_sync(place.run, fn, abandon_on_cancel=True, limiter=_no_limit())
    finally:
        place.leave()
    if raised:
        try:
            raise value
        finally:
            del value  # the traceback holds this frame, which must not hold the traceback
    return value


class _Threads:
    """The threads of one handler on one event loop."""

    def __init__(self) -> None:
        self.limiter = anyio.CapacityLimiter(anyio.to_thread.current_default_thread_limiter().total_tokens)
        self.abandoned = 0

    async def take(self, place: _Place, request: Request) -> None:
        """Take a thread for `place`.

        Raises:
            CodedError: RATE_LIMITED, if no thread becomes free in time.
        """
        with contextlib.suppress(anyio.WouldBlock):
            self.limiter.acquire_on_behalf_of_nowait(place)
            return
        # A thread that its own caller has given up may never end.
        if self.abandoned < self.limiter.total_tokens:
            with anyio.move_on_after(MAX_WAIT):
                await self.limiter.acquire_on_behalf_of(place)
                return
        raise own_failure(
            ErrorCode.RATE_LIMITED,
            f"Too many calls are running: all threads for them ({self.limiter.total_tokens:g}) are taken.",
            {"maxThreads": self.limiter.total_tokens},
            request.contract,
            reason="too_many_calls",
            recovery="The call did not begin, so nothing was done. Call again after the wait.",
            retry=Retry.after(seconds=MAX_WAIT),
            effects="none",
        )

    def end_abandoned(self, place: _Place) -> None:
        """Give back the thread of `place`, whose call has left."""
        self.abandoned -= 1
        self.limiter.release_on_behalf_of(place)


def _threads_of(handler: object) -> _Threads:
    try:
        table = _of_handlers.get()
    except LookupError:
        table = {}
        _of_handlers.set(table)
    ident = id(handler)
    if ident not in table:
        table[ident] = _Threads(), weakref.ref(handler, lambda _: table.pop(ident, None))
    return table[ident][0]


class _Place:
    """A thread's place, given back by whoever leaves last: the caller, or the thread that it abandoned."""

    __slots__ = ("_ended", "_left", "_lock", "_threads")

    def __init__(self, threads: _Threads) -> None:
        self._threads = threads
        self._lock = threading.Lock()
        self._ended = True  # until the thread begins
        self._left = False

    def run(self, fn: Callable[[], Any]) -> tuple[bool, Any]:
        with self._lock:
            if self._left:
                return False, None  # pragma: no cover - cancelled between being handed over and beginning
            self._ended = False
        try:
            return False, fn()
        except BaseException as exc:  # noqa: BLE001 - carried to the caller, which raises it
            return True, exc
        finally:
            with self._lock:
                self._ended = True
                abandoned = self._left
            if abandoned:
                with contextlib.suppress(RuntimeError):  # the event loop has ended, and its places with it
                    from anyio import from_thread

                    from_thread.run_sync(self._threads.end_abandoned, self)

    def leave(self) -> None:
        with self._lock:
            self._left = True
            ended = self._ended
            self._threads.abandoned += not ended
        if ended:
            self._threads.limiter.release_on_behalf_of(self)


def _no_limit() -> anyio.CapacityLimiter:
    try:
        return _unlimited.get()
    except LookupError:
        limiter = anyio.CapacityLimiter(math.inf)
        _unlimited.set(limiter)
        return limiter
