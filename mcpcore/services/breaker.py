"""`CircuitBreaker`: stops calling a service that fails, and says when the next call is worth making.

A service that is down is called again by every request, and each of them waits for it. After a number of failures in a
row, the breaker refuses calls immediately instead. After a while it lets a single call through as a trial: if the trial
succeeds, the circuit closes; if it fails, the wait begins again.

The libraries for this do not fit. pybreaker holds a lock during each call, and its async calls need Tornado. aiobreaker
and purgatory let every call through while half-open, read the wall clock, and keep the sync and the async callers of a
service apart. All of them count every exception that they are not told to leave out. Here, the code of a failure
decides.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import logging
import threading
import time
from collections.abc import Callable, Collection, Coroutine
from contextvars import ContextVar
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Literal, Self

from mcpcore.contract.codes import MAX_AFTER_MS, Code, ErrorCode, Retry, is_code
from mcpcore.contract.errors import CodedError
from mcpcore.services._shared import LOGGER, F, decorated
from mcpcore.values.untrusted import is_async
from mcpcore.values.unwrapping import is_a, leaves_of

State = Literal["closed", "open", "half_open"]

_Outcome = Literal["failed", "answered", "unknown"]
"""What a call says about the service."""

FAILURE_CODES: Final[tuple[Code, ...]] = (ErrorCode.SERVICE_UNAVAILABLE, ErrorCode.TIMEOUT)
"""The codes that count as failures of the service by default."""

_DURING_TRIAL: Final = 1.0
"""Seconds to wait while a trial runs, at most. It may end at any time, and asking again costs little."""

_ROUNDING: Final = 1e-6
"""Seconds. A caller that waits exactly as long as advised must not be refused because of a rounding error."""


@dataclass(slots=True, eq=False)
class _Block:
    """A call that is running.

    The period is None for a block within another block of the same breaker, since only the outer one counts, and after
    the end of the block: a task that was started in it may live on, with a copy of the context.
    """

    breaker: CircuitBreaker
    period: int | None


_entered: Final[ContextVar[tuple[_Block, ...]]] = ContextVar("mcpcore_breaker_blocks", default=())
"""The blocks that are running, the innermost last."""


class CircuitOpenError(CodedError):
    """A call was refused without calling the service; `retry` is the time until the next try.

    In a tool that declares it, raise the declared failure instead: `raise ctx.fail("down", retry=exc.retry) from exc`.
    """


class CircuitBreaker:
    """Refuses calls of a service after several failures in a row, until a trial succeeds.

    Works as `with`, as `async with` and as a decorator of functions and methods, sync and async. One breaker serves all
    callers of a service, in any threads and tasks, on asyncio and trio:

    ```python
    payments = CircuitBreaker("payments", failures=3, reset_after=10)

    @payments
    async def charge(amount: int) -> None:
        response = await client.post("/charges", json={"amount": amount})
        if response.is_error:
            raise from_http_response(response, service="payments")
    ```

    The code of an exception, as `classify` gives it, decides what it means:

    - A code in `codes` is a failure of the service.
    - A code of the category "server", such as INTERNAL_ERROR for a bug, says nothing about the service. Neither does a
      cancellation, so a timeout belongs inside the block, where it is a `TimeoutError`. Without one, a trial that hangs
      keeps the circuit half-open.
    - With any other code, such as NOT_FOUND or RATE_LIMITED, the service answered. That counts as a success.

    A group counts as a failure if one of its exceptions does.

    A refused call raises `CircuitOpenError` with the code SERVICE_UNAVAILABLE and the time until the next try as its
    retry advice. The breaker does not know what the tool did before, so the failure says nothing about effects.

    A block within another block of the same breaker belongs to that call: it is not refused and not counted.
    """

    def __init__(
        self,
        service: str,
        *,
        failures: int = 5,
        reset_after: float = 30.0,
        codes: Collection[Code] = FAILURE_CODES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Create a closed circuit.

        Args:
            service: The name of the service, for messages and the log.
            failures: The number of failures in a row that opens the circuit.
            reset_after: Seconds from the last failure until a trial.
            codes: The codes that count as failures of the service.
            clock: Returns the time in seconds; a clock that never goes back.

        Raises:
            TypeError: If `service` is not a text, or `codes` has something else than codes.
            ValueError: If `failures` or `reset_after` is out of range.
        """
        if not isinstance(service, str):
            raise TypeError(f"CircuitBreaker takes the name of the service, not {type(service).__name__}")
        if isinstance(failures, bool) or not isinstance(failures, int) or failures < 1:
            raise ValueError(f"CircuitBreaker(failures=...) must be an int of at least 1, not {failures!r}")
        is_number = isinstance(reset_after, int | float) and not isinstance(reset_after, bool)
        if not is_number or not 0 < reset_after * 1000 <= MAX_AFTER_MS:
            raise ValueError(
                f"CircuitBreaker(reset_after=...) must be a number of seconds above 0, not {reset_after!r}"
            )
        for code in codes:
            if not is_code(code):
                raise TypeError(f"CircuitBreaker(codes=...) has codes, such as ErrorCode.TIMEOUT, not {code!r}")
        self.service = service
        self._limit = failures
        self._reset_after = reset_after
        self._codes = frozenset(codes)
        self._clock = clock
        self._lock = threading.Lock()
        self._state: State = "closed"
        self._failures = 0
        self._trial_at = 0.0
        """When a trial may begin, while the circuit is open."""

        self._period = 0
        """Counts the changes of state. A call that began in an earlier period says nothing about this one."""

    @property
    def state(self) -> State:
        """The state: "half_open" means that a trial may begin or is running, "open" that it is too early for one."""
        with self._lock:
            return "half_open" if self._state == "open" and not self._wait() else self._state

    @property
    def retry_after(self) -> float:
        """Seconds until a call may be let through; 0.0 if it may be now."""
        with self._lock:
            return self._wait()

    def __enter__(self) -> Self:
        """Begin a call.

        Raises:
            CircuitOpenError: If the circuit is open, or a trial is running.
        """
        blocks = _entered.get()
        # A block of an earlier period counts no more, so that calls in it are let through or refused like new ones.
        is_inner = any(block.breaker is self and block.period == self._period for block in blocks)
        _entered.set((*blocks, _Block(self, None if is_inner else self._begin())))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Count the outcome of a call."""
        self._leave(self._outcome_of(exc))

    async def __aenter__(self) -> Self:
        """Begin a call.

        Raises:
            CircuitOpenError: If the circuit is open, or a trial is running.
        """
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Count the outcome of a call."""
        self._leave(self._outcome_of(exc))

    def __call__(self, fn: F) -> F:
        """Guard every call of `fn`, which keeps its signature.

        Raises:
            TypeError: If `fn` is no function, or a generator.
        """
        return decorated(fn, "CircuitBreaker", self._guarding)

    def _guarding(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        if is_async(fn):

            @functools.wraps(fn)
            async def call_async(*args: Any, **kwargs: Any) -> Any:
                with self:
                    return await fn(*args, **kwargs)

            return call_async

        async def finish(running: Coroutine[Any, Any, Any]) -> Any:
            # A refused call never awaits the coroutine, which Python would warn about.
            with contextlib.closing(running), self:
                return await running

        @functools.wraps(fn)
        def call(*args: Any, **kwargs: Any) -> Any:
            self.__enter__()
            try:
                result = fn(*args, **kwargs)
            except BaseException as exc:
                self._leave(self._outcome_of(exc))
                raise
            # A plain function that makes a coroutine has not called the service yet.
            is_begun = inspect.iscoroutine(result)
            self._leave("unknown" if is_begun else "answered")
            return finish(result) if is_begun else result

        return call

    def _begin(self) -> int:
        """Let a call through, and return its period."""
        with self._lock:
            wait = self._wait()
            is_trial = not wait and self._state == "open"
            if is_trial:
                self._change("half_open")
            period, failures, is_tried = self._period, self._failures, self._state == "half_open"
        if is_trial:
            self._log("half_open", failures)
        if not wait:
            return period
        retry = Retry.after(seconds=wait)
        why = "another call is trying it" if is_tried else f"its last {failures} calls failed"
        if failures == 1 and not is_tried:
            why = "its last call failed"
        raise CircuitOpenError(
            ErrorCode.SERVICE_UNAVAILABLE,
            f"{self.service} is not called now: {why}. The next try is in {retry.seconds:g} s.",
            {"service": self.service, "retryAfter": retry.seconds},
        ).with_found_advice(retry)

    def _leave(self, outcome: _Outcome) -> None:
        """End the innermost block of this breaker."""
        blocks = _entered.get()
        # A block that was entered in another context, as in a fixture, is not found. A trial must end all the same.
        period: int | None = self._period
        for at in reversed(range(len(blocks))):
            block = blocks[at]
            if block.breaker is self:
                period, block.period = block.period, None
                _entered.set(blocks[:at] + blocks[at + 1 :])
                break
        with self._lock:
            before = self._state
            if period == self._period:
                self._count(outcome, is_trial=before == "half_open")
            after, failures = self._state, self._failures
        if before != after:
            self._log(after, failures)

    def _count(self, outcome: _Outcome, *, is_trial: bool) -> None:
        """Count an outcome, under the lock."""
        if outcome == "failed":
            self._failures += 1
            if is_trial or self._failures >= self._limit:
                self._trial_at = self._clock() + self._reset_after
                self._change("open")
        elif outcome == "answered":
            self._failures = 0
            if is_trial:
                self._change("closed")
        elif is_trial:  # the next call is a trial again
            self._change("open")

    def _outcome_of(self, exc: BaseException | None) -> _Outcome:
        if exc is None:
            return "answered"
        outcomes = {self._outcome_of_leaf(leaf) for leaf in leaves_of(exc)}
        if "failed" in outcomes:
            return "failed"
        return "answered" if outcomes == {"answered"} else "unknown"

    def _outcome_of_leaf(self, exc: BaseException) -> _Outcome:
        # Another breaker refused, so its service was not called, which says nothing about this service.
        if not is_a(exc, Exception) or is_a(exc, CircuitOpenError):
            return "unknown"
        from mcpcore.classification import classify

        code = classify(exc)
        if code in self._codes:
            return "failed"
        return "unknown" if code.category == "server" else "answered"

    def _wait(self) -> float:
        """Seconds until a call may be let through, under the lock."""
        if self._state == "closed":
            return 0.0
        if self._state == "half_open":
            return min(self._reset_after, _DURING_TRIAL)
        wait = self._trial_at - self._clock()
        return wait if wait > _ROUNDING else 0.0

    def _change(self, state: State) -> None:
        """Begin a period, under the lock."""
        self._state = state
        self._period += 1

    def _log(self, state: State, failures: int) -> None:
        """Log a change, outside the lock: a handler of the log may call the service itself."""
        level = logging.WARNING if state == "open" else logging.INFO
        LOGGER.log(level, "the circuit to %s is %s; failures in a row: %d", self.service, state, failures)
