"""From the third identical call on that fails finally in the same way, the failure says how often it was made."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from typing import Any, Literal

import pytest
from mcp import Client
from mcp.client._memory import InMemoryTransport
from mcp_types import CallToolResult, ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult

from mcpcore import Context, Envelope, ErrorCode, FailureMode, Retry, Server, tool
from mcpcore.boundary.repeats import Repeats, SessionKey
from tests.answers import envelope_of

pytestmark = pytest.mark.usefixtures("door")

NOTICE = (
    "This is the 3rd identical call, and it failed the same way each time. Do not make it again until something has "
    "changed. Change the arguments, use another tool, or report the failure to the user."
)
NONE = FailureMode("none", ErrorCode.NOT_FOUND, when="It does not exist.", recovery="Call list_items for valid names.")
BUSY = FailureMode("busy", ErrorCode.CONFLICT, when="It is in use.", recovery="Call again.", retry=Retry.now())
Reasons = Context[Literal["none", "busy"]]


def made(outcomes: Iterator[str], **options: Any) -> Server:
    """Return a server whose calls end with `outcomes`, one after the other."""

    def end(ctx: Reasons) -> str:
        outcome = next(outcomes)
        if outcome == "crash":
            raise KeyError(outcome)
        if outcome == "busy":
            raise ctx.fail("busy")
        if outcome != "fine":
            raise ctx.fail("none", f"The call ended with {outcome}.")
        return outcome

    @tool(read_only=True, errors=[NONE, BUSY])
    def test(ctx: Reasons, path: str = "", line: int = 0) -> str:
        return end(ctx)

    @tool(read_only=True, errors=[NONE, BUSY])
    def look(ctx: Reasons, path: str = "") -> str:
        return end(ctx)

    @tool(errors=[NONE, BUSY])
    def edit(ctx: Reasons) -> str:
        return end(ctx)

    return Server("s", tools=[test, look, edit], **options)


async def call(client: Client, name: str, **arguments: Any) -> CallToolResult:
    result = await client.call_tool(name, arguments)
    assert isinstance(result, CallToolResult)
    return result


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("calls", "repeated"),
    [
        ("test=none test=none test=none test=none", [None, None, 3, 4]),
        ("test=crash test=crash test=crash", [None, None, 3]),
        ("test=none test=none look=none test=none", [None, None, None, 3]),
        ("test=none test=none look=fine edit=none test=none", [None, None, None, None, 3]),
        ("test=none test=none edit=fine test=none test=none test=none", [None, None, None, None, None, 3]),
        ("test=none test=none test=fine test=none", [None] * 4),
        ("test=none test=none test=less test=none test=none test=none", [None, None, None, None, None, 3]),
        ("test=busy test=busy test=busy test=busy", [None] * 4),
        ("test=none test=none test=busy test=none", [None] * 4),
        ("look=fine edit=fine test=busy test=none", [None] * 4),
    ],
)
async def test_what_counts_as_one_more(calls: str, repeated: list[int | None]) -> None:
    """A repair between two attempts, another failure or advice to call again is no loop."""
    steps = [step.partition("=") for step in calls.split()]
    async with Client(made(iter([outcome for _, _, outcome in steps])), mode="legacy") as client:
        answers = [Envelope.from_result(await call(client, name)) for name, _, _ in steps]
        assert repeated == [None if answer is None else answer.repeated for answer in answers]


@pytest.mark.anyio
async def test_the_arguments_and_the_session_belong_to_the_call() -> None:
    """The order of arguments does not, and what a server refuses before the handler runs counts too."""
    server = made(iter(["none"] * 99), unknown_tool="result")
    async with Client(server, mode="legacy") as client, Client(server, mode="legacy") as other:
        await call(client, "test", path="a", line=1)
        await call(client, "test", line=1, path="a")
        for stranger, arguments in ((other, {"path": "a", "line": 1}), (client, {"path": "a", "line": 2})):
            assert envelope_of(await call(stranger, "test", **arguments)).repeated is None
        third = await call(client, "test", path="a", line=1)
        assert third.structured_content is not None
        error = third.structured_content["error"]
        assert (3, "The call ended with none.") == (error["repeated"], error["message"])
        text = third.content[0].text  # type: ignore[union-attr]
        notice, last = text.split("\n\n")[-2:]
        assert (NOTICE, "(reason none · NOT_FOUND · ") == (notice, last[:27])
        assert 3 == envelope_of({"isError": True, "content": [{"type": "text", "text": text}]}).repeated
        for name, arguments in (("test", {"line": "x"}), ("unknown", {})):
            assert [None, None, 3] == [envelope_of(await call(client, name, **arguments)).repeated for _ in range(3)]


@pytest.mark.anyio
@pytest.mark.parametrize("options", [{"repeat_notice": False}, {"dialect": "taxonomy"}])
async def test_where_nothing_is_said(options: dict[str, Any]) -> None:
    """It is an option, and other dialects keep their form."""
    async with Client(made(iter(["none"] * 4), **options), mode="legacy") as client:
        for _ in range(4):
            result = await call(client, "test")
            assert "repeated" not in result.model_dump_json()
            assert "identical" not in result.model_dump_json()


@pytest.mark.anyio
async def test_a_request_without_a_session_is_not_counted() -> None:
    """The SDK makes one connection for each request in memory, as over HTTP since 2026-07-28."""
    server = made(iter(["none", "none", "none", "none", "fine", "none", "none"]))
    async with Client(server, mode="legacy") as client, Client(server) as stranger:
        assert envelope_of(await call(client, "test")).repeated is None
        for _ in range(3):
            assert envelope_of(await call(stranger, "test")).repeated is None
        assert not (await call(stranger, "edit")).is_error
        assert [None, 3] == [envelope_of(await call(client, "test")).repeated for _ in range(2)]


@pytest.mark.anyio
@pytest.mark.server_only("the SDK's client connects to FastMCP without the channel of stdio")
async def test_the_answers_to_questions_belong_to_the_call() -> None:
    """A question is no success, and a user who says something else makes another call of it."""
    answers = iter([*"aaaaaa", *"abcabc"])
    question = ElicitRequest(
        params=ElicitRequestFormParams(message="Which?", requested_schema={"type": "object", "properties": {}})
    )

    @tool(errors=[NONE])
    def ask(ctx: Context[Literal["none"]]) -> InputRequiredResult:
        if ctx.input_responses is None:
            return InputRequiredResult(input_requests={"which": question})
        raise ctx.fail("none")

    async def answer(*_: object) -> ElicitResult:
        return ElicitResult(action="accept", content={"which": next(answers)})

    async with Client(InMemoryTransport(Server("s", tools=[ask])), elicitation_callback=answer) as client:
        assert "2026-07-28" == client.protocol_version
        assert [None, None, 3, 4, 5, 6, 7, None, None, 8, None, None] == [
            envelope_of(await call(client, "ask")).repeated for _ in range(12)
        ]


@pytest.mark.anyio
async def test_a_session_remembers_its_last_hundred_calls() -> None:
    """The call that was made longest ago is forgotten first."""
    async with Client(made(iter(["none"] * 999)), mode="legacy") as client:
        for _ in range(2):
            for line in range(101):
                await call(client, "test", line=line)
        assert envelope_of(await call(client, "test", line=100)).repeated is None
        assert envelope_of(await call(client, "test", line=100)).repeated == 3


@pytest.mark.no_server
def test_sessions_are_held_weakly_and_are_not_too_many() -> None:
    """A session that has ended leaves nothing behind, and of very many that go on the oldest is forgotten."""
    repeats = Repeats(is_on=True)
    failure = Envelope(code=-32001, name="NOT_FOUND", message="No.", retry=Retry.never())
    keys = [SessionKey() for _ in range(1_001)]
    for key in (*keys, *keys[-1:]):
        assert failure is repeats.failed(key, ["t", {}], failure)
    assert [None, None, 3] == [repeats.failed(key, ["t", {}], failure).repeated for key in (*keys[:1] * 2, *keys[-1:])]

    alive = weakref.WeakSet(keys)
    del key, keys
    gc.collect()
    assert 0 == len(alive)
