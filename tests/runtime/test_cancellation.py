"""A cancelled call is not a failure: its handler ends, no task remains, and the answer is immediate."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.to_thread
import pytest
from mcp import Client

from mcpcore import Server, tool
from mcpcore.boundary.request import Request
from mcpcore.sdk.handlers import in_thread
from mcpcore.values.unwrapping import passes_through

pytestmark = pytest.mark.usefixtures("door")

REQUEST: Any = Request(lambda: pytest.fail("no context is needed"))


@asynccontextmanager
async def client_of(server: Server[Any], era: str) -> AsyncIterator[Client]:
    async with Client(server, mode=era) as client:
        yield client


@pytest.mark.anyio
async def test_cancelling_a_call_cancels_its_async_handler(era: str, caplog: pytest.LogCaptureFixture) -> None:
    """The handler sees the cancellation, no task remains, the server keeps running, and no failure is recorded."""
    events: list[str] = []
    started = None

    @tool
    async def wait() -> None:
        events.append("started")
        assert started is not None
        started.set()
        try:
            await anyio.sleep(60)
        except BaseException as exc:
            events.append(type(exc).__name__)
            raise

    @tool
    def ping() -> str:
        return "pong"

    started = anyio.Event()
    async with client_of(Server("s", tools=[wait, ping]), era) as client:
        await client.call_tool("ping", {})
        before = len(asyncio.all_tasks())
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "wait", {})
            await started.wait()
            group.cancel_scope.cancel()
        for _ in range(100):
            if len(events) == 2:
                break
            await anyio.sleep(0.01)
        assert ["started", "CancelledError"] == events
        for _ in range(100):
            if len(asyncio.all_tasks()) == before:
                break
            await anyio.sleep(0.01)
        assert before == len(asyncio.all_tasks())
        assert not (await client.call_tool("ping", {})).is_error
    assert "failed" not in caplog.text


@pytest.mark.anyio
async def test_a_cancelled_sync_handler_is_answered_immediately(era: str) -> None:
    """Its thread runs on until the handler ends."""
    release, ended, started = threading.Event(), threading.Event(), threading.Event()

    @tool
    def block() -> None:
        started.set()
        release.wait(10)
        ended.set()

    async with client_of(Server("s", tools=[block]), era) as client:
        begun = time.monotonic()
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "block", {})
            while not started.is_set():  # noqa: ASYNC110 - a thread sets it
                await anyio.sleep(0.005)
            group.cancel_scope.cancel()
        assert time.monotonic() - begun < 5
        assert not ended.is_set()
        release.set()
        assert await anyio.to_thread.run_sync(ended.wait, 5)


@pytest.mark.no_server
@pytest.mark.anyio
@pytest.mark.parametrize("kind", [StopIteration, SystemExit, ValueError, asyncio.CancelledError])
async def test_a_thread_passes_on_any_exception(kind: type[BaseException]) -> None:
    """This includes exceptions that a future or a coroutine cannot carry, such as StopIteration."""

    def fail() -> None:
        raise kind("x")

    with pytest.raises(RuntimeError if kind is StopIteration else kind) as raised:
        await in_thread(fail, fail, REQUEST)
    assert isinstance(raised.value.__cause__ or raised.value, kind)


@pytest.mark.anyio
@pytest.mark.no_server
async def test_a_thread_that_outlives_its_loop_ends_quietly() -> None:
    """Its slot disappeared with the loop."""
    release, ended = threading.Event(), threading.Event()

    def block() -> None:
        release.wait(10)
        ended.set()

    with anyio.move_on_after(0.05):
        await in_thread(block, block, REQUEST)
    release.set()
    assert ended.wait(5)


@pytest.mark.anyio
async def test_a_stray_cancellation_is_a_failure(era: str) -> None:
    """The handler awaited a task that was cancelled, but the call itself was not."""

    @tool
    async def stray() -> None:
        task = asyncio.create_task(asyncio.sleep(60))
        task.cancel()
        await task

    async with client_of(Server("s", tools=[stray]), era) as client:
        assert "REQUEST_CANCELLED" == (await client.call_tool("stray", {})).structured_content["error"]["name"]


@pytest.mark.no_server
@pytest.mark.anyio
async def test_exceptions_that_propagate_during_cancellation() -> None:
    """A cancellation and a group of cancellations propagate; a group that contains a failure is a failure."""
    cancelled = asyncio.CancelledError()
    assert not passes_through(cancelled)
    with anyio.CancelScope() as scope:  # noqa: ASYNC100 - cancelled by hand
        scope.cancel()
        assert passes_through(cancelled)
        assert passes_through(BaseExceptionGroup("g", [cancelled, BaseExceptionGroup("h", [cancelled])]))
        assert not passes_through(BaseExceptionGroup("g", [cancelled, ValueError()]))
        assert not passes_through(ValueError())

    async def natively() -> bool:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError as exc:
            return passes_through(exc)
        return False

    task = asyncio.create_task(natively())
    await asyncio.sleep(0)
    task.cancel()
    assert await task


@pytest.mark.anyio
async def test_a_timeout_inside_a_handler_belongs_to_the_handler(era: str) -> None:
    """`fail_after` raises TimeoutError, which becomes a failure; after `move_on_after` the handler continues."""

    @tool
    async def slow(fail: bool) -> str:
        if fail:
            with anyio.fail_after(0.01):
                await anyio.sleep(60)
        with anyio.move_on_after(0.01):
            await anyio.sleep(60)
        return "went on"

    async with client_of(Server("s", tools=[slow]), era) as client:
        assert "TIMEOUT" == (await client.call_tool("slow", {"fail": True})).structured_content["error"]["name"]
        assert {"result": "went on"} == (await client.call_tool("slow", {"fail": False})).structured_content


def test_calls_work_and_cancel_under_trio(era: str) -> None:
    """This runs if trio is installed."""
    pytest.importorskip("trio")
    events: list[str] = []

    @tool
    async def wait(fail: bool) -> None:
        if fail:
            raise KeyError
        events.append("started")
        try:
            await anyio.sleep(60)
        except BaseException as exc:
            events.append(type(exc).__name__)
            raise

    @tool
    def ping() -> str:
        return "pong"

    async def run() -> None:
        async with client_of(Server("s", tools=[wait, ping]), era) as client:
            assert not (await client.call_tool("ping", {})).is_error
            assert (await client.call_tool("wait", {"fail": True})).is_error
            with anyio.move_on_after(0.2):
                await client.call_tool("wait", {"fail": False})
            await anyio.sleep(0.05)
            assert ["started", "Cancelled"] == events

    anyio.run(run, backend="trio")
