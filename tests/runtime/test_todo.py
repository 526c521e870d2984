"""`mcpcore.TODO`: a recovery that is still to be written, which no client reads."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest
from mcp import Client

import mcpcore
from mcpcore import TODO, Context, Contract, ErrorCode, FailureMode, Retry, Server, tool
from mcpcore.client import listed_tool
from tests.answers import envelope_of

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("door")]

TO_DO = [TODO, "TODO", " TODO ", "TODO: next step", "TODO:"]
WRITTEN = "TODO items are listed by list_todos."


def server(recovery: str, **parts: Any) -> Server[Any]:
    """Return a server whose tool fails with an entry of that recovery, which `data` repeats if it is asked to."""
    entry = FailureMode("gone", ErrorCode.NOT_FOUND, when="It is gone.", recovery=recovery, **parts)

    @tool(errors=[entry])
    def look(ctx: Context[Literal["gone"]], how: str = "") -> str:
        """Look it up."""
        if how == "data":
            raise ctx.fail("gone", data=ctx.recovery_for("gone"))
        if how == "site":
            raise ctx.fail("gone", recovery="TODO: say more")
        raise ctx.fail("gone", recovery={"userMessage": "It is gone."} if how == "part" else ...)

    @tool
    def search() -> str:
        """Search for it."""
        return "here"

    return Server("s", tools=[look, search], describe_failures=True)


async def answers(recovery: str, **parts: Any) -> tuple[Any, dict[str, Any]]:
    """Return the listed tool, and its failures by how they were raised."""
    async with Client(server(recovery, **parts)) as client:
        listed = next(definition for definition in (await client.list_tools()).tools if definition.name == "look")
        ways = ("", "data", "site", "part")
        return listed, {how: await client.call_tool("look", {"how": how}) for how in ways}


@pytest.mark.parametrize("recovery", TO_DO)
async def test_no_client_reads_a_recovery_that_is_to_be_written(recovery: str) -> None:
    """The line, the hint, and the field of the list are left out, and nothing else."""
    listed, results = await answers(recovery)
    for how, result in results.items():
        assert "Recovery:" not in result.content[0].text
        assert "TODO" not in result.model_dump_json()
        envelope = envelope_of(result)
        assert ("gone", "It is gone.", None) == (envelope.reason, envelope.message, envelope.hint)
        assert ({"userMessage": "It is gone."} if how == "part" else None) == envelope.recovery
    (entry,) = listed.meta["dev.mcpcore/errors"]
    assert "recovery" not in entry
    assert "TODO" not in listed.model_dump_json()
    assert "- gone (NOT_FOUND): It is gone." in listed.description
    read = listed_tool(listed)
    assert read is not None
    assert ("It is gone.", TODO) == (read.contract["gone"].when, read.contract["gone"].recovery)


async def test_the_other_keys_of_the_recovery_remain() -> None:
    """Programs read them, and they are written already."""
    listed, results = await answers(TODO, fallback_tool="search", strategy="try_alternative", actions=["look_again"])
    recovery = {"fallbackTool": "search", "strategy": "try_alternative", "actions": ["look_again"]}
    for how, result in results.items():
        envelope = envelope_of(result)
        assert (recovery if how != "part" else {**recovery, "userMessage": "It is gone."}) == envelope.recovery
        assert ("search", None, "try_alternative") == (envelope.fallback_tool, envelope.hint, envelope.strategy)
        assert "try search" in result.content[0].text
    (entry,) = listed.meta["dev.mcpcore/errors"]
    assert ("search", None) == (entry["fallbackTool"], entry.get("recovery"))


async def test_a_text_about_todo_items_is_a_text() -> None:
    """Only the constant and "TODO:" mark what is to be written."""
    listed, results = await answers(WRITTEN)
    assert WRITTEN == envelope_of(results[""]).hint == listed.meta["dev.mcpcore/errors"][0]["recovery"]
    assert f"Recovery: {WRITTEN}" in results[""].content[0].text


@pytest.mark.no_server
def test_it_is_public_and_is_read_in_other_forms() -> None:
    """An envelope of another version may have a recovery without a hint, or without anything."""
    assert mcpcore.TODO is TODO
    error = {"code": -32001, "name": "NOT_FOUND", "message": "No.", "retry": Retry.never().to_json()}
    for recovery, expected in (
        ({"fallbackTool": "search"}, {"fallbackTool": "search"}),
        ({"hint": "TODO: next step", "user_message": "Gone."}, {"userMessage": "Gone."}),
        ({"hint": TODO}, None),
        ({}, None),
        ({"x": 1}, None),
        ({"hint": 7}, None),
        (TODO, None),
    ):
        result = {"isError": True, "structuredContent": {"error": {**error, "data": {"recovery": recovery}}}}
        envelope = envelope_of(json.loads(json.dumps(result)))
        assert (expected, None) == (envelope.recovery, envelope.hint)
        assert "Recovery" not in envelope.text()
    entry = FailureMode("x", ErrorCode.NOT_FOUND, when="TODO: raised by look", recovery=TODO)
    assert (None, *[ErrorCode.NOT_FOUND.sentence] * 2) == (
        entry.to_json().get("recovery"),
        entry.to_json()["when"],
        str(Context(Contract([entry])).fail("x")),
    )
