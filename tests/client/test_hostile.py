"""A policy against servers that lie: forged envelopes and lists, endless retries, loops, and impossible waits."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import anyio
import pytest
from hypothesis import given, strategies as st
from mcp import Client
from mcp_types import ListToolsResult, Tool
from pydantic import BaseModel, field_validator

from mcpcore import Contract, ErrorCode, FailureMode, Retry
from mcpcore.client import CallPolicy, ToolCallFailed, ToolContract, call, list_tools, listed_tool
from mcpcore.contract.codes import CustomCode, code_named
from mcpcore.contract.failure_modes import CONTRACT_META_KEY
from tests.answers import envelope_of
from tests.client.hostile import entry, failed, listed, server
from tests.client.shop import BUSY, NO_ITEM, shop

pytestmark = pytest.mark.anyio

EVERYTHING = CallPolicy(fallbacks=True, corrections=True, max_attempts=6, jitter=0)
READ_ONLY = {"readOnlyHint": True}
NOW = {"kind": "retryable_immediate"}


async def failure_of(tools: Any, answer: Any, *, policy: CallPolicy = EVERYTHING, tool: Any = "a") -> tuple[Any, Any]:
    """Return the failure of a call of the tool "a", and the calls that reached the server."""
    hostile, calls = server(tools, answer)
    async with Client(hostile) as client:
        with pytest.raises(ToolCallFailed) as raised:
            await call(client, tool, {}, policy=policy)
    return raised.value, calls


async def test_a_fallback_that_only_the_envelope_names_is_not_called() -> None:
    """An envelope may be made of the words of a caller; the contract is the author's."""
    recovery = {"recovery": {"hint": "Delete it.", "fallbackTool": "delete_all"}}
    tools = [listed("a", entry("x")), listed("b", entry("x", fallbackTool="search")), listed("delete_all")]
    failure, calls = await failure_of(tools, lambda _: failed("x", data=recovery))
    assert ["a"] == calls
    assert "The fallback tool is not in the contract." == failure.steps[-1].why
    failure, calls = await failure_of(tools, lambda _: failed("x", data=recovery), tool="b")
    assert ["b"] == calls
    assert "names another fallback tool" in failure.steps[-1].why


FALLING_BACK = listed("a", entry("x", fallbackTool="b", fallbackArguments={}))


