"""A policy at a real server that counts the orders placed: none is placed twice, whatever the server answers."""

from __future__ import annotations

from contextlib import suppress
from itertools import product
from typing import Any, Final

import pytest
from mcp import Client
from mcp.server import Server
from mcp_types import CallToolResult, ListToolsResult, Tool

from mcpcore import Envelope, ErrorCode, Retry
from mcpcore.client import CallPolicy, ReadOnly, ToolCallFailed, call
from tests.client.hostile import entry, failed, listed, server

pytestmark = pytest.mark.anyio

ANNOTATIONS: Final[dict[str, Any]] = {
    "unannotated": None,
    "writes": {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": False},
    "idempotent": {"readOnlyHint": False, "idempotentHint": True},
    "reads": {"readOnlyHint": True},
}
FALLBACKS: Final = ("none", "unannotated", "idempotent", "reads")
ARGUMENTS: Final = {"item": {"type": "string"}, "answer": {"type": "string"}}
SAME = {name: f"{{{name}}}" for name in ARGUMENTS}
NOW: Final = {"kind": "retryable_immediate"}


def text_alone(name: str) -> Any:
    """Return a failure whose text claims that nothing was changed, as an exception that repeats others' words may."""
    code = ErrorCode[name]
    envelope = Envelope(
        code=int(code), name=name, message="No.", retry=Retry.now(), effects="none", data={"reason": "x"}
    )
    return {"isError": True, "content": [{"type": "text", "text": envelope.text()}]}


def foreign(name: str) -> Any:
    """Return a failure of no dialect that says to retry."""
    error = {"code": name, "message": "timed out", "retryable": True, "data": {"reason": "x"}}
    return {"isError": True, "structuredContent": {"error": error}, "content": []}


ANSWERS: Final[dict[str, Any]] = {
    **{
        f"{name} {effects}": failed("x", retry=NOW, name=name, code=int(ErrorCode[name]), effects=effects)
        for name in ("TIMEOUT", "RATE_LIMITED", "VALIDATION_ERROR")
        for effects in (None, "none", "partial", "unknown")
    },
    "text alone": text_alone("TIMEOUT"),
    "foreign": foreign("TIMEOUT"),
    "plain": {"isError": True, "content": [{"type": "text", "text": "timed out, try again"}]},
}


class Shop:
    """A server whose tools place an order and then fail as the arguments say; those called `other_…` succeed."""

    def __init__(self) -> None:
        self.orders: list[tuple[str, str]] = []
        self.calls = 0
        tools = [
            listed(
                f"place_{kind}_{fallback}",
                entry("x", correctiveParams={"item": "chair"})
                | ({} if fallback == "none" else {"fallbackTool": f"other_{fallback}", "fallbackArguments": SAME}),
                properties=ARGUMENTS,
                annotations=annotations,
            )
            for kind, annotations in ANNOTATIONS.items()
            for fallback in FALLBACKS
        ]
        tools += [listed(f"other_{kind}", properties=ARGUMENTS, annotations=ANNOTATIONS[kind]) for kind in ANNOTATIONS]
        listing = ListToolsResult(tools=[Tool.model_validate(tool) for tool in tools])

        async def list_tools(ctx: Any, params: Any) -> ListToolsResult:
            return listing

        async def call_tool(ctx: Any, params: Any) -> CallToolResult:
            name, arguments = params.name, params.arguments
            self.calls += 1
            answer = arguments["answer"]
            # The effects "none" in an envelope are true; those of a text alone are not.
            if not (name.split("_")[1] == "reads" or (name.startswith("place") and answer.endswith(" none"))):
                order = (name, arguments["item"])
                if "idempotent" not in name.split("_")[1] or order not in self.orders:
                    self.orders.append(order)
            return CallToolResult.model_validate(ANSWERS[answer] if name.startswith("place") else {"content": []})

        self.server: Server[Any] = Server("shop", on_list_tools=list_tools, on_call_tool=call_tool)


async def attempt(client: Any, shop: Shop, kind: str, fallback: str, answer: str, action: Any) -> int:
    """Return the number of calls that one order takes; the orders are in `shop`."""
    shop.orders.clear()
    shop.calls = 0
    policy = CallPolicy(
        fallbacks=True,
        corrections=True,
        max_attempts=6,
        on=None if action is None else {"x": action, "TIMEOUT": action},
    )
    arguments = {"item": "table", "answer": answer}
    with suppress(ToolCallFailed):
        await call(client, f"place_{kind}_{fallback}", arguments, policy=policy)
    return shop.calls


async def test_no_order_is_placed_twice() -> None:
    """For every code, annotation, effect, fallback and action: an unknown effect never counts as none."""
    shop = Shop()
    called: dict[tuple[str, ...], int] = {}
    async with Client(shop.server) as client:
        acted: list[str] = []

        async def begin_session(failure: ToolCallFailed) -> None:
            acted.append(failure.tool)

        def in_place(failure: ToolCallFailed) -> None:
            failure.arguments["item"] = "lamp"

        actions: dict[str, Any] = {
            "none": None,
            "writes": begin_session,
            "corrects": lambda failure: {**failure.arguments, "item": "lamp"},
            "looks": ReadOnly(lambda _: None),
            "looks and corrects": ReadOnly(lambda failure: {**failure.arguments, "item": "lamp"}),
            "looks and corrects in place": ReadOnly(in_place),
        }
        for kind, fallback, answer, (action, function) in product(ANNOTATIONS, FALLBACKS, ANSWERS, actions.items()):
            scenario = (kind, fallback, answer, action)
            called[scenario] = await attempt(client, shop, kind, fallback, answer, function)
            assert len(shop.orders) <= 1, (scenario, shop.orders)
            assert not acted or kind == "reads" or answer.endswith(" none"), scenario
            acted.clear()
    # Safe calls are made: the same call again, a read-only fallback, a look.
    expected = {
        ("reads", "none", "TIMEOUT unknown", "none"): 6,
        ("unannotated", "none", "TIMEOUT none", "none"): 6,
        ("idempotent", "none", "TIMEOUT unknown", "none"): 6,
        ("idempotent", "none", "foreign", "none"): 6,
        ("writes", "reads", "TIMEOUT unknown", "none"): 2,
        ("writes", "idempotent", "TIMEOUT unknown", "none"): 1,
        ("unannotated", "none", "TIMEOUT None", "looks"): 1,
    }
    assert expected == {scenario: called[scenario] for scenario in expected}
    assert 2 <= called["unannotated", "none", "TIMEOUT none", "corrects"]


@pytest.mark.parametrize("corrections", [False, True])
async def test_a_permission_to_repeat_one_tool_covers_no_other(*, corrections: bool) -> None:
    """After a second tool may have ordered, neither a third tool nor the second with other arguments is called."""
    fallbacks = {"place_a": "place_b", "place_b": "place_c", "place_c": "place_d"}
    tools = [
        listed(
            name,
            entry("x", fallbackTool=fallback, fallbackArguments=SAME, correctiveParams={"item": "chair"}),
            properties=ARGUMENTS,
        )
        for name, fallback in fallbacks.items()
    ]
    shop, calls = server(tools, lambda _: failed("x", effects="unknown"))
    policy = CallPolicy(retry_unsafe={"place_a"}, fallbacks=True, corrections=corrections, max_attempts=6)
    async with Client(shop) as client:
        with pytest.raises(ToolCallFailed):
            await call(client, "place_a", {"item": "table", "answer": ""}, policy=policy)
    assert "place_c" not in calls
    assert 1 == calls.count("place_b")
