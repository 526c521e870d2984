"""The limits of a tool or of a server: how long a call may take, and how many calls may run concurrently.

A call that takes too long is cancelled and fails with TIMEOUT. A call over the limit of concurrent calls is not queued:
it fails immediately with RATE_LIMITED and a waiting time, so that an overloaded server still answers.
"""

from __future__ import annotations

import math
import threading
import time
from typing import TYPE_CHECKING, Final, TypeVar

import anyio

from mcpcore.boundary.framework_failures import own_failure
from mcpcore.contract.codes import ErrorCode
from mcpcore.contract.effects import UNSAFE
from mcpcore.contract.errors import CodedError
from mcpcore.contract.retry import Retry
from mcpcore.values.unwrapping import passes_through

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from mcpcore.boundary.request import Request

T = TypeVar("T")

_MIN_WAIT: Final = 0.1
_MAX_WAIT: Final = 60.0
"""The shortest and the longest waiting time, in seconds, that a refused caller is given."""

_FIRST_WAIT: Final = 1.0
"""The waiting time, in seconds, while no call has ended yet."""

_WEIGHT: Final = 0.2
"""The weight of the last call in the mean duration of the calls."""


class CallLimits:
    """The timeout and the limit of concurrent calls; one object for all calls that share them."""

    def __init__(self, owner: str, *, timeout: float | None, max_concurrency: int | None) -> None:
        """Limit the calls of `owner`, a noun for the message: "tool" or "server".

        Args:
            owner: The noun.
            timeout: Seconds; None or `math.inf` for no limit.
            max_concurrency: Calls; None for no limit.
        """
        self.owner = owner
        self.timeout = timeout
        self.max_concurrency = max_concurrency
        # Threads that outlive their calls give up places too.
        self._lock = threading.Lock()
        self._running = 0
        self._mean_duration: float | None = None

    async def run(self, call: Callable[[], Awaitable[T]], request: Request) -> T:
        """Run `call`, which answers `request`, within the limits.

        Raises:
            CodedError: RATE_LIMITED if too many calls are running, TIMEOUT if this one takes too long.
            BaseException: Whatever the call raises.
        """
        if self.max_concurrency is None:
            return await self._run_in_time(call, request)
        place = Place(self, request)
        request.places = (*request.places, place)
        try:
            return await self._run_in_time(call, request)
        finally:
            place.release()

    async def _run_in_time(self, call: Callable[[], Awaitable[T]], request: Request) -> T:
        if self.timeout is None:
            return await call()
        request.timeout = self.timeout
        if request.scope is not None:
            # The timeout of a tool replaces that of its server, whose scope is around the call already.
            request.scope.deadline = anyio.current_time() + self.timeout
            return await call()
        # Not `fail_after`, whose TimeoutError looks like one that the handler raises.
        with anyio.move_on_after(self.timeout) as scope:
            request.scope = scope
            try:
                result = await call()
            except BaseException as exc:
                # The handler answers the cancellation with an error. A declared failure says more than a timeout.
                if scope.cancel_called and not isinstance(exc, CodedError) and not passes_through(exc):
                    raise _timeout_error(request) from exc
                raise
            # A thread that cannot be left, or a handler that ignored the cancellation, ends too late.
            if anyio.current_time() < scope.deadline:
                return result
        raise _timeout_error(request)

    def enter(self, request: Request) -> None:
        """Count a call that begins.

        Raises:
            CodedError: RATE_LIMITED, if as many calls are running as may.
        """
        with self._lock:
            if self._running < (self.max_concurrency or math.inf):
                self._running += 1
                return
        raise own_failure(
            ErrorCode.RATE_LIMITED,
            f"The {self.owner} is busy: {self.max_concurrency} calls are running, and more are not allowed.",
            {"maxConcurrency": self.max_concurrency},
            request.contract,
            reason="too_many_calls",
            recovery="The call did not begin, so nothing was done. Call again after the wait.",
            retry=Retry.after(seconds=self._wait()),
            effects="none",
        )

    def leave(self, duration: float) -> None:
        """Count a call that ended after `duration` seconds."""
        with self._lock:
            self._running -= 1
            mean = duration if self._mean_duration is None else self._mean_duration
            self._mean_duration = mean + (duration - mean) * _WEIGHT

    def reenter(self) -> None:
        """Count a call again whose thread begins after the call was given up."""
        with self._lock:  # pragma: no cover - the microseconds between the start of a thread and its first line
            self._running += 1

    def _wait(self) -> float:
        """Seconds until a place is probably free: the mean duration of a call, in steps of 0.1 s."""
        mean = _FIRST_WAIT if self._mean_duration is None else self._mean_duration
        return min(max(math.ceil(mean * 10) / 10, _MIN_WAIT), _MAX_WAIT)


class Place:
    """The place of a running call. It is free when the call has ended, and the thread that the call may have left."""

    def __init__(self, limits: CallLimits, request: Request) -> None:
        limits.enter(request)
        self._limits = limits
        self._began = time.monotonic()
        self._holders = 1
        self._lock = threading.Lock()

    def hold(self) -> None:
        """Keep the place for a thread, which may outlive its call."""
        with self._lock:
            self._holders += 1
            if self._holders == 1:
                self._limits.reenter()  # pragma: no cover - as there

    def release(self) -> None:
        """Give the place up."""
        with self._lock:
            self._holders -= 1
            if not self._holders:
                self._limits.leave(time.monotonic() - self._began)


def holding_places(request: Request, call: Callable[[], T]) -> Callable[[], T]:
    """`call`, to be run in a thread: it keeps the places of `request` until it ends, also after a timeout."""
    places = request.places

    # The thread itself takes the places: a call that is cancelled while it waits for a thread never begins this.
    def run() -> T:
        for place in places:
            place.hold()
        try:
            return call()
        finally:
            for place in places:
                place.release()

    return run if places else call


def _timeout_error(request: Request) -> CodedError:
    assert request.timeout is not None
    return own_failure(
        ErrorCode.TIMEOUT,
        f"The call took longer than {request.timeout:g} s and was stopped.",
        {"timeoutMs": math.ceil(request.timeout * 1000)},
        request.contract,
        reason="call_timeout",
        recovery=_AFTER_TIMEOUT[request.effects in UNSAFE],
    )


_AFTER_TIMEOUT: Final = {
    True: "Check whether the call took effect; if it did not, ask for less in one call.",
    False: "Ask for less in one call, or make the same call again later.",
}
"""Recoveries after a timeout, by whether another call may do something twice."""


def checked_limits(where: str, owner: str, *, timeout: object, max_concurrency: object) -> CallLimits | None:
    """The limits that a tool or a server declares; None if it declares none.

    Raises:
        ValueError: If a limit is no limit; the message begins with `where`.
    """
    if timeout is None and max_concurrency is None:
        return None
    seconds: float | None = None
    if timeout is not None:
        # `not timeout > 0` also refuses a NaN, which `timeout <= 0` would admit.
        if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not timeout > 0:
            raise ValueError(f"{where}: timeout must be a number of seconds above 0, not {timeout!r}")
        seconds = float(timeout)
    if max_concurrency is not None and (
        isinstance(max_concurrency, bool) or not isinstance(max_concurrency, int) or max_concurrency < 1
    ):
        raise ValueError(f"{where}: max_concurrency must be a number of calls, at least 1, not {max_concurrency!r}")
    return CallLimits(owner, timeout=seconds, max_concurrency=max_concurrency)
