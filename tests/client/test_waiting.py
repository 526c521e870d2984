"""Waits and cancellations under asyncio and trio, span events, and lists that change."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp_types import ToolListChangedNotification
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from trio.testing import MockClock

from mcpcore.client import CallPolicy, Step, ToolCallFailed, call, forget_tools, list_tools
from tests.client.hostile import failed, listed, server

READ_ONLY = {"readOnlyHint": True}


def later(seconds: float) -> Any:
    return failed(retry={"kind": "retryable_after_ms", "afterMs": int(seconds * 1000)})


def test_waits_follow_the_advice_with_jitter() -> None:
    """Trio's clock jumps, so that minutes pass immediately; a wait is never shorter than advised."""
    steps: list[Step] = []

    async def run() -> None:
        hostile, _ = server([listed("a", annotations=READ_ONLY)], lambda _: later(20))
        async with Client(hostile) as client:
            with pytest.raises(ToolCallFailed) as raised:
                await call(client, "a", policy=CallPolicy(jitter=0.5, on_step=steps.append, max_attempts=9))
        assert raised.value.attempts in (2, 3)
        assert "Waiting 20 s would exceed the 60 s that the policy allows." == raised.value.steps[-1].why

    anyio.run(run, backend="trio", backend_options={"clock": MockClock(autojump_threshold=0)})
    waits = [step.wait for step in steps if step.wait is not None]
    assert all(20 <= wait <= 30 for wait in waits)
    assert sum(waits) <= next(step.elapsed for step in reversed(steps))


def test_the_time_may_be_over_during_a_wait() -> None:
    """Jitter can take a wait beyond the time that is left; then the failure is raised at that time."""

    async def run() -> None:
        hostile, _ = server([listed("a", annotations=READ_ONLY)], lambda _: later(9))
        async with Client(hostile) as client:
            with pytest.raises(ToolCallFailed) as raised:
                await call(client, "a", policy=CallPolicy(jitter=1000, max_elapsed=10))
        assert 10 == pytest.approx(raised.value.steps[-1].elapsed)
        assert ["called", "failed", "waited", "gave_up"] == [step.kind for step in raised.value.steps]
        assert not raised.value.inferred

    anyio.run(run, backend="trio", backend_options={"clock": MockClock(autojump_threshold=0)})


@pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
@pytest.mark.parametrize("where", ["call", "wait", "action", "list"])
@pytest.mark.anyio
async def test_a_cancellation_passes(where: str) -> None:
    """A cancelled call ends where it is, and raises no other exception."""
    reached: list[str] = []
    begun = anyio.Event()

    async def forever(*_: Any, **options: Any) -> Any:
        begun.set()
        await anyio.sleep_forever()

    def note(step: Step) -> None:
        reached.append(step.kind)
        if step.kind == "waited":
            begun.set()

    hostile, _ = server([listed("a", annotations=READ_ONLY)], forever if where == "call" else lambda _: later(20))
    policy = CallPolicy(on={"NOT_FOUND": forever} if where == "action" else {}, on_step=note)
    async with Client(hostile) as client:
        if where == "list":
            client.list_tools = forever  # type: ignore[method-assign]
        with anyio.fail_after(10):
            async with anyio.create_task_group() as tasks:

                async def work() -> None:
                    await call(client, "a", policy=policy)
                    reached.append("returned")

                tasks.start_soon(work)
                await begun.wait()
                tasks.cancel_scope.cancel()
        assert tasks.cancel_scope.cancelled_caught
    assert {"call": "called", "wait": "waited", "action": "failed", "list": "called"}[where] == reached[-1]


@pytest.mark.anyio
async def test_steps_are_events_of_the_span_that_is_open() -> None:
    """The application's own span shows the steps; without one, nothing is recorded."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    hostile, _ = server([listed("a", annotations=READ_ONLY)], lambda _: later(0.01) | {})
    async with Client(hostile) as client:
        with provider.get_tracer("app").start_as_current_span("work"), pytest.raises(ToolCallFailed):
            await call(client, "a", policy=CallPolicy(max_attempts=2))
        with pytest.raises(ToolCallFailed):
            await call(client, "a")
    (span,) = (span for span in exporter.get_finished_spans() if span.name == "work")
    events = [event for event in span.events if event.name == "mcpcore.call.step"]
    kinds = ["called", "failed", "waited", "retried", "failed", "gave_up"]
    assert kinds == [event.attributes["mcpcore.step"] for event in events if event.attributes]
    waited = dict(events[2].attributes or {})
    assert {"gen_ai.tool.name": "a", "mcpcore.attempt": 1, "mcpcore.code": "NOT_FOUND"}.items() <= waited.items()
    assert 0.01 <= waited["mcpcore.wait"] <= 0.011  # type: ignore[operator]


IMPORTS = """
import sys, anyio
from mcpcore.client import CallPolicy, call

loaded = [name for name in ("opentelemetry", "mcp", "mcp_types", "fastmcp") if name in sys.modules]

class Session:
    async def call_tool(self, name, arguments=None):
        return {"content": []}

steps = []
anyio.run(lambda: call(Session(), "a", policy=CallPolicy(on_step=steps.append)))
print(loaded, len(steps))
"""


def test_importing_the_client_loads_no_libraries() -> None:
    """The SDK and OpenTelemetry are used only where the application has loaded them."""
    done = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, text=True, check=True)
    assert "[] 2" == done.stdout.strip()


@pytest.mark.anyio
async def test_a_list_is_dropped_when_the_server_says_that_its_tools_changed() -> None:
    """The notification reaches the session's own handler too."""
    names = ["a"]
    messages: list[Any] = []

    async def keep(message: Any) -> None:
        messages.append(message)

    hostile, _ = server(lambda _: [listed(name) for name in names], lambda _: failed("x"))
    async with Client(hostile, mode="legacy", message_handler=keep) as client:
        assert ["a"] == list((await list_tools(client))[0])
        names.append("b")
        assert (["a"], False) == await read(client)
        await client.session._message_handler(ToolListChangedNotification())
        assert (["a", "b"], True) == await read(client)
        names.append("c")
        assert (["a", "b"], False) == await read(client)
        forget_tools(client)
        assert (["a", "b", "c"], True) == await read(client)
        await client.session._message_handler(ValueError("noise"))
        assert (["a", "b", "c"], False) == await read(client)
        session = weakref.ref(client.session)
    assert any(isinstance(message, ToolListChangedNotification) for message in messages)
    del client
    gc.collect()
    assert session() is None


async def read(client: Any) -> tuple[list[str], bool]:
    """Return the names of the tools, and whether they were listed just now."""
    tools, is_new = await list_tools(client)
    return list(tools), is_new


@pytest.mark.anyio
async def test_a_fallback_may_be_refused_for_more_than_its_name() -> None:
    """A reason without a code keeps the span events sound."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    hostile, _ = server([listed("a")], lambda _: failed("x"))
    async with Client(hostile) as client:
        with provider.get_tracer("app").start_as_current_span("work"), pytest.raises(ToolCallFailed):
            await call(client, "a")
    (span,) = (span for span in exporter.get_finished_spans() if span.name == "work")
    assert [None, "x", "x"] == [(event.attributes or {}).get("mcpcore.reason") for event in span.events]
