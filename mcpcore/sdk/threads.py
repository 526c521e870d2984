"""Sync handlers in worker threads: a cancelled call is answered immediately, and its thread counts until it ends."""

from __future__ import annotations

import contextlib
import math
import threading
from typing import TYPE_CHECKING, Any, Final

import anyio.lowlevel
import anyio.to_thread

if TYPE_CHECKING:
    from collections.abc import Callable

_unlimited: Final[anyio.lowlevel.RunVar[anyio.CapacityLimiter]] = anyio.lowlevel.RunVar("mcpcore_threads")


async def in_thread(fn: Callable[[], Any]) -> Any:
    """Run `fn` in a worker thread and return its result.

    When the caller is cancelled, the thread is left to run on; it counts against the limit of threads until
    it ends, so that cancelled calls cannot pile up threads without bound.

    Raises:
        BaseException: Whatever `fn` raises; `StopIteration` as the cause of a RuntimeError, as in any coroutine.
    """
    places = anyio.to_thread.current_default_thread_limiter()
    place = _Place(places)
    await places.acquire_on_behalf_of(place)
    try:
        raised, value = await anyio.to_thread.run_sync(place.run, fn, abandon_on_cancel=True, limiter=_no_limit())
    finally:
        place.leave()
    if raised:
        try:
            raise value
        finally:
            del value  # the traceback holds this frame, which must not hold the traceback
    return value


class _Place:
    """A thread's place, given back by whoever leaves last: the caller, or the thread that it abandoned."""

    __slots__ = ("_ended", "_left", "_lock", "_places")

    def __init__(self, places: anyio.CapacityLimiter) -> None:
        self._places = places
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

                    from_thread.run_sync(self._places.release_on_behalf_of, self)

    def leave(self) -> None:
        with self._lock:
            self._left = True
            ended = self._ended
        if ended:
            self._places.release_on_behalf_of(self)


def _no_limit() -> anyio.CapacityLimiter:
    try:
        return _unlimited.get()
    except LookupError:
        limiter = anyio.CapacityLimiter(math.inf)
        _unlimited.set(limiter)
        return limiter
