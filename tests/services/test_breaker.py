"""A circuit breaker refuses calls of a service that fails, says until when, and lets one trial through."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import math
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

import anyio
import anyio.lowlevel
import httpx
import pytest
from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from mcp_types import ToolAnnotations

from mcpcore import (
    CodedError,
    Context,
    Envelope,
    ErrorCode,
    FailureMode,
    Retry,
    Server,
    from_http_response,
    not_found,
    rate_limited,
    retrying,
    service_unavailable,
    timeout,
    tool,
)
from mcpcore.services.breaker import CircuitBreaker, CircuitOpenError

BACKENDS = pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def _nested(depth: int) -> Exception:
    """A bug in many groups."""
    group: Exception = ExceptionGroup("inner", [KeyError("a bug")])
    for _ in range(depth):
        group = ExceptionGroup("outer", [group])
    return group


@pytest.fixture
def clock() -> Clock:
    return Clock()


def fail(breaker: CircuitBreaker, make: Callable[[], BaseException] = service_unavailable) -> None:
    """Make a call that fails."""
    with pytest.raises(BaseException) as caught, breaker:
        raise make()
    assert not isinstance(caught.value, CircuitOpenError), caught.value


def fail_in(breaker: CircuitBreaker) -> None:
    with breaker:
        raise timeout()


def opened(clock: Clock, *, reset_after: float = 10) -> CircuitBreaker:
    breaker = CircuitBreaker("payments", failures=2, reset_after=reset_after, clock=clock)
    fail(breaker)
    fail(breaker)
    assert "open" == breaker.state
    return breaker


@pytest.fixture
def breaker(clock: Clock) -> CircuitBreaker:
    return opened(clock)


def test_an_open_circuit_refuses_calls_and_says_until_when(breaker: CircuitBreaker, clock: Clock) -> None:
    """After two failures in a row, the third call is not made; the failure has the time until the next try."""
    clock.now += 2.5
    with pytest.raises(CircuitOpenError) as caught, breaker:
        pytest.fail("the service was called")
    error = caught.value
    assert (ErrorCode.SERVICE_UNAVAILABLE, Retry.after(seconds=7.5)) == (error.code, error.retry)
    assert {"service": "payments", "retryAfter": 7.5} == error.data
    assert "payments is not called now: its last 2 calls failed. The next try is in 7.5 s." == error.message
    assert 7.5 == breaker.retry_after


def test_calls_during_a_trial_are_refused(clock: Clock) -> None:
    """The advice is to ask again soon, since the trial may end at any time."""
    for reset_after, wait in ((10, 1), (0.25, 0.25)):
        breaker = opened(clock, reset_after=reset_after)
        clock.now += 10
        with breaker:
            other = contextvars.Context()
            with pytest.raises(CircuitOpenError, match="another call is trying it") as caught:
                other.run(breaker.__enter__)
            assert (Retry.after(seconds=wait), wait) == (caught.value.retry, breaker.retry_after)


@pytest.mark.parametrize(
    "make",
    [
        service_unavailable,
        timeout,
        TimeoutError,
        ConnectionResetError,
        lambda: httpx.ConnectTimeout("slow"),
        lambda: from_http_response(httpx.Response(500)),
        lambda: from_http_response(httpx.Response(504)),
        lambda: ExceptionGroup("two", [KeyError("a"), ConnectionRefusedError()]),
    ],
)
def test_failures_of_the_service_count(clock: Clock, make: Callable[[], Exception]) -> None:
    """The code decides, of coded errors, of exceptions of any library, and of groups."""
    breaker = CircuitBreaker("payments", failures=1, clock=clock)
    fail(breaker, make)
    assert "open" == breaker.state


@pytest.mark.parametrize(
    "make",
    [not_found, rate_limited, *(lambda s=s: from_http_response(httpx.Response(s)) for s in (400, 402, 404, 429))],
)
def test_errors_of_the_caller_count_as_answers(clock: Clock, make: Callable[[], Exception]) -> None:
    """They reset the count, and as a trial they close the circuit: the service answered."""
    breaker = CircuitBreaker("payments", failures=2, clock=clock)
    fail(breaker)
    fail(breaker, make)
    fail(breaker)
    assert "closed" == breaker.state
    fail(breaker)
    clock.now += 30
    fail(breaker, make)
    assert "closed" == breaker.state


@pytest.mark.parametrize(
    "make",
    [
        lambda: KeyError("a bug"),
        KeyboardInterrupt,
        asyncio.CancelledError,
        lambda: CircuitOpenError(ErrorCode.SERVICE_UNAVAILABLE),
        lambda: BaseExceptionGroup("two", [asyncio.CancelledError(), not_found()]),
        lambda: ExceptionGroup("deep", [_nested(2_000)]),
    ],
)
def test_bugs_and_cancellations_say_nothing_about_the_service(clock: Clock, make: Callable[[], BaseException]) -> None:
    """They neither count nor reset the count; after such a trial, the next call is the trial."""
    breaker = CircuitBreaker("payments", failures=2, clock=clock)
    fail(breaker)
    with pytest.raises(BaseException), breaker:  # noqa: B017
        raise make()
    fail(breaker)
    assert "open" == breaker.state
    clock.now += 30
    with pytest.raises(BaseException), breaker:  # noqa: B017
        raise make()
    assert ("half_open", 0.0) == (breaker.state, breaker.retry_after)
    with breaker:
        pass
    assert "closed" == breaker.state


def test_other_codes_can_count(clock: Clock) -> None:
    """`codes` replaces the codes that count."""
    breaker = CircuitBreaker("store", failures=1, codes=[ErrorCode.DATABASE_ERROR], clock=clock)
    fail(breaker, timeout)
    assert "closed" == breaker.state
    fail(breaker, lambda: CodedError(ErrorCode.DATABASE_ERROR))
    assert "open" == breaker.state


def test_calls_that_began_before_a_change_do_not_count_after_it(clock: Clock) -> None:
    """A slow call from before neither closes an open circuit nor ends the trial of another call."""
    breaker = CircuitBreaker("payments", failures=2, clock=clock)
    slow = [contextvars.copy_context() for _ in range(3)]
    for call in slow:
        call.run(breaker.__enter__)
    fail(breaker)
    fail(breaker)
    slow[0].run(breaker.__exit__, None, None, None)
    assert ("open", 30.0) == (breaker.state, breaker.retry_after)
    clock.now += 10
    late = timeout()
    slow[1].run(breaker.__exit__, type(late), late, None)
    assert 20.0 == breaker.retry_after
    clock.now += 20
    with breaker:
        slow[2].run(breaker.__exit__, None, None, None)
        assert ("half_open", 1.0) == (breaker.state, breaker.retry_after)


def test_a_block_within_a_block_belongs_to_the_same_call(clock: Clock) -> None:
    """A failure of both counts once, and the trial of the outer block may call guarded functions."""
    breaker = CircuitBreaker("payments", failures=2, reset_after=5, clock=clock)

    @breaker
    def look_up(*, works: bool) -> str:
        if not works:
            raise timeout()
        return "found"

    def charge(*, works: bool) -> str:
        with breaker:
            return look_up(works=works)

    with pytest.raises(CodedError):
        charge(works=False)
    assert "closed" == breaker.state
    with pytest.raises(CodedError):
        charge(works=False)
    assert "open" == breaker.state
    clock.now += 5
    assert ("found", "closed") == (charge(works=True), breaker.state)


def test_a_task_that_outlives_its_block_counts_alone(clock: Clock) -> None:
    """A worker that was started within a call is not a part of that call for ever."""
    breaker = CircuitBreaker("payments", failures=1, clock=clock)
    with breaker:
        worker = contextvars.copy_context()
        with pytest.raises(CodedError):
            worker.run(fail_in, breaker)
        assert "closed" == breaker.state
    with pytest.raises(CodedError):
        worker.run(fail_in, breaker)
    assert "open" == breaker.state


def test_a_refusal_can_be_given_up_by_retrying(breaker: CircuitBreaker) -> None:
    """It keeps its advice and its data."""
    with pytest.raises(CircuitOpenError) as caught:
        retrying(attempts=1)(breaker(lambda: None))()
    assert Retry.after(seconds=10) == caught.value.advice
    assert {"service": "payments", "retryAfter": 10.0, "attempts": 1} == caught.value.data


def test_a_block_that_ends_in_another_context_ends_its_trial(breaker: CircuitBreaker, clock: Clock) -> None:
    """As fixtures and dependencies of frameworks do, which enter in one task and leave in another."""
    clock.now += 10
    contextvars.copy_context().run(breaker.__enter__)
    breaker.__exit__(None, None, None)
    assert "closed" == breaker.state


def test_blocks_may_end_in_any_order(clock: Clock) -> None:
    """Blocks of two breakers that generators hold open end as the generators do."""
    first, second = (CircuitBreaker(name, failures=1, clock=clock) for name in ("a", "b"))
    first.__enter__()
    second.__enter__()
    late = timeout()
    first.__exit__(type(late), late, None)
    assert ("open", "closed") == (first.state, second.state)
    second.__exit__(type(late), late, None)
    assert "open" == second.state


def test_two_breakers_in_one_call_count_apart(clock: Clock) -> None:
    """A refusal of the inner service is not a failure of the outer one."""
    outer, inner = CircuitBreaker("desk", failures=1, clock=clock), opened(clock)
    with pytest.raises(CircuitOpenError), outer, inner:
        pass
    assert "closed" == outer.state


@BACKENDS
@pytest.mark.anyio
async def test_async_blocks_and_functions(clock: Clock) -> None:
    """`async with`, async functions, and plain functions that return a coroutine."""
    breaker = CircuitBreaker("payments", failures=3, clock=clock)

    async def charge() -> str:
        await anyio.lowlevel.checkpoint()
        raise TimeoutError

    def begun() -> Any:
        return charge()

    with pytest.raises(TimeoutError):
        async with breaker:
            await charge()
    for guarded in (breaker(charge), breaker(begun)):
        with pytest.raises(TimeoutError):
            await guarded()
    assert "open" == breaker.state
    refused = breaker(charge)()
    with pytest.raises(CircuitOpenError):
        await refused
    with pytest.raises(CircuitOpenError):
        breaker(begun)()
    with pytest.raises(CircuitOpenError):
        async with breaker:
            pytest.fail("the service was called")


@BACKENDS
@pytest.mark.anyio
async def test_a_coroutine_is_refused_if_the_circuit_opened_before_it_ran(clock: Clock) -> None:
    """It is closed, so that Python does not warn that it never ran."""
    breaker = CircuitBreaker("payments", failures=1, clock=clock)

    async def charge() -> str:
        return "charged"

    @breaker
    def begun() -> Any:
        return charge()

    waiting = begun()
    fail(breaker)
    with pytest.raises(CircuitOpenError):
        await waiting
    clock.now += 30
    assert ("charged", "closed") == (await begun(), breaker.state)


@BACKENDS
@pytest.mark.anyio
async def test_a_cancelled_trial_lets_the_next_one_through(breaker: CircuitBreaker, clock: Clock) -> None:
    """The cancellation passes, and the circuit does not stay half-open for ever."""
    clock.now += 10
    with anyio.move_on_after(0.01) as scope:
        async with breaker:
            await anyio.sleep_forever()
    assert scope.cancelled_caught
    assert 0.0 == breaker.retry_after
    async with breaker:
        pass
    assert "closed" == breaker.state


@BACKENDS
@pytest.mark.anyio
async def test_one_trial_among_many_tasks(breaker: CircuitBreaker, clock: Clock) -> None:
    """Of a hundred concurrent tasks, one reaches the service."""
    clock.now += 10
    reached, refused = [], []

    async def attempt(number: int) -> None:
        try:
            async with breaker:
                reached.append(number)
                await anyio.sleep(0.01)
        except CircuitOpenError:
            refused.append(number)

    async with anyio.create_task_group() as tasks:
        for number in range(100):
            tasks.start_soon(attempt, number)
    assert (1, 99, "closed") == (len(reached), len(refused), breaker.state)


def test_one_trial_among_many_threads(breaker: CircuitBreaker, clock: Clock) -> None:
    """In each of 50 rounds, one of 8 concurrent threads reaches the service, which fails again."""
    lock, reached = threading.Lock(), []

    def attempt(number: int, gate: threading.Barrier) -> None:
        gate.wait()
        try:
            with breaker:
                with lock:
                    reached.append(number)
                done.wait(5)
                raise timeout()
        except CircuitOpenError:
            if refused.release() is None and len(reached) == number + 1 and refused._value == 7:
                done.set()
        except CodedError:
            pass

    with ThreadPoolExecutor(8) as pool:
        for number in range(50):
            clock.now += 10
            done, refused, gate = threading.Event(), threading.Semaphore(0), threading.Barrier(8)
            for outcome in [pool.submit(attempt, number, gate) for _ in range(8)]:
                outcome.result()
    assert list(range(50)) == reached


class Calls(RuleBasedStateMachine):
    """Calls of many callers that begin and end in any order, while time passes."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.breaker = CircuitBreaker("payments", failures=3, reset_after=7.3, clock=self.clock)
        self.running: list[tuple[contextvars.Context, bool]] = []
        self.was_refused = False

    @rule()
    def begin(self) -> None:
        """A call is let through exactly if no time is left to wait."""
        is_trial = self.breaker.state == "half_open"
        wait = self.breaker.retry_after
        call = contextvars.Context()
        if not wait:
            call.run(self.breaker.__enter__)
            self.running.append((call, is_trial))
            return
        with pytest.raises(CircuitOpenError) as refused:
            call.run(self.breaker.__enter__)
        # Sent in whole milliseconds, rounded up.
        assert -1e-6 <= refused.value.advice.seconds - wait <= 0.001

    @precondition(lambda self: self.running)
    @rule(
        which=st.integers(min_value=0),
        outcome=st.sampled_from([None, timeout, service_unavailable, not_found, KeyError, asyncio.CancelledError]),
    )
    def end(self, which: int, outcome: Callable[[], BaseException] | None) -> None:
        """One of the running calls ends; a trial decides what comes next."""
        call, is_trial = self.running.pop(which % len(self.running))
        exc = outcome() if outcome is not None else None
        call.run(self.breaker.__exit__, None if exc is None else type(exc), exc, None)
        if is_trial:
            expected = {None: "closed", not_found: "closed", timeout: "open", service_unavailable: "open"}
            assert expected.get(outcome, "half_open") == self.breaker.state

    @rule(seconds=st.floats(min_value=0, max_value=9))
    def wait(self, seconds: float) -> None:
        """Time passes."""
        self.clock.now += seconds

    @precondition(lambda self: self.breaker.state == "open")
    @rule(part=st.floats(min_value=0, max_value=0.99))
    def wait_as_told(self, part: float) -> None:
        """Before the advised time, calls are refused; after exactly that time, a call is let through."""
        with pytest.raises(CircuitOpenError) as refused, self.breaker:
            pass
        advice = refused.value.retry
        assert advice is not None
        assert advice.seconds is not None
        began = self.clock.now
        self.clock.now += part * (advice.seconds - 0.001)
        assert self.breaker.retry_after > 0
        self.clock.now = began + advice.seconds
        assert 0.0 == self.breaker.retry_after
        self.begin()
        assert self.running[-1][1]

    @invariant()
    def one_trial_at_most(self) -> None:
        """Trials never run side by side."""
        assert sum(is_trial for _, is_trial in self.running) <= 1