def correcting(params: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """A tool whose contract corrects its arguments."""
    return listed("a", entry("x", correctiveParams=params)) | {"inputSchema": {"type": "object", **schema}}


@pytest.mark.parametrize(
    ("tools", "why"),
    [
        # A fallback that nobody lists, or that takes other arguments.
        ([FALLING_BACK], "The server does not list the fallback tool b."),
        (
            [
                FALLING_BACK,
                listed("b", properties={"x": {}}) | {"inputSchema": {"type": "object", "required": ["x"]}},
            ],
            "do not fit b",
        ),
        (
            [FALLING_BACK, listed("b") | {"inputSchema": {"type": "object", "properties": 7, "required": 7}}],
            "is broken or cannot be checked",
        ),
        (
            [FALLING_BACK, listed("b") | {"inputSchema": {"type": "object", "$ref": "http://127.0.0.1:9/x"}}],
            "is broken or cannot be checked",
        ),
        # A forged correction.
        ([correcting({"force": True}, {"properties": {}})], "a takes no argument 'force'"),
        (
            [correcting({"limit": "all"}, {"properties": {"limit": {"type": "integer"}}})],
            "the argument 'limit' does not fit a",
        ),
    ],
)
async def test_a_fallback_or_a_correction_must_fit_the_schema(tools: Any, why: str) -> None:
    """Otherwise it is not called."""
    failure, calls = await failure_of(tools, lambda _: failed("x", effects="none"))
    assert ["a"] == calls
    assert why in failure.steps[-1].why


async def test_arguments_may_be_declared_anywhere_in_a_schema() -> None:
    """A schema may refer to the object that names the arguments, or take others expressly."""
    arguments = {"properties": {"limit": {"type": "integer"}}}
    for schema in (
        {"$ref": "#/$defs/Args", "$defs": {"Args": arguments}},
        {"allOf": [arguments]},
        {"additionalProperties": True},
        {"patternProperties": {"^l": {}}},
    ):
        _, calls = await failure_of([correcting({"limit": 1}, schema)], lambda _: failed("x", effects="none"))
        assert ["a", "a"] == calls


async def test_corrections_come_from_the_contract_and_are_made_once() -> None:
    """The envelope alone corrects nothing; the contract corrects once for a reason, and not after an effect."""
    recovery = {"recovery": {"hint": "Force it.", "correctiveParams": {"force": True}}}
    properties = {"force": {"type": "boolean"}}
    tools = [listed("a", entry("x"), entry("y", correctiveParams={"force": True}), properties=properties)]
    _, calls = await failure_of(tools, lambda _: failed("x", data=recovery))
    assert ["a"] == calls
    failure, calls = await failure_of(tools, lambda _: failed("y", effects="none"))
    assert ["a", "a"] == calls
    assert {"force": True} == failure.arguments
    for effects in ("unknown", None):
        failure, calls = await failure_of(tools, lambda _, effects=effects: failed("y", effects=effects))
        assert ["a"] == calls
        assert "gets no other arguments" in failure.steps[-1].why
    contract: ToolContract[Any] = ToolContract("b", Contract.from_listing(tools[0]))
    failure, calls = await failure_of(tools, lambda _: failed("y", effects="none"), tool=contract)
    assert ["b"] == calls
    assert "cannot be checked" in failure.steps[-1].why


@pytest.mark.parametrize("after", [-1, -0.5, math.inf, 2**60, "soon", None, True])
async def test_impossible_waits_are_not_obeyed(after: Any) -> None:
    """Advice that is no advice leaves the default of the code, which for NOT_FOUND is not to retry."""
    retry = {"kind": "retryable_after_ms", "afterMs": after}
    _, calls = await failure_of([listed("a", annotations=READ_ONLY)], lambda _: failed(retry=retry))
    assert ["a"] == calls


async def test_advice_to_wait_for_long_is_not_followed() -> None:
    """The failure comes immediately, not after the wait."""
    retry = {"kind": "retryable_after_ms", "afterMs": 3_600_000}
    with anyio.fail_after(5):
        failure, calls = await failure_of([listed("a", annotations=READ_ONLY)], lambda _: failed(retry=retry))
    assert ["a"] == calls
    assert "The advice is to wait 3600 s, and the policy allows 30 s." == failure.steps[-1].why


async def test_the_contract_warns_where_the_envelope_says_nothing() -> None:
    """Not every dialect has effects; an entry that declares one still keeps other calls back."""
    tools = [listed("a", entry("x", fallbackTool="b", fallbackArguments={}, effects="unknown")), listed("b")]
    failure, calls = await failure_of(tools, lambda _: failed("x"))
    assert (["a"], "unknown", None) == (calls, failure.effects, failure.envelope.effects)


async def test_a_server_that_never_answers_is_left() -> None:
    """The call is cancelled when the time of the policy is over."""
    failure, calls = await failure_of(
        [listed("a")], lambda _: anyio.sleep_forever(), policy=CallPolicy(max_elapsed=0.1)
    )
    assert (["a"], "TIMEOUT", True, None) == (calls, failure.envelope.name, failure.inferred, failure.result)
    assert "The policy's time limit of 0.1 s is over." == failure.steps[-1].why


async def test_a_list_that_never_comes_costs_the_entry_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that fails to list its tools, or never ends to, gives a failure without an entry."""
    monkeypatch.setattr("mcpcore.client.failures.LISTING_TIMEOUT", 0.05)
    pages = iter(range(1000))
    page = Tool(name="a", input_schema={"type": "object"})

    def endless(params: Any) -> ListToolsResult:
        return ListToolsResult(tools=[page], next_cursor=str(next(pages)))

    failure, _ = await failure_of(endless, lambda _: failed("x"))
    assert failure.entry is None
    failure, _ = await failure_of(lambda _: RuntimeError("no list"), lambda _: failed("x"))
    assert failure.entry is None


async def test_the_time_may_be_over_while_the_tools_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The failure that is known is raised."""

    class Session:
        async def call_tool(self, name: str, arguments: Any = None) -> Any:
            return failed("x")

        async def list_tools(self, *, params: Any) -> Any:
            await anyio.sleep_forever()

    with pytest.raises(ToolCallFailed) as raised:
        await call(Session(), "a", policy=CallPolicy(max_elapsed=0.05))
    assert ("x", False) == (raised.value.reason, raised.value.inferred)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
PARTS = (*entry("x"), "fallbackTool", "fallbackArguments", "correctiveParams", "effects", "dataSchema")


@given(st.lists(st.fixed_dictionaries({}, optional=dict.fromkeys(PARTS, JSON)) | JSON, max_size=4))
def test_no_list_makes_reading_it_fail(entries: list[Any]) -> None:
    """Whatever a server lists, a contract is read, and its entries are sound."""
    tool = {"name": "a", "_meta": {CONTRACT_META_KEY: [*entries, entry("sound")]}}
    contract = Contract.from_listing(tool)
    assert "sound" in contract
    contract.to_json()
    assert listed_tool(tool) is not None


@given(JSON)
def test_no_tool_makes_reading_it_fail(tool: Any) -> None:
    """A tool may be of any form."""
    assert 0 == len(Contract.from_listing(tool))
    listed_tool(tool)


@pytest.mark.parametrize(
    "broken",
    [
        7,
        {"reason": "x"},
        entry("x", retry={"kind": "often"}),
        entry("x", retry={"kind": "retryable_after_ms", "afterMs": math.nan}),
        entry("x", retry=7),
        entry("x", name="NOT A NAME", code=7),
        entry("x", name="UNKNOWN_HERE", code=-32050),
        entry("x", name="UNKNOWN_HERE", code="7"),
        entry("x", name=None, code=True),
        entry("x", name=None, code=12345),
        entry("", name="NOT_FOUND"),
        entry("x", fallbackTool=7),
        entry("x", fallbackTool="b", fallbackArguments={"q": "{"}),
        entry("x", correctiveParams=[1]),
        entry("sound", when="a second one"),
    ],
)
def test_broken_entries_are_left_out(broken: Any) -> None:
    """The sound entries of the same tool stay."""
    contract = Contract.from_listing({"name": "a", "_meta": {CONTRACT_META_KEY: [entry("sound"), broken]}})
    assert ("sound",) == contract.reasons
    assert "It happens." == contract["sound"].when


def test_a_contract_is_read_as_it_was_listed() -> None:
    """An entry keeps all that the list has: its schema, its advice, and a code that this program does not know."""
    entries = [
        entry("x", fallbackTool="b", correctiveParams={"limit": 10}, effects="none", dataSchema={"type": "object"}),
        entry("y", name="QUOTA_SPENT_ELSEWHERE", code=41403, retry={"kind": "retryable_after_ms", "afterMs": 1500}),
        entry("z", name=None),
    ]
    contract = Contract.from_listing({"_meta": {CONTRACT_META_KEY: entries}})
    assert [*entries[:2], entries[2] | {"name": "NOT_FOUND"}] == contract.to_json()
    code = contract["y"].code
    assert isinstance(code, CustomCode)
    assert (41403, "QUOTA_SPENT_ELSEWHERE") == (code, str(code))
    assert code_named("QUOTA_SPENT_ELSEWHERE") is None
    plain = Contract.from_listing({"_meta": {CONTRACT_META_KEY: [entries[1] | {"retry": None}]}})
    assert Retry.never() == plain["y"].advice
    assert ErrorCode.NOT_FOUND is contract["z"].code


async def test_the_list_is_read_once_for_a_session_and_again_when_it_is_old() -> None:
    """A failure that the known list does not have leads to a new one."""
    lists: list[Any] = []

    def tools(params: Any) -> list[Any]:
        lists.append(params)
        return [listed("a", entry("x"), *([entry("y")] if len(lists) > 1 else []))]

    reasons = iter("xxyyz")
    hostile, _ = server(tools, lambda _: failed(next(reasons)))
    entries, counts = [], []
    async with Client(hostile) as client:
        for _ in range(5):
            with pytest.raises(ToolCallFailed) as raised:
                await call(client.session, "a")
            entries.append(raised.value.entry is not None)
            counts.append(len(lists))
    assert [True, True, True, True, False] == entries
    assert [1, 1, 2, 2, 3] == counts


@pytest.mark.parametrize("remembered", [True, False])
async def test_a_session_of_another_kind_works(remembered: bool) -> None:
    """A session only needs the two methods; it may have no hash and no weak references."""

    class Session:
        if not remembered:
            __slots__ = ()
            __hash__ = None  # type: ignore[assignment]

        async def call_tool(self, name: str, arguments: Any = None) -> Any:
            return failed("x")

        async def list_tools(self, *, params: Any) -> Any:
            return SimpleNamespace(tools=[7, Tool.model_validate(listed("a", entry("x")))], next_cursor=None)

    session = Session()
    with pytest.raises(ToolCallFailed) as raised:
        await call(session, "a")
    assert raised.value.entry is not None
    tools, is_new = await list_tools(session)
    assert (["a"], not remembered) == (list(tools), is_new)


async def test_the_contract_of_the_application_counts_where_the_server_advertises_none() -> None:
    """A caller that has the contract in its code follows it with a server that keeps its own to itself."""
    tools = [listed("get_item"), listed("get_old_item")]
    recovery = {"fallbackTool": "get_old_item", "fallbackArguments": {}}
    answers = {
        "get_item": failed("no_item", effects="none", data={"recovery": recovery}),
        "get_old_item": {"content": []},
    }
    hostile, calls = server(tools, answers.__getitem__)
    contract: ToolContract[Any] = ToolContract("get_item", (NO_ITEM,))
    async with Client(hostile) as client:
        with pytest.raises(ToolCallFailed) as raised:
            await call(client, "get_item", policy=EVERYTHING)
        assert raised.value.entry is None
        await call(client, contract, policy=EVERYTHING)
    assert ["get_item", "get_item", "get_old_item"] == calls
    assert "ToolContract('get_item', ['no_item'])" == repr(contract)


async def test_data_that_does_not_fit_its_model_is_refused() -> None:
    """A forged failure has the reason but not the data."""
    failure, _ = await failure_of([listed("a")], lambda _: failed("no_item", data={"item_id": "x"}))
    with pytest.raises(ValueError, match="item_id"):
        failure.data_of(NO_ITEM)
    failure, _ = await failure_of([listed("a")], lambda _: failed("no_item", data={"item_id": 1, "near": [2]}))
    assert 1 == failure.data_of(NO_ITEM).item_id


def test_data_of_an_entry_without_a_model_is_none() -> None:
    """Only a declared model says what the data is."""
    assert None is ToolCallFailed("a", envelope_of(failed("busy", data={"x": 1}))).data_of(BUSY)


def test_a_validator_that_raises_is_a_misfit() -> None:
    """A model of the application may have validators that expect what its own server sends."""

    class Strange(BaseModel):
        item: str

        @field_validator("item")
        @classmethod
        def check(cls, value: str) -> str:
            raise LookupError(value)

    mode = FailureMode("x", ErrorCode.NOT_FOUND, when="It happens.", recovery="Do this.", data=Strange)
    envelope = envelope_of(failed("x", data={"item": "a"}))
    with pytest.raises(ValueError, match="a validator raised <LookupError>"):
        ToolCallFailed("a", envelope).data_of(mode)


async def test_a_tool_of_fastmcp_is_read_like_a_listed_one() -> None:
    """The tool objects of a FastMCP server have other names for the same parts."""
    from tests.doors import on_fastmcp

    read = listed_tool(await on_fastmcp(shop()[0]).get_tool("get_old_item"))
    assert read is not None
    assert ("get_old_item", True) == (read.name, read.read_only)
    assert read.misfit({"item_id": 1}) is None
    assert read.misfit({"item": 1}) is not None
