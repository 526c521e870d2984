"""Timeouts and limits of concurrent calls: what the client reads, and when a place is free again."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp_types import ToolAnnotations
from pydantic import BaseModel

from mcpcore import ContractError, ErrorCode, FailureMode, Retry, Server, prompt, resource, tool
from tests.answers import envelope_of, outcome_of
from tests.conftest import Call

SENDS = ToolAnnotations(read_only_hint=False, idempotent_hint=False)
TOO_SLOW = FailureMode(
    "too_slow",
    ErrorCode.TIMEOUT,
    when="The report has too many rows.",
    recovery="Ask for one month at a time.",
    retry=Retry.never(),
    effects="none",
)
BUSY = FailureMode("busy", ErrorCode.RATE_LIMITED, when="Too many reports.", recovery="Ask again when it is quiet.")


async def calls_at_once(server: Server[Any], name: str, count: int) -> list[Any]:
    """Return the results of calls that overlap, in the order in which they end."""
    results: list[Any] = []
    async with Client(server) as client:

        async def call() -> None:
            results.append(await client.call_tool(name, {}))

        async with anyio.create_task_group() as group:
            for _ in range(count):
                group.start_soon(call)
    return results


async def endless() -> str:
    """Answer after all timeouts."""
    await anyio.sleep(30)
    return "late"


@pytest.mark.usefixtures("door")
class TestTimeout:
    @pytest.mark.parametrize("kind", ["async", "sync"])
    def test_a_call_that_takes_too_long_fails_with_the_entry_of_the_contract(self, kind: str, call: Call) -> None:
        release = threading.Event()

        waits = tool(name="report", errors=[TOO_SLOW], timeout=0.1, annotations=SENDS)(endless)

        @tool(name="report", errors=[TOO_SLOW], timeout=0.1, annotations=SENDS)
        def blocks() -> str:
            release.wait(30)
            return "late"

        began = time.monotonic()
        envelope = envelope_of(call(Server("s", tools=[waits if kind == "async" else blocks]), "report"))
        release.set()
        assert time.monotonic() - began < 20
        assert ("TIMEOUT", "too_slow", "none") == (envelope.name, envelope.reason, envelope.effects)
        assert (Retry.never(), "Ask for one month at a time.") == (envelope.retry, envelope.hint)
        assert {"timeoutMs": 100} == envelope.details

    def test_without_an_entry_the_failure_follows_from_the_annotations(self, call: Call) -> None:
        send = tool(name="send", timeout=0.1, annotations=SENDS)(endless)
        envelope = envelope_of(call(Server("s", tools=[send]), "send"))
        assert ("TIMEOUT", "call_timeout", "unknown") == (envelope.name, envelope.reason, envelope.effects)
        assert Retry.never() == envelope.retry

    def test_of_two_entries_with_the_code_neither_is_chosen(self, call: Call) -> None:
        other = FailureMode("upstream_slow", ErrorCode.TIMEOUT, when="The API hangs.", recovery="Call again later.")

        report = tool(name="report", errors=[TOO_SLOW, other], timeout=0.1)(endless)
        assert "call_timeout" == envelope_of(call(Server("s", tools=[report]), "report")).reason

    def test_an_entry_with_a_data_model_gets_no_data(self, call: Call) -> None:
        class Rows(BaseModel):
            rows: int

        entry = FailureMode("slow", ErrorCode.TIMEOUT, when="Slow.", recovery="Ask for less of it.", data=Rows)

        report = tool(name="report", errors=[entry], timeout=0.1)(endless)
        envelope = envelope_of(call(Server("s", tools=[report], strict=True), "report"))
        assert ("slow", None) == (envelope.reason, envelope.details or None)

    @pytest.mark.parametrize("kind", ["async", "sync", "resource", "prompt"])
    def test_a_server_times_out_whatever_has_no_timeout_of_its_own(self, kind: str) -> None:
        release = threading.Event()
        server = Server("s", timeout=0.2)

        server.tool(name="async")(endless)

        @server.tool(name="sync")
        def blocks() -> str:
            # FastMCP cannot leave the thread of such a tool, and fails the call when the thread ends.
            release.wait(2)
            return "late"

        server.add_resource(resource("slow://it")(endless))
        server.add_prompt(prompt(name="slow")(endless))

        requests: dict[str, Callable[[Client], Any]] = {
            "resource": lambda client: client.read_resource("slow://it"),
            "prompt": lambda client: client.get_prompt("slow"),
        }
        outcome = outcome_of(Client(server), requests.get(kind, lambda client: client.call_tool(kind, {})))
        envelope = envelope_of(outcome)
        release.set()
        assert ("TIMEOUT", "call_timeout") == (envelope.name, envelope.reason)

    @pytest.mark.parametrize("own", [5, math.inf])
    def test_a_tools_own_timeout_replaces_that_of_the_server(self, own: float, call: Call) -> None:
        @tool(timeout=own)
        async def slow() -> str:
            await anyio.sleep(0.3)
            return "done"

        assert not call(Server("s", tools=[slow], timeout=0.1), "slow").is_error

    def test_an_error_of_the_cancellation_is_a_timeout(self, call: Call) -> None:
        """So is a result that comes too late."""

        @tool(timeout=0.1)
        async def breaks() -> None:
            try:
                await anyio.sleep(30)
            except BaseException:
                raise RuntimeError("the connection was closed: hunter2") from None

        @tool(timeout=0.1)
        async def ignores() -> str:
            with anyio.CancelScope(shield=True):
                await anyio.sleep(0.3)
            return "late"

        for handler in (breaks, ignores):
            result = call(Server("s", tools=[handler]), handler.name)
            assert "TIMEOUT" == envelope_of(result).name
            assert "hunter2" not in result.model_dump_json()


@pytest.mark.usefixtures("door")
class TestCallsAtOnce:
    @pytest.mark.parametrize("of", ["tool", "server"])
    def test_one_more_call_is_refused_with_a_waiting_time(self, of: str) -> None:
        limit = {"max_concurrency": 3}

        @tool(annotations=SENDS, **(limit if of == "tool" else {}))
        async def slow() -> str:
            await anyio.sleep(0.3)
            return "done"

        server = Server("s", tools=[slow], **(limit if of == "server" else {}))
        results = anyio.run(calls_at_once, server, "slow", 5)
        assert [True, True, False, False, False] == [result.is_error for result in results]
        envelope = envelope_of(results[0])
        assert ("RATE_LIMITED", "too_many_calls", "none") == (envelope.name, envelope.reason, envelope.effects)
        assert (envelope.retry.seconds or 0) > 0
        assert f"The {of} is busy" in envelope.message
        assert {"maxConcurrency": 3} == envelope.details
        # The mean duration of a call is known now.
        assert Retry.after(seconds=0.4) == envelope_of(anyio.run(calls_at_once, server, "slow", 4)[0]).retry

    def test_the_entry_of_the_contract_has_the_advice_and_the_limit_the_waiting_time(self) -> None:
        @tool(errors=[BUSY], max_concurrency=1)
        async def report() -> str:
            await anyio.sleep(0.2)
            return "done"

        envelope = envelope_of(anyio.run(calls_at_once, Server("s", tools=[report]), "report", 2)[0])
        assert ("busy", "Ask again when it is quiet.") == (envelope.reason, envelope.hint)
        assert Retry.after(seconds=1) == envelope.retry

    @pytest.mark.anyio
    async def test_a_thread_keeps_its_place_after_the_timeout(self, call: Call) -> None:
        """Otherwise repeated calls would pile up threads that nobody waits for."""
        release, ended = threading.Event(), threading.Event()

        @tool(timeout=0.1, max_concurrency=1)
        def blocks() -> None:
            release.wait(30)
            ended.set()

        async with Client(Server("s", tools=[blocks])) as client:
            names = [envelope_of(await client.call_tool("blocks", {})).name for _ in range(2)]
            release.set()
            while not ended.is_set() or names[-1] == "RATE_LIMITED":
                await anyio.sleep(0.02)
                result = await client.call_tool("blocks", {})
                names.append("fine" if not result.is_error else envelope_of(result).name)
        assert ["TIMEOUT", "RATE_LIMITED", "fine"] == [names[0], names[1], names[-1]]


class TestOptions:
    @pytest.mark.parametrize(
        "declare", [lambda **options: tool(**options)(calls_at_once), Server], ids=["tool", "server"]
    )
    @pytest.mark.parametrize(
        ("option", "value"),
        [
            ("timeout", 0),
            ("timeout", -1),
            ("timeout", math.nan),
            ("timeout", "5"),
            ("timeout", True),
            ("max_concurrency", 0),
            ("max_concurrency", 1.5),
            ("max_concurrency", True),
        ],
    )
    def test_a_limit_that_is_none_is_refused(self, declare: Callable[..., Any], option: str, value: object) -> None:
        with pytest.raises((ValueError, ContractError, TypeError), match=option):
            declare(**{option: value})
