"""`retrying`, on tenacity: what is retried and how long is waited for is the failure's own advice."""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from mcpcore.errors import CodedError

try:
    import tenacity
except ImportError as exc:  # pragma: no cover - the test environment has every extra
    raise ImportError("retrying needs tenacity: install mcpcore[retry]") from exc

if TYPE_CHECKING:
    from mcpcore.retry import Retry

P = ParamSpec("P")
T = TypeVar("T")

_SLICE = 0.25
"""Seconds after which a sync wait looks whether its call has been cancelled."""


class Retrying:
    """Made by `retrying(...)`: a decorator, and an iterator of attempts."""

    def __init__(self, *, attempts: int, max_wait: float, deadline: float | None, backoff: float) -> None:
        """Use `retrying(...)` instead, which checks the options."""
        self._attempts = attempts
        self._max_wait = max_wait
        self._deadline = deadline
        self._jitter = tenacity.wait_exponential_jitter(multiplier=backoff, jitter=backoff, max=max(max_wait, backoff))

    def __call__(self, fn: Callable[P, T]) -> Callable[P, T]:
        """Retry every call of `fn`.

        Raises:
            TypeError: If `fn` is a generator, which cannot be called again from the middle.
        """
        if inspect.isgeneratorfunction(fn) or inspect.isasyncgenfunction(fn):
            raise TypeError(f"retrying cannot decorate the generator {fn.__qualname__}")
        if inspect.iscoroutinefunction(fn):

            @functools.wraps(fn)
            async def again_async(*args: P.args, **kwargs: P.kwargs) -> Any:
                return await self._for_async()(fn, *args, **kwargs)

            return cast("Callable[P, T]", again_async)

        @functools.wraps(fn)
        def again(*args: P.args, **kwargs: P.kwargs) -> T:
            return self._for_sync()(fn, *args, **kwargs)

        return again

    def __iter__(self) -> Iterator[tenacity.AttemptManager]:
        return iter(self._for_sync())

    def __aiter__(self) -> AsyncIterator[tenacity.AttemptManager]:
        return self._for_async().__aiter__()

    def _for_sync(self) -> tenacity.Retrying:
        return tenacity.Retrying(sleep=_sleep, **self._options())

    def _for_async(self) -> tenacity.AsyncRetrying:
        import anyio

        return tenacity.AsyncRetrying(sleep=anyio.sleep, **self._options())

    def _options(self) -> dict[str, Any]:
        return {
            "retry": self._worth_it,
            "wait": self._wait,
            "stop": self._stop,
            "retry_error_callback": _give_up,
            "reraise": True,
        }

    def _worth_it(self, state: tenacity.RetryCallState) -> bool:
        exc = _failure(state)
        if exc is None:
            return False
        if isinstance(exc, Exception) and advice_for(exc).retryable:
            return True
        if isinstance(exc, CodedError) and state.attempt_number > 1:
            _count(exc, state.attempt_number)
        return False

    def _wait(self, state: tenacity.RetryCallState) -> float:
        exc = _failure(state)
        asked = 0.0 if exc is None else advice_for(exc).seconds or 0.0
        return asked if asked > 0 else float(self._jitter(state))

    def _stop(self, state: tenacity.RetryCallState) -> bool:
        wait = state.upcoming_sleep
        late = self._deadline is not None and (state.seconds_since_start or 0.0) + wait > self._deadline
        return state.attempt_number >= self._attempts or wait > self._max_wait or late


def advice_for(exc: BaseException) -> Retry:
    """The retry advice in force for an exception: what the contract of the running tool says of its reason first."""
    from mcpcore.classify import explain

    if not isinstance(exc, CodedError):
        return explain(exc).retry
    if exc.retry is None and exc.entry is None and exc.reason is not None:
        from mcpcore.context import current

        request = current.get()
        entry = None if request is None else request.contract.get(exc.reason)
        if entry is not None:
            return entry.advice
    return exc.advice


def _failure(state: tenacity.RetryCallState) -> BaseException | None:
    return None if state.outcome is None else state.outcome.exception()


def _give_up(state: tenacity.RetryCallState) -> Any:
    """Raise the last failure, which tells how many attempts were made."""
    exc = _failure(state)
    assert exc is not None
    if isinstance(exc, CodedError):
        _count(exc, state.attempt_number)
        raise exc
    from mcpcore.classify import explain

    explained = explain(exc)
    raise CodedError(explained.code, None, {"attempts": state.attempt_number}, retry=explained.retry) from exc


def _count(exc: CodedError, attempts: int) -> None:
    exc.data = {**(exc.data if isinstance(exc.data, Mapping) else {}), "attempts": attempts}


def _sleep(seconds: float) -> None:
    """Sleep in a thread; in a worker thread whose call is cancelled, raise what that raises."""
    import anyio.from_thread

    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        time.sleep(min(left, _SLICE))
        try:
            anyio.from_thread.check_cancelled()
        except (RuntimeError, anyio.NoEventLoopError):
            continue  # not in a worker thread: nobody can cancel