Calls.TestCase.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
TestCalls = Calls.TestCase


def test_a_changed_circuit_is_logged(clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    """Opening is a warning; and a handler of the log may use the breaker."""
    states: list[str] = []

    class Asks(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            states.append(breaker.state)

    logger, handler = logging.getLogger("mcpcore.services"), Asks()
    logger.addHandler(handler)
    try:
        with caplog.at_level(logging.INFO, "mcpcore.services"):
            breaker = CircuitBreaker("payments", failures=1, clock=clock)
            fail(breaker)
            clock.now += 30
            with breaker:
                pass
    finally:
        logger.removeHandler(handler)
    assert [
        ("WARNING", "the circuit to payments is open; failures in a row: 1"),
        ("INFO", "the circuit to payments is half_open; failures in a row: 1"),
        ("INFO", "the circuit to payments is closed; failures in a row: 0"),
    ] == [(record.levelname, record.getMessage()) for record in caplog.records]
    assert ["open", "half_open", "closed"] == states


def test_methods_and_sync_failures(clock: Clock) -> None:
    """A decorated function keeps its name, and works under `staticmethod`."""
    breaker = CircuitBreaker("payments", failures=1, clock=clock)

    class Desk:
        @breaker
        @staticmethod
        def charge() -> None:
            raise ConnectionRefusedError

        @breaker
        def look_up(self) -> int:
            """Look up."""
            return 7

    assert (7, "look_up", "Look up.") == (Desk().look_up(), Desk.look_up.__name__, Desk.look_up.__doc__)
    with pytest.raises(ConnectionRefusedError):
        Desk.charge()
    with pytest.raises(CircuitOpenError):
        Desk().look_up()


def test_retrying_waits_for_the_trial(clock: Clock) -> None:
    """`retrying` above the breaker follows the time of the refusal."""
    breaker = CircuitBreaker("payments", failures=1, reset_after=0.1)
    calls: list[str] = []

    @retrying(attempts=3)
    @breaker
    def charge() -> str:
        calls.append("called")
        if len(calls) == 1:
            raise service_unavailable(retry=Retry.now())
        return "charged"

    with pytest.raises(CodedError), breaker:
        raise timeout()
    calls.append("called")
    assert ("charged", 2) == (charge(), len(calls))


DOWN = FailureMode(
    "payments_down",
    ErrorCode.SERVICE_UNAVAILABLE,
    when="The payment service is down.",
    recovery="Wait for the time of the retry advice, then make the same call again.",
    effects="none",
)


@pytest.mark.usefixtures("door")
def test_a_tool_declares_the_refusal(call: Callable[..., Any], breaker: CircuitBreaker) -> None:
    """The declared failure has the time and the effects; an undeclared one in an unsafe tool advises no retry."""
    unsafe = ToolAnnotations(read_only_hint=False, idempotent_hint=False)

    @tool(errors=[DOWN], annotations=unsafe)
    def declares(ctx: Context[Literal["payments_down"]]) -> str:
        """Charge."""
        try:
            with breaker:
                return "charged"
        except CircuitOpenError as exc:
            raise ctx.fail("payments_down", retry=exc.retry) from exc

    @tool(annotations=unsafe)
    def undeclared() -> str:
        """Charge."""
        with breaker:
            return "charged"

    @tool(read_only=True)
    def reads() -> str:
        """Look up."""
        with breaker:
            return "found"

    server = Server("desk", tools=[declares, undeclared, reads])
    envelopes = [Envelope.from_result(call(server, name)) for name in ("declares", "undeclared", "reads")]
    assert [
        ("payments_down", "none", Retry.after(seconds=10)),
        (None, "unknown", Retry.never()),
        (None, "none", Retry.after(seconds=10)),
    ] == [(envelope.reason, envelope.effects, envelope.retry) for envelope in envelopes if envelope is not None]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"failures": 0}, "failures=...) must be an int of at least 1"),
        ({"failures": True}, "failures=...) must be an int"),
        ({"failures": 1.5}, "failures=...) must be an int"),
        ({"reset_after": 0}, "reset_after=...) must be a number of seconds above 0"),
        ({"reset_after": True}, "reset_after=...) must be"),
        ({"reset_after": "9"}, "reset_after=...) must be"),
        ({"reset_after": math.nan}, "reset_after=...) must be"),
        ({"reset_after": math.inf}, "reset_after=...) must be"),
        ({"reset_after": 1e300}, "reset_after=...) must be"),
        ({"codes": ["TIMEOUT"]}, "codes=...) has codes"),
    ],
)
def test_options_out_of_range(options: dict[str, Any], message: str) -> None:
    """The message names the option."""
    with pytest.raises((ValueError, TypeError)) as caught:
        CircuitBreaker("payments", **options)
    assert message in str(caught.value)


def test_what_a_breaker_cannot_guard() -> None:
    """Generators run after the call; and the service needs a name."""

    def steps() -> Any:
        yield 1

    with pytest.raises(TypeError, match="cannot decorate the generator"):
        CircuitBreaker("payments")(steps)
    with pytest.raises(TypeError, match="takes the name of the service, not function"):
        CircuitBreaker(steps)  # type: ignore[arg-type]
