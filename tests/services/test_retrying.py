"""`retrying` follows the failure's own advice, and retries no sooner and no longer."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any, Literal

import anyio
import anyio.lowlevel
import pytest
from mcp.client import Client
from mcp_types import ToolAnnotations

from mcpcore import (
    CodedError,
    Context,
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
from tests.answers import envelope_of


def failing(times: int, make: Callable[[], Exception]) -> tuple[list[float], Callable[[], str]]:
    """Return a function that fails a number of times, and the times of its calls."""
    calls: list[float] = []

    def act() -> str:
        calls.append(time.monotonic())
        if len(calls) <= times:
            raise make()
        return "done"

    return calls, act


def test_a_retryable_failure_is_tried_again_until_it_succeeds() -> None:
    """Two timeouts are followed by the result."""
    calls, act = failing(2, timeout)
    assert ("done", 3) == (retrying(backoff=0.001)(act)(), len(calls))


def test_giving_up_reports_the_number_of_attempts() -> None:
    """The last failure is raised with `attempts` in its data."""
    calls, act = failing(9, lambda: timeout("slow", {"host": "a"}))
    with pytest.raises(CodedError) as caught:
        retrying(attempts=3, backoff=0.001)(act)()
    assert (3, {"host": "a", "attempts": 3}) == (len(calls), caught.value.data)


def test_giving_up_on_a_plain_exception_gives_it_its_code() -> None:
    """An exception without data becomes a coded error with data, and is its cause."""
    calls, act = failing(9, TimeoutError)
    with pytest.raises(CodedError) as caught:
        retrying(attempts=2, backoff=0.001, max_wait=9)(act)()
    assert (2, ErrorCode.TIMEOUT, {"attempts": 2}) == (len(calls), caught.value.code, caught.value.data)
    assert isinstance(caught.value.__cause__, TimeoutError)


def test_a_failure_that_is_not_retryable_is_tried_once() -> None:
    """A conflict, and a failure whose throw site says never, are raised immediately."""
    for make in (conflict, lambda: timeout(retry=Retry.never()), lambda: KeyError("x")):
        calls, act = failing(9, make)
        with pytest.raises((CodedError, KeyError)) as caught:
            retrying(backoff=0.001)(act)()
        assert 1 == len(calls)
        assert not getattr(caught.value, "data", None)


def test_the_requested_wait_is_kept() -> None:
    """A Retry-After of 0.15 s is waited for in full."""
    calls, act = failing(1, lambda: service_unavailable(retry=Retry.after(seconds=0.15)))
    retrying()(act)()
    assert 0.15 <= calls[1] - calls[0] < 1


def test_a_wait_beyond_the_cap_or_the_deadline_gives_up_immediately() -> None:
    """There is no early retry, and no sleep past the deadline."""
    for options in ({"max_wait": 1.0}, {"deadline": 1.0}):
        calls, act = failing(1, lambda: service_unavailable(retry=Retry.after(seconds=5)))
        began = time.monotonic()
        with pytest.raises(CodedError) as caught:
            retrying(**options)(act)()  # type: ignore[arg-type]
        assert (1, {"attempts": 1}) == (len(calls), caught.value.data)
        assert time.monotonic() - began < 1


@pytest.mark.anyio
async def test_async_functions_and_both_iterators() -> None:
    """The decorator and `for`/`async for` behave the same."""
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
    """An async wait ends immediately, and a sync wait in a worker thread ends soon after."""
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


@pytest.mark.usefixtures("door")
@pytest.mark.anyio
async def test_a_reason_declared_as_not_retryable_is_not_retried() -> None:
    """A service raises a declared reason without advice, and the contract of the running tool says never."""
    calls, act = failing(9, lambda: timeout("late", reason="closed"))

    @tool(errors=[FailureMode("closed", ErrorCode.TIMEOUT, when="Closed.", recovery="Come back.", retry=Retry.never())])
    async def visit(ctx: Context[Literal["closed"]]) -> str:
        return retrying(backoff=0.001)(act)()

    async with Client(Server("shop", tools=[visit])) as client:
        envelope = envelope_of(await client.call_tool("visit", {}))
    assert (1, False) == (len(calls), envelope.retryable)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        *(
            (options, "retrying")
            for options in ({"attempts": 0}, {"attempts": 1.5}, {"max_wait": -1}, {"deadline": float("nan")})
        ),
        # The option says only that repeating is safe.
        *(
            ({"effects": value}, r"retrying\(effects=\.\.\.\) must be 'none'")
            for value in ("partial", "unknown", "", True, 0)
        ),
    ],
)
def test_impossible_options_are_refused(options: dict[str, Any], says: str) -> None:
    """The decorator raises a clear error."""
    with pytest.raises(ValueError, match=says):
        retrying(**options)


def test_a_generator_is_refused() -> None:
    """A generator cannot be restarted in the middle."""

    def generator() -> Any:
        yield 1

    with pytest.raises(TypeError, match="generator"):
        retrying()(generator)


def test_attempts_are_reported_if_another_failure_ends_them() -> None:
    """A non-retryable failure after a retryable one has the number of attempts, coded or not."""
    for last in (conflict("taken", {"id": 1}), KeyError("x")):
        left: list[Exception] = [timeout(), last]
        with pytest.raises(CodedError) as caught:
            retrying(backoff=0.001)(throw_next)(left)
        assert 2 == (caught.value.data or {})["attempts"]
        assert last is caught.value.__cause__ or "taken" == caught.value.message


def throw_next(left: list[Exception]) -> None:
    raise left.pop(0)


def test_a_reused_exception_collects_no_attempts() -> None:
    """A copy with its cause, reason and traceback is raised, and the original is unchanged."""
    late = timeout("late", {"host": "a"}, reason="late")
    late.__cause__ = OSError("why")
    calls, act = failing(9, lambda: late)
    for attempts in (3, 2):
        with pytest.raises(CodedError) as caught:
            retrying(attempts=attempts, backoff=0.001)(act)()
        assert {"host": "a", "attempts": attempts} == caught.value.data
        assert ("late", late.__cause__) == (caught.value.reason, caught.value.__cause__)
        assert caught.value.__traceback__ is not None
    assert {"host": "a"} == late.data
    assert 5 == len(calls)


class StubbornError(CodedError):
    """Cannot be copied."""

    def __copy__(self) -> CodedError:
        raise RuntimeError


class BrokenData(dict[str, Any]):
    """A mapping whose own code raises."""

    def __iter__(self) -> Any:
        raise RuntimeError

    def keys(self) -> Any:
        raise RuntimeError


def test_a_failure_that_cannot_be_copied_or_read_still_has_the_attempts() -> None:
    """If necessary, the data has only the attempts."""
    _, act = failing(9, lambda: StubbornError(ErrorCode.TIMEOUT, "late", {"a": 1}))
    with pytest.raises(StubbornError) as stubborn:
        retrying(attempts=2, backoff=0)(act)()
    assert {"a": 1, "attempts": 2} == stubborn.value.data
    _, act = failing(9, lambda: timeout("late", BrokenData(a=1)))
    with pytest.raises(CodedError) as broken:
        retrying(attempts=2, backoff=0)(act)()
    assert {"attempts": 2} == broken.value.data


def test_a_group_is_retried_like_its_main_failure() -> None:
    """A group of timeouts is retried, one with an intended conflict is not, and giving up raises the inner failure."""
    calls, act = failing(1, lambda: ExceptionGroup("g", [TimeoutError(), TimeoutError()]))
    assert "done" == retrying(backoff=0.001)(act)()
    calls, act = failing(9, lambda: ExceptionGroup("g", [conflict("taken"), TimeoutError()]))
    with pytest.raises(ExceptionGroup):
        retrying(backoff=0.001)(act)()
    assert 1 == len(calls)
    _, act = failing(9, lambda: ExceptionGroup("g", [timeout("late", reason="late"), OSError()]))
    with pytest.raises(CodedError) as caught:
        retrying(attempts=2, backoff=0.001)(act)()
    assert ("late", {"attempts": 2}) == (caught.value.reason, caught.value.data)
    assert isinstance(caught.value.__cause__, ExceptionGroup)


class Service:
    """Callables of every kind; each fails once."""

    def __init__(self) -> None:
        self.calls, self.act = failing(1, timeout)

    @retrying(backoff=0.001)
    def method(self) -> str:
        return self.act()

    @retrying(backoff=0.001)
    @staticmethod
    def static(service: Service) -> str:
        return service.act()

    @retrying(backoff=0.001)
    @classmethod
    def over_class(cls, service: Service) -> str:
        return service.act()

    async def __call__(self) -> str:
        await anyio.lowlevel.checkpoint()
        return self.act()


@pytest.mark.anyio
async def test_callables_of_every_kind_are_retried() -> None:
    """These are methods of all kinds, objects, partials and plain functions that return coroutines."""
    assert "done" == Service().method()
    assert "done" == Service.static(Service())
    assert "done" == Service.over_class(Service())
    made = Service()
    for fn in (Service(), functools.partial(Service()), lambda: made()):  # noqa: PLW0108
        assert "done" == await retrying(backoff=0.001)(fn)()


@pytest.mark.anyio
async def test_one_decorated_function_serves_concurrent_calls() -> None:
    """Each call counts its own attempts."""

    @retrying(attempts=4, backoff=0.001)
    async def act(left: list[int]) -> int:
        left.append(1)
        await anyio.lowlevel.checkpoint()
        if len(left) < 3:
            raise timeout()
        return len(left)

    results: list[int] = []

    async def call_once() -> None:
        results.append(await act([]))

    async with anyio.create_task_group() as group:
        for _ in range(20):
            group.start_soon(call_once)
    assert [3] * 20 == results


def test_a_backoff_beyond_the_cap_is_cut_to_it() -> None:
    """The cap bounds what is waited on our own account; only a wait that was asked for gives up."""
    calls, act = failing(1, timeout)
    assert ("done", 2) == (retrying(backoff=9, max_wait=0.01)(act)(), len(calls))


@pytest.mark.anyio
async def test_a_thread_without_waits_is_cancelled_too() -> None:
    """With no backoff at all, a call that nobody waits for any more ends at its next attempt."""
    _, act = failing(10**9, timeout)
    began = time.monotonic()
    with anyio.move_on_after(0.1) as scope:
        await anyio.to_thread.run_sync(retrying(attempts=10**9, deadline=None, backoff=0)(act))
    assert scope.cancelled_caught
    assert time.monotonic() - began < 5


@pytest.mark.anyio
async def test_exits_and_stop_iteration_pass() -> None:
    """What is no `Exception` is never retried, nor what a generator would choke on."""
    for kind in (KeyboardInterrupt, SystemExit, StopIteration):
        calls, act = failing(9, kind)  # type: ignore[arg-type]
        with pytest.raises(kind):
            retrying(backoff=0.001)(act)()
        assert 1 == len(calls)


@pytest.mark.usefixtures("door")
@pytest.mark.anyio
async def test_what_a_contract_declares_retryable_is_retried() -> None:
    """A conflict that the running tool's contract calls retryable; an entry that says nothing leaves it to the code."""
    calls, act = failing(1, lambda: conflict("locked", data={"reason": "locked"}))
    others, other = failing(1, lambda: timeout("slow", reason="slow"))

    @tool(
        errors=[
            FailureMode("locked", ErrorCode.CONFLICT, when="Locked.", recovery="Wait a bit.", retry=Retry.now()),
            FailureMode("slow", ErrorCode.TIMEOUT, when="Slow.", recovery="Ask for less."),
        ]
    )
    async def visit(ctx: Context[Literal["locked", "slow"]]) -> str:
        again = retrying(backoff=0.001)
        return again(act)() + again(other)()

    async with Client(Server("shop", tools=[visit])) as client:
        assert not (await client.call_tool("visit", {})).is_error
    assert (2, 2) == (len(calls), len(others))


