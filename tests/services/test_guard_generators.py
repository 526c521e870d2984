"""Generators under a guard work as usual until they end, and their exceptions are mapped."""

from __future__ import annotations

import contextlib
import inspect
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import anyio
import pytest

from mcpcore import CodedError, ErrorCode, guard, not_found

ENDED: list[str] = []


@guard("Rows.all", errors={KeyError: ErrorCode.NOT_FOUND}, input=lambda last: {"last": last})
def rows(last: str) -> Iterator[Any]:
    """The rows."""
    try:
        sent = yield "first"
        try:
            sent = yield sent
        except LookupError as exc:
            sent = yield type(exc).__name__
        if last == "fail":
            raise KeyError("hunter2")
        return sent
    finally:
        ENDED.append(last)


@guard("Rows.all_async", errors={KeyError: ErrorCode.NOT_FOUND}, input=lambda last: {"last": last})
async def rows_async(last: str) -> AsyncIterator[Any]:
    """The rows."""
    try:
        sent = yield "first"
        try:
            sent = yield sent
        except LookupError as exc:
            sent = yield type(exc).__name__
        if last == "sleep":
            await anyio.sleep(10)
        if last == "fail":
            raise KeyError("hunter2")
    finally:
        ENDED.append(last)


@pytest.fixture(autouse=True)
def _anew() -> None:
    ENDED.clear()


def test_a_generator_is_still_a_generator() -> None:
    """Its name, kind and docstring are kept."""
    assert inspect.isgeneratorfunction(rows)
    assert inspect.isasyncgenfunction(rows_async)
    assert ("rows", "The rows.") == (rows.__name__, rows_async.__doc__)


def test_values_go_in_and_out_and_the_return_value_is_kept() -> None:
    """Sent values and thrown exceptions reach the generator, and no code runs before the first step."""
    steps: Any = rows("fine")
    assert [] == ENDED
    assert ("first", "sent") == (next(steps), steps.send("sent"))
    assert "IndexError" == steps.throw(IndexError())
    with pytest.raises(StopIteration) as end:
        steps.send("last")
    assert ("last", ["fine"]) == (end.value.value, ENDED)
    early: Any = rows("early")
    next(early)
    early.close()
    assert ["fine", "early"] == ENDED


@pytest.mark.anyio
async def test_async_values_go_in_and_out() -> None:
    """An async generator works the same, even if a loop leaves it early."""
    steps: Any = rows_async("fine")
    assert ("first", "sent") == (await anext(steps), await steps.asend("sent"))
    assert "IndexError" == await steps.athrow(IndexError())
    with pytest.raises(StopAsyncIteration):
        await steps.asend("last")
    early: Any = rows_async("early")
    async with contextlib.aclosing(early):
        async for value in early:
            assert "first" == value
            break
    assert ["fine", "early"] == ENDED


def fail_sync() -> None:
    steps: Any = rows("fail")
    next(steps)
    next(steps)
    next(steps)


async def fail_async() -> None:
    async for _ in rows_async("fail"):
        pass


@pytest.mark.parametrize("failing", [fail_sync, fail_async])
def test_an_exception_in_a_generator_is_mapped_and_logged_once(
    failing: Callable[[], Any], caplog: pytest.LogCaptureFixture
) -> None:
    """The exception is the cause, and the log has the generator's arguments."""
    with caplog.at_level(logging.INFO), pytest.raises(CodedError) as raised:
        anyio.run(failing) if inspect.iscoroutinefunction(failing) else failing()
    assert (ErrorCode.NOT_FOUND, KeyError) == (raised.value.code, type(raised.value.__cause__))
    assert ["fail"] == ENDED
    (record,) = caplog.records
    assert '{"operation":"Rows.all' in record.getMessage()
    assert '"input":{"last":"fail"}' in record.getMessage()


@guard("Rows.found")
def vanishing_rows() -> Iterator[str]:
    yield "first"
    raise not_found("gone")


@guard("Rows.found_async")
async def found_async() -> AsyncIterator[str]:
    yield "first"
    raise not_found("gone")


async def fail_with_a_code() -> None:
    async for _ in found_async():
        pass


@pytest.mark.parametrize("failing", [lambda: list(vanishing_rows()), lambda: anyio.run(fail_with_a_code)])
def test_an_error_with_a_code_leaves_a_generator_unchanged(failing: Callable[[], Any]) -> None:
    """It is not wrapped."""
    with pytest.raises(CodedError, match="gone") as raised:
        failing()
    assert (ErrorCode.NOT_FOUND, None) == (raised.value.code, raised.value.__cause__)


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
async def test_cancelling_an_async_generator_is_not_a_failure(caplog: pytest.LogCaptureFixture) -> None:
    """The cancellation propagates, the generator ends, and nothing is logged."""

    with caplog.at_level(logging.INFO, "mcpcore"):
        with anyio.move_on_after(0.05) as scope:
            async for _ in rows_async("sleep"):
                pass
        assert scope.cancelled_caught
    assert (["sleep"], []) == (ENDED, [record for record in caplog.records if record.name.startswith("mcpcore")])


@pytest.mark.anyio
async def test_context_managers_from_generators_are_guarded() -> None:
    """An exception in the block goes through the generator, which may handle it, and is mapped like its own."""

    @contextlib.contextmanager
    @guard("session", errors={OSError: ErrorCode.DATABASE_ERROR})
    def session(*, answers: bool = False) -> Iterator[int]:
        try:
            yield 7
        except OSError:
            if not answers:
                raise

    @contextlib.asynccontextmanager
    @guard("session_async", errors={OSError: ErrorCode.DATABASE_ERROR})
    async def session_async(*, answers: bool = False) -> AsyncIterator[int]:
        try:
            yield 7
        except OSError:
            if not answers:
                raise

    with session(answers=True) as number:
        raise OSError("answered")
    assert 7 == number
    async with session_async(answers=True) as number:
        raise OSError("answered")
    with pytest.raises(CodedError) as raised, session():
        raise OSError("the disk")
    assert ErrorCode.DATABASE_ERROR is raised.value.code
    with pytest.raises(CodedError) as raised:
        async with session_async():
            raise OSError("the disk")
    assert ErrorCode.DATABASE_ERROR is raised.value.code
