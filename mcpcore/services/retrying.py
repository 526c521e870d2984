"""`retrying`, on tenacity: it follows the retry advice of each failure."""

from __future__ import annotations

import contextlib
import copy
import functools
import inspect
import logging
import math
import time
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from mcpcore.contract.bound_fields import hand_on
from mcpcore.contract.codes import Code, Effects, ErrorCode, Retry
from mcpcore.contract.effects import CHANGED, CallState, declared_effects, weakest
from mcpcore.contract.errors import CodedError
from mcpcore.contract.failure_modes import NO_CONTRACT
from mcpcore.services._shared import F, declared, decorated, log_traced
from mcpcore.values.request_var import current
from mcpcore.values.untrusted import is_async
from mcpcore.values.unwrapping import leaves_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

    import tenacity

else:
    try:
        import tenacity
    except ImportError:  # pragma: no cover - the test environment has every extra
        tenacity = None


_SLICE = 0.25
"""Seconds after which a sync wait looks whether its call has been cancelled."""


class Retrying:
    """Made by `retrying(...)`: a decorator, and an iterator of attempts."""

    def __init__(
        self, *, attempts: int, max_wait: float, deadline: float | None, backoff: float, is_safe: bool = False
    ) -> None:
        """Use `retrying(...)` instead, which checks the options."""
        self._attempts = attempts
        self._max_wait = max_wait
        self._deadline = deadline
        self._is_safe = is_safe
        self._jitter = tenacity.wait_exponential_jitter(multiplier=backoff, jitter=backoff, max=max_wait)

    def __call__(self, fn: F) -> F:
        """Retry every call of `fn`, which keeps its signature.

        Raises:
            TypeError: If `fn` is no function, or a generator, which cannot be called again from the middle.
        """
        return decorated(fn, "retrying", self._retrying)

    def _retrying(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        if is_async(fn):

            @functools.wraps(fn)
            async def again_async(*args: Any, **kwargs: Any) -> Any:
                async def once() -> Any:  # tenacity sees a coroutine function in fewer callables
                    return await fn(*args, **kwargs)

                return await self._for_async()(once)

            return again_async

        @functools.wraps(fn)
        def again(*args: Any, **kwargs: Any) -> Any:
            result = self._for_sync()(fn, *args, **kwargs)
            if not inspect.iscoroutine(result):
                return result
            return self._finish(result, functools.partial(fn, *args, **kwargs))

        return again

    async def _finish(self, first: Awaitable[Any], call: Callable[[], Awaitable[Any]]) -> Any:
        """Retry what a plain function began by making a coroutine."""
        begun = [first]

        async def once() -> Any:
            return await (begun.pop() if begun else call())

        return await self._for_async()(once)

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
        if not isinstance(exc, Exception):
            return False
        if advice_for(exc).retryable and effects_of(exc, is_safe=self._is_safe) not in CHANGED:
            return True
        # tenacity raises a failure that is not retried as it is, without the number of attempts.
        if state.attempt_number > 1:
            _give_up(state)
        return False

    def _wait(self, state: tenacity.RetryCallState) -> float:
        exc = _failure(state)
        advised = 0.0 if exc is None else advice_for(exc).seconds or 0.0
        return advised if advised > 0 else float(self._jitter(state))

    def _stop(self, state: tenacity.RetryCallState) -> bool:
        wait = state.upcoming_sleep
        late = self._deadline is not None and (state.seconds_since_start or 0.0) + wait > self._deadline
        return state.attempt_number >= self._attempts or wait > self._max_wait or late


def advice_for(exc: BaseException) -> Retry:
    """The retry advice in force for an exception: what the contract of the running tool says of its reason first."""
    from mcpcore.classification import explain

    speaker = _speaker(exc)
    if speaker is None:
        return explain(exc).retry
    if speaker.retry is None and speaker.entry is None and speaker.reason is not None:
        entry = declared(speaker.reason)
        # An entry's advice that is merely its code's says nothing about the code that was raised instead.
        if entry is not None and entry.retry is not None:
            return entry.retry
    return speaker.advice


def effects_of(exc: BaseException, *, is_safe: bool = False) -> Effects | None:
    """The effects of a failure of the running tool; of a group, the weakest.

    With `is_safe`, the author says of the operation that repeating it does no harm, and the annotations of the tool do
    not count.
    """
    if isinstance(exc, BaseExceptionGroup):
        return weakest(effects_of(leaf, is_safe=is_safe) for leaf in leaves_of(exc))
    if not isinstance(exc, CodedError):
        return None if is_safe else _of_call(ErrorCode.INTERNAL_ERROR, crashed=True)
    request = current.get()
    effects = declared_effects(exc, None if request is None else request.contract)
    return effects if effects is not None or is_safe else _of_call(exc.code, crashed=False)


def _of_call(code: Code, *, crashed: bool) -> Effects | None:
    """The effects of a failure that declares none, by the annotations of the running tool.

    Whoever wrote `retrying` knows the operation, so the defaults of MCP for annotations that are left out do not count.
    """
    request = current.get()
    if request is None or request.effects == "unstated":
        return None
    return CallState(request.effects).effects_of(code, is_open=crashed)


def _speaker(exc: BaseException) -> CodedError | None:
    """The coded error that speaks for `exc`: itself, or of a group the one that the boundary would tell."""
    if isinstance(exc, BaseExceptionGroup):
        from mcpcore.boundary.mapper import select_failure

        request = current.get()
        exc = select_failure(exc, NO_CONTRACT if request is None else request.contract)
    return exc if isinstance(exc, CodedError) else None


def _failure(state: tenacity.RetryCallState) -> BaseException | None:
    return None if state.outcome is None else state.outcome.exception()


def _give_up(state: tenacity.RetryCallState) -> NoReturn:
    """Raise the last failure, which tells how many attempts were made."""
    exc = _failure(state)
    assert exc is not None
    attempts = state.attempt_number
    speaker = _speaker(exc)
    if speaker is None:
        from mcpcore.classification import explain

        explained = explain(exc)
        failure = CodedError(explained.code, None, {"attempts": attempts}, effects=effects_of(exc)).with_found_advice(
            explained.retry
        )
        hand_on(exc, failure)
        # A coded error was meant, and the boundary logs no traceback of it; this was not.
        log_traced(logging.ERROR, exc, "gave up after %d attempts", attempts)
        raise failure from exc
    failure = _counted(speaker, attempts)
    if speaker is not exc:
        if (effects := effects_of(exc)) in CHANGED:
            failure.effects = effects
        hand_on(exc, failure)
        raise failure from exc
    raise failure


def _counted(exc: CodedError, attempts: int) -> CodedError:
    """A copy of `exc` with the attempts in its data: one that is raised in many calls must not gather them."""
    try:
        counted = copy.copy(exc)
    except Exception:  # noqa: BLE001 - a subclass may refuse to be copied
        counted = exc
    try:
        counted.data = {**(exc.data or {}), "attempts": attempts}
    except Exception:  # noqa: BLE001 - a mapping's own code may raise
        counted.data = {"attempts": attempts}
    if counted is not exc:
        counted.__traceback__, counted.__context__ = exc.__traceback__, exc.__context__
        counted.__cause__, counted.__suppress_context__ = exc.__cause__, exc.__suppress_context__
    return counted


def _sleep(seconds: float) -> None:
    """Sleep in a thread; in a worker thread whose call is cancelled, raise what that raises."""
    import anyio.from_thread

    until = time.monotonic() + seconds
    while True:
        with contextlib.suppress(RuntimeError, anyio.NoEventLoopError):  # not in a worker thread: nobody can cancel
            anyio.from_thread.check_cancelled()
        left = until - time.monotonic()
        if left <= 0:
            return
        time.sleep(min(left, _SLICE))


def retrying(
    *,
    attempts: int = 3,
    max_wait: float = 30.0,
    deadline: float | None = 60.0,
    backoff: float = 0.2,
    effects: Literal["none"] | None = None,
) -> Retrying:
    """Call again what fails and is worth it: as the failure's own `retry` says, no sooner and no longer.

    A decorator of sync and async functions, and an iterator of attempts:

    ```python
    @retrying(attempts=4)
    async def fetch(pmid: str) -> Article: ...

    async for attempt in retrying():
        with attempt:
            found = await client.get(url)
    ```

    The advice decides: `CodedError.advice`, or that of `explain` for any other exception. A Retry-After is waited for
    in full. The last failure has the number of attempts in `data`. Cancellation passes through immediately.

    A call that may have changed something is not repeated. Its failure declares the effects "partial" or "unknown", or
    its tool has `read_only_hint=False` and `idempotent_hint=False` and ends in a timeout, an unavailable service or an
    exception that nobody declared.

    Args:
        attempts: How many calls are made at most.
        max_wait: Seconds; a failure that asks to wait longer is given up, not asked again too soon.
        deadline: Seconds from the first call after which no other is begun, waits included; None for no limit.
        backoff: Seconds to wait after a failure that may be retried immediately; doubled each time, with jitter.
        effects: "none" if repeating the operation does no harm: it only reads, or has an idempotency key. Then the
            annotations of the tool do not count. Effects declared on the failure still do.

    Raises:
        ValueError: If an option is out of range.
        ImportError: If tenacity, the extra `mcpcore[retry]`, is not installed.
    """
    if isinstance(attempts, bool) or not isinstance(attempts, int) or attempts < 1:
        raise ValueError(f"retrying(attempts=...) must be an int of at least 1, not {attempts!r}")
    for name, value in (("max_wait", max_wait), ("deadline", deadline), ("backoff", backoff)):
        if value is not None and (not math.isfinite(value) or value < 0):
            raise ValueError(f"retrying({name}=...) must be a number of seconds from 0 up, not {value!r}")
    if effects is not None and effects != "none":
        raise ValueError(
            f"retrying(effects=...) must be 'none', for an operation that is safe to repeat, or None, not {effects!r}"
        )
    if tenacity is None:  # pragma: no cover - the test environment has every extra
        raise ImportError("retrying needs tenacity: install mcpcore[retry]")
    return Retrying(attempts=attempts, max_wait=max_wait, deadline=deadline, backoff=backoff, is_safe=effects == "none")
