"""A sync handler that hangs takes threads from no other, on either framework, and its own calls are refused in time."""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import anyio.to_thread
import pytest
from mcp import Client

from mcpcore import Server, tool
from mcpcore.sdk import handlers as sdk_handlers
from tests.answers import envelope_of

pytestmark = pytest.mark.usefixtures("door")


class Odd:
    """A handler without a hash, to which there is no weak reference."""

    __slots__ = ("fn",)
    __hash__ = None  # type: ignore[assignment]
    __name__ = "odd"

    def __init__(self, fn: Callable[[], object]) -> None:
        self.fn = fn

    def __call__(self) -> str:
        return str(self.fn())


@asynccontextmanager
async def serving(kind: str, seconds: float | None = None, **handlers: Callable[[], object]) -> AsyncIterator[Any]:
    """A client of a server whose tools are `handlers`; with four threads for each of them."""
    anyio.to_thread.current_default_thread_limiter().total_tokens = 4
    server = Server("s", timeout=seconds)
    for name, handler in handlers.items():
        if kind == "plain":
            server.add_tool(handler, name=name, structured_output=False)
        else:
            server.add_tool(tool(name=name)(handler))
    async with Client(server) as client:
        yield lambda name: client.call_tool(name, {})


def hanging() -> tuple[Callable[[], str], threading.Event, list[int]]:
    """A handler that waits, the event that ends it, and a list that grows with each run."""
    release = threading.Event()
    ran: list[int] = []

    def hang() -> str:
        ran.append(1)
        release.wait(30)
        return "ended"

    return hang, release, ran


def failure(result: Any) -> tuple[str, str | None, str | None]:
    envelope = envelope_of(result)
    return envelope.name, envelope.reason, envelope.effects


KINDS = pytest.mark.parametrize("kind", ["declared", pytest.param("plain", marks=pytest.mark.server_only)])
REFUSED = ("RATE_LIMITED", "too_many_calls", "none")


@pytest.mark.anyio
@KINDS
async def test_calls_that_hang_leave_the_threads_of_others(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """More calls of one tool than there are threads: some run, the others are refused after a while."""
    monkeypatch.setattr(sdk_handlers, "MAX_WAIT", 0.1)
    hang, release, _ = hanging()
    results: list[Any] = []
    async with serving(kind, hang=hang, well=Odd(lambda: "well"), other=Odd(lambda: "other")) as call:

        async def collect() -> None:
            results.append(await call("hang"))

        async with anyio.create_task_group() as group:
            for _ in range(6):
                group.start_soon(collect)
            with anyio.fail_after(20):
                while len(results) < 2:  # noqa: ASYNC110 - the calls end by themselves
                    await anyio.sleep(0.01)
            assert "well" == (await call("well")).content[0].text
            assert "other" == (await call("other")).content[0].text
            assert [REFUSED, REFUSED] == [failure(result) for result in results]
            assert "4" in results[0].content[0].text
            release.set()
        assert ["ended"] * 4 == [result.content[0].text for result in results[2:]]
        assert "ended" == (await call("hang")).content[0].text


@pytest.mark.anyio
@KINDS
async def test_threads_that_were_left_are_bounded(kind: str) -> None:
    """Once all threads of a tool run for callers that have gone, it refuses immediately, until one of them ends."""
    hang, release, ran = hanging()
    async with serving(kind, 0.3, hang=hang, well=Odd(lambda: "well")) as call:
        for _ in range(4):
            assert "TIMEOUT" == failure(await call("hang"))[0]
        began = time.monotonic()
        assert REFUSED == failure(await call("hang"))
        assert time.monotonic() - began < sdk_handlers.MAX_WAIT / 2
        assert 4 == len(ran)
        assert "well" == (await call("well")).content[0].text
        release.set()
        with anyio.fail_after(20):
            while failure_or_text(await call("hang")) != "ended":  # noqa: ASYNC110 - a thread ends
                await anyio.sleep(0.01)


def failure_or_text(result: Any) -> object:
    return failure(result) if result.is_error else result.content[0].text


@pytest.mark.anyio
@KINDS
async def test_a_call_that_waits_for_a_thread_may_end(kind: str) -> None:
    """It takes no thread then, and its handler never runs."""
    hang, release, ran = hanging()
    async with serving(kind, hang=hang) as call, anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(call, "hang")
        with anyio.fail_after(20):
            while len(ran) < 4:  # noqa: ASYNC110 - threads append
                await anyio.sleep(0.01)
        with anyio.move_on_after(0.1) as left:
            await call("hang")
        assert left.cancelled_caught
        release.set()
    assert 4 == len(ran)


@dataclass
class Same:
    """Handlers without a hash that are equal."""

    fn: Callable[[], object] = field(compare=False)
    __name__ = "same"

    def __call__(self) -> str:
        return str(self.fn())


@pytest.mark.anyio
@KINDS
@pytest.mark.parametrize("kind_of_handler", [Odd, Same])
async def test_handlers_of_one_class_have_their_own_threads(
    kind: str, kind_of_handler: Callable[[Callable[[], object]], Callable[[], object]]
) -> None:
    """Even if Python cannot tell them apart by hash or equality."""
    release = threading.Event()

    hang, well = kind_of_handler(lambda: release.wait(30)), kind_of_handler(lambda: "well")
    async with serving(kind, hang=hang, well=well) as call, anyio.create_task_group() as group:
        for _ in range(6):
            group.start_soon(call, "hang")
        await anyio.wait_all_tasks_blocked()
        with anyio.fail_after(8):
            assert "well" == (await call("well")).content[0].text
        release.set()