# --- effects ----------------------------------------------------------------------------------------------------------

SENDS = ToolAnnotations(read_only_hint=False, idempotent_hint=False)


def entry(reason: str, effects: Any = None, **options: Any) -> FailureMode[Any]:
    return FailureMode(reason, ErrorCode.TIMEOUT, when="It ended.", recovery="Look at it.", effects=effects, **options)


ENTRIES = [
    entry("silent"),
    entry("nothing", "none"),
    entry("half", "partial", retry=Retry.now()),
    entry("lost", "unknown", retry=Retry.now()),
    entry("never", "none", retry=Retry.never()),
]


def raised(how: str) -> Exception:
    match how:
        case "crash":
            return TimeoutError("late")  # its advice has no delay, so the test is fast
        case "coded":
            return service_unavailable(retry=Retry.now())
        case "here":
            return timeout(effects="partial", retry=Retry.now())
        case "conflict":
            return conflict(retry=Retry.now())
        case "group":
            return ExceptionGroup("g", [timeout(reason="nothing"), ConnectionRefusedError("no")])
    return timeout(reason=how)


@pytest.mark.anyio
@pytest.mark.parametrize("is_sync", [True, False], ids=["sync", "async"])
@pytest.mark.usefixtures("door")
@pytest.mark.parametrize(
    ("how", "option", "in_any_tool", "in_a_tool_that_sends"),
    [
        ("crash", None, 3, 1),
        ("coded", None, 3, 1),
        ("silent", None, 3, 1),
        ("nothing", None, 3, 3),
        ("conflict", None, 3, 3),
        ("half", None, 1, 1),
        ("lost", None, 1, 1),
        ("here", None, 1, 1),
        ("never", None, 1, 1),
        ("group", None, 3, 1),
        ("crash", "none", 3, 3),
        ("coded", "none", 3, 3),
        ("silent", "none", 3, 3),
        ("group", "none", 3, 3),
        ("lost", "none", 1, 1),
        ("here", "none", 1, 1),
        ("never", "none", 1, 1),
    ],
)
async def test_what_may_have_taken_effect_is_not_repeated(
    how: str, option: Any, in_any_tool: int, in_a_tool_that_sends: int, is_sync: bool
) -> None:
    """Unless the author says that repeating it does no harm; and that forces no retry that the advice forbids."""
    calls: list[str] = []
    retried = retrying(backoff=0.001, effects=option)

    @retried
    def operation() -> str:
        calls.append("call")
        raise raised(how)

    @retried
    async def async_operation() -> str:
        return operation.__wrapped__()  # type: ignore[attr-defined,no-any-return]

    @tool(errors=ENTRIES)
    def sync_handler(ctx: Context[Any]) -> str:
        """Do it."""
        return operation()

    @tool(errors=ENTRIES)
    async def async_handler(ctx: Context[Any]) -> str:
        """Do it."""
        return await async_operation()

    handler = sync_handler if is_sync else async_handler
    for hints, expected in ((None, in_any_tool), (SENDS, in_a_tool_that_sends)):
        calls.clear()
        async with Client(Server("s", tools=[handler.with_options(annotations=hints)])) as client:
            envelope = envelope_of(await client.call_tool(handler.name, {}))
        assert expected == len(calls)
        if hints is SENDS and how in ("crash", "silent", "group"):
            assert ("unknown", Retry.never()) == (envelope.effects, envelope.retry)


@pytest.mark.usefixtures("door")
@pytest.mark.anyio
async def test_an_operation_of_a_plain_tool_is_not_repeated_either() -> None:
    """The annotations of a tool without a contract count as well."""
    server: Server[Any] = Server("s")
    calls: list[str] = []

    @server.tool(annotations=SENDS)
    def plain() -> str:
        """Send."""

        @retrying(backoff=0.001)
        def operation() -> str:
            calls.append("call")
            raise timeout()

        return operation()

    async with Client(server) as client:
        await client.call_tool("plain", {})
    assert 1 == len(calls)
