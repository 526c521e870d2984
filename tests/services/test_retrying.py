"""`retrying` does what the failure's own advice says, no sooner and no longer."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Literal

import anyio
import pytest
from mcp.client import Client

from mcpcore import (
    CodedError,
    Context,
    Envelope,
    ErrorCode,
    FailureMode,
    Retry,
    Server,
    conflict,
    retrying,
    service_unavailable,
    timeout,
    tool,
)


def failing(times: int, make: Callable[[], Exception]) -> tuple[list[float], Callable[[], str]]:
    """A function that fails some times, and the times at which it was called."""
    calls: list[float] = []

    def act() -> str:
        calls.append(time.monotonic())
        if len(calls) <= times:
            raise make()
        return "done"

    return calls, act


def test_a_retryable_failure_is_tried_again_until_it_succeeds() -> None:
    """Two timeouts, then the result."""
    calls, act = failing(2, timeout)
    assert ("done", 3) == (retrying(backoff=0.001)(act)(), len(calls))


def test_giving_up_tells_how_many_attempts_were_made() -> None:
    """The last failure is raised as it is, with `attempts` in its data."""
    calls, act = failing(9, lambda: timeout("slow", {"host": "a"}))
    with pytest.raises(CodedError) as caught:
        retrying(attempts=3, backoff=0.001)(act)()
    assert (3, {"host": "a", "attempts": 3}) == (len(calls), caught.value.data)


def test_giving_up_on_a_plain_exception_gives_it_its_code() -> None:
    """An exception without data becomes a coded error that has it, with the exception as its cause."""
    _, act = failing(9, ConnectionResetError)
    with pytest.raises(CodedError) as caught:
        retrying(attempts=2, backoff=0.001, max_wait=9)(lambda: (_ for _ in ()).throw(TimeoutError()))()
    assert (ErrorCode.TIMEOUT, {"attempts": 2}) == (caught.value.code, caught.value.data)
    assert isinstance(caught.value.__cause__, TimeoutError)


def test_what_is_not_retryable_is_tried_once() -> None:
    """A conflict, and a failure whose throw site says never, are raised at once as they are."""
    for make in (conflict, lambda: timeout(retry=Retry.never()), lambda: KeyError("x")):
        calls, act = failing(9, make)
        with pytest.raises((CodedError, KeyError)) as caught:
            retrying(backoff=0.001)(act)()
        assert 1 == len(calls)
        assert not getattr(caught.value, "data", None)


def test_the_wait_that_is_asked_for_is_kept() -> None:
    """A Retry-After of 0.15 s is waited for in full."""
    calls, act = failing(1, lambda: service_unavailable(retry=Retry.after(seconds=0.15)))
    retrying()(act)()
    assert 0.15 <= calls[1] - calls[0] < 1


def test_a_wait_beyond_the_cap_or_the_deadline_gives_up_at_once() -> None:
    """Nothing is asked again too soon, and nobody sleeps past the deadline."""
    for options in ({"max_wait": 1.0}, {"deadline": 1.0}):
        calls, act = failing(1, lambda: service_unavailable(retry=Retry.after(seconds=5)))
        began = time.monotonic()
        with pytest.raises(CodedError) as caught:
            retrying(**options)(act)()  # type: ignore[arg-type]
        assert (1, {"attempts": 1}) == (len(calls), caught.value.data)
        assert time.monotonic() - began < 1


@pytest.mark.anyio
async def test_async_functions_and_both_iterators() -> None:
    """The decorator and `for`/`async for` do the same."""
    calls, act = failing(2, timeout)

    @retrying(backoff=0.001)
    async def decorated() -> str:
        return act()

    assert "done" == await decorated()
    calls, act = failing(2, timeout)
    async for attempt in retrying(backoff=0.001):
        with attempt:
            act()
    assert 3 == len(calls)
    calls, act = failing(1, timeout)
    for attempt in retrying(backoff=0.001):
        with attempt:
            act()
    assert 2 == len(calls)


@pytest.mark.anyio
async def test_cancelling_ends_the_wait() -> None:
    """An async wait is cancelled at once; a sync one in a worker thread soon after."""
    calls, act = failing(9, lambda: timeout(retry=Retry.after(seconds=20)))
    with anyio.move_on_after(0.1) as scope:

        @retrying()
        async def wait() -> None:
            act()

        await wait()
    assert (True, 1) == (scope.cancelled_caught, len(calls))
    began = time.monotonic()
    with anyio.move_on_after(0.1):
        await anyio.to_thread.run_sync(retrying()(act))
    assert time.monotonic() - began < 5


@pytest.mark.anyio
async def test_what_the_contract_declares_not_retryable_is_not_retried() -> None:
    """A service raises a declared reason without advice of its own; the contract of the running tool says never."""
    calls, act = failing(9, lambda: timeout("late", reason="closed"))

    @tool(errors=[FailureMode("closed", ErrorCode.TIMEOUT, when="Closed.", recovery="Come back.", retry=Retry.never())])
    async def visit(ctx: Context[Literal["closed"]]) -> str:
        return retrying(backoff=0.001)(act)()

    async with Client(Server("shop", tools=[visit])) as client:
        told = Envelope.from_result(await client.call_tool("visit", {}))
    assert told is not None
    assert (1, False) == (len(calls), told.retryable)


@pytest.mark.parametrize("options", [{"attempts": 0}, {"attempts": 1.5}, {"max_wait": -1}, {"deadline": float("nan")}])
def test_impossible_options_are_refused(options: dict[str, Any]) -> None:
    """A clear error where the decorator is made."""
    with pytest.raises(ValueError, match="retrying"):
        retrying(**options)


def test_a_generator_is_refused() -> None:
    """It cannot be called again from the middle."""

    def generator() -> Any:
        yield 1

    with pytest.raises(TypeError, match="generator"):
        retrying()(generator)
