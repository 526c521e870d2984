"""`call` with real servers and real clients, over memory, stdio and streamable HTTP."""

from __future__ import annotations

import copy
import pickle
import re
import socket
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import anyio
import pytest
import uvicorn
from fastmcp import Client as FastMCPClient, FastMCP
from fastmcp.exceptions import ToolError
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, ErrorData

from mcpcore import Context, ErrorCode, Retry, Server, tool
from mcpcore.client import CallPolicy, RetryBudget, Step, ToolCallFailed, ToolContract, call, failure_of
from tests.client.shop import BUSY, NO_ITEM, NoItem, shop
from tests.doors import on_fastmcp

pytestmark = pytest.mark.anyio

GET_ITEM: ToolContract[Literal["no_item", "busy"]] = ToolContract("get_item", (NO_ITEM, BUSY))


@asynccontextmanager
async def sdk_client() -> AsyncIterator[tuple[Any, list[Any]]]:
    server, calls = shop()
    async with Client(server) as client:
        yield client, calls


@asynccontextmanager
async def handshake_session() -> AsyncIterator[tuple[Any, list[Any]]]:
    server, calls = shop()
    async with Client(server, mode="legacy") as client:
        yield client.session, calls


@asynccontextmanager
async def fastmcp_client() -> AsyncIterator[tuple[Any, list[Any]]]:
    server, calls = shop()
    async with FastMCPClient(on_fastmcp(server)) as client:
        yield client, calls


@asynccontextmanager
async def stdio_client() -> AsyncIterator[tuple[Any, list[Any]]]:
    root = str(Path(__file__).parents[2])
    command = StdioServerParameters(command=sys.executable, args=["-m", "tests.client.shop"], cwd=root)
    async with Client(command) as client:
        yield client, []


@asynccontextmanager
async def http_client() -> AsyncIterator[tuple[Any, list[Any]]]:
    server, calls = shop()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        web = uvicorn.Server(uvicorn.Config(server.streamable_http_app(), log_level="critical", ws="none"))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(web.serve, [listening])
            async with Client(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp") as client:
                yield client, calls
            web.should_exit = True


ALL = [sdk_client, handshake_session, fastmcp_client, stdio_client, http_client]
Connect = Callable[[], Any]


@pytest.fixture(params=ALL, ids=lambda connect: connect.__name__)
def connect(request: pytest.FixtureRequest) -> Connect:
    """Each kind of session, with the calls that reach the server."""
    return request.param  # type: ignore[no-any-return]


async def failure_in(session: Any, *args: Any, **options: Any) -> ToolCallFailed:
    """Return the failure of a call."""
    try:
        result = await call(session, *args, **options)
    except ToolCallFailed as failed:
        return failed
    pytest.fail(f"the call succeeded: {result}")


async def test_a_success_is_the_result_of_the_client(connect: Connect) -> None:
    """The result is what the client itself returns."""
    async with connect() as (session, _):
        result = await call(session, "get_item", {"item_id": 1})
        assert type(await session.call_tool("get_item", {"item_id": 1})) is type(result)
        assert {"result": "apple"} == result.structured_content


async def test_a_failure_has_its_envelope_and_its_declared_entry(connect: Connect) -> None:
    """A declared failure is read with every client, with the entry that `tools/list` advertises."""
    async with connect() as (session, _):
        failed = await failure_in(session, GET_ITEM, {"item_id": 7})
    assert ("get_item", "no_item", 1, False) == (failed.tool, failed.reason, failed.attempts, failed.inferred)
    assert {"item_id": 7} == failed.arguments
    assert ErrorCode.NOT_FOUND is failed.envelope.error_code
    assert failed.entry is not None
    assert ("There is no such item.", "get_old_item") == (failed.entry.when, failed.entry.fallback_tool)
    assert failed.result is not None
    assert "no_item" == GET_ITEM.reason_of(failed)
    assert NoItem(item_id=7, near=[1]) == failed.data_of(NO_ITEM)
    assert ["called", "failed", "gave_up"] == [step.kind for step in failed.steps]
    assert "get_item failed (no_item): There is no such item." == str(failed)


async def test_a_policy_retries_and_then_falls_back(connect: Connect) -> None:
    """A busy shop is asked again after the wait, and an item that is missing is looked for in the archive."""
    steps: list[Step] = []
    policy = CallPolicy(fallbacks={"get_old_item"}, on_step=steps.append)
    async with connect() as (session, _):
        result = await call(session, "get_item", {"item_id": 7, "busy": 2}, policy=policy)
    assert {"result": "old apple"} == result.structured_content
    kinds = ["called", "failed", "waited", "retried", "failed", "waited", "retried", "failed", "fell_back", "succeeded"]
    assert kinds == [step.kind for step in steps]
    assert [1, 1, 1, 2, 2, 2, 3, 3, 4, 4] == [step.attempt for step in steps]
    assert all(0.01 <= step.wait <= 0.011 for step in steps if step.wait is not None)


async def test_an_unknown_tool_fails(connect: Connect) -> None:
    """A protocol error is the same exception; the client's own is its cause."""
    async with connect() as (session, _):
        failed = await failure_in(session, "nope", policy=CallPolicy())
    assert ("unknown_tool", 1, None, None) == (failed.reason, failed.attempts, failed.entry, failed.result)
    assert isinstance(failed.__cause__, MCPError)


async def test_corrections_are_merged_into_the_arguments() -> None:
    """The declared arguments replace those that failed, once, and only where the policy allows it."""
    async with sdk_client() as (session, calls):
        result = await call(session, "list_items", {"limit": 50}, policy=CallPolicy(corrections={"list_items"}))
        assert 10 == len(result.structured_content["result"])
        assert [50, 10] == [arguments["limit"] for _, arguments in calls]
        failed = await failure_in(session, "list_items", {"limit": 50}, policy=CallPolicy(corrections={"other"}))
    assert 1 == failed.attempts
    assert "The policy does not allow the correction of list_items." == failed.steps[-1].why


@pytest.mark.parametrize("key", ["session_expired", ErrorCode.UNAUTHORIZED, "UNAUTHORIZED"])
async def test_an_action_runs_and_the_call_is_made_again(key: Any) -> None:
    """The application begins a session, and returns the arguments with it."""
    async with sdk_client() as (session, calls):

        async def begin_session(failed: ToolCallFailed) -> dict[str, Any]:
            return {**failed.arguments, "session": (await call(session, "begin_session")).structured_content["result"]}

        result = await call(session, "buy", policy=CallPolicy(on={key: begin_session}))
    assert {"result": "bought"} == result.structured_content
    assert ["", "s1"] == [arguments["session"] for _, arguments in calls]


async def test_an_action_runs_once_for_a_reason() -> None:
    """If it does not help, the failure is raised; an action that returns nothing leaves the arguments as they are."""
    runs: list[ToolCallFailed] = []
    async with sdk_client() as (session, calls):
        failed = await failure_in(session, "buy", policy=CallPolicy(on={"session_expired": runs.append}))
    assert (1, 2, 2) == (len(runs), len(calls), failed.attempts)
    assert "acted" in [step.kind for step in failed.steps]


async def test_an_exception_of_an_action_is_raised() -> None:
    """What the application's own code raises is not hidden."""

    def broken(failed: ToolCallFailed) -> None:
        raise LookupError(failed.tool)

    async with sdk_client() as (session, _):
        with pytest.raises(LookupError, match="buy"):
            await call(session, "buy", policy=CallPolicy(on={"session_expired": broken}))


async def test_what_may_have_taken_effect_is_not_repeated_unless_told() -> None:
    """The failure says to retry and that the order may have been sent."""
    acted: list[ToolCallFailed] = []
    async with sdk_client() as (session, calls):
        policy = CallPolicy(on={"no_answer": acted.append})
        assert 1 == (await failure_in(session, "send", policy=policy)).attempts
        assert [] == acted
        for attempts, unsafe in ((1, {"buy"}), (3, {"send"}), (3, True)):
            policy = CallPolicy(max_attempts=3, retry_unsafe=unsafe)
            assert attempts == (await failure_in(session, "send", policy=policy)).attempts
    assert 8 == len(calls)


async def test_a_fallback_gets_the_arguments_that_the_policy_makes() -> None:
    """A function of the policy makes arguments for a tool that takes others."""
    policy = CallPolicy(fallbacks={"get_old_item": lambda failed: {"item_id": failed.arguments["item_id"] + 1}})
    async with sdk_client() as (session, calls):
        await call(session, "get_item", {"item_id": 7}, policy=policy)
    assert ("get_old_item", {"item_id": 8}) == calls[-1]


async def test_the_failure_of_a_fallback_is_raised() -> None:
    """The failure names the fallback, so that its reason is not taken for one of the first tool."""
    async with sdk_client() as (session, _):
        failed = await failure_in(session, GET_ITEM, {"item_id": 404}, policy=CallPolicy(fallbacks=True))
    assert ("get_old_item", 2) == (failed.tool, failed.attempts)
    assert GET_ITEM.reason_of(failed) is None
    with pytest.raises(ValueError, match="no_item"):
        failed.data_of(NO_ITEM)


async def test_plain_failures_are_inferred() -> None:
    """A text without an envelope gets the code and the advice that it speaks of, and effects by the annotations."""
    mcp: FastMCP[None] = FastMCP("plain")
    calls: list[str] = []

    @mcp.tool(annotations={"readOnlyHint": True})
    def read(words: str) -> str:
        """Read."""
        calls.append(words)
        if len(calls) == 1:
            raise ToolError("rate limit exceeded, retry after 0.01 seconds")
        raise ToolError(words)

    @mcp.tool(annotations={"readOnlyHint": False, "idempotentHint": False})
    def write(words: str) -> str:
        """Write."""
        raise ToolError(words)

    async with FastMCPClient(mcp) as client:
        failed = await failure_in(client, "read", {"words": "no such file"}, policy=CallPolicy(max_wait=2))
        assert ("NOT_FOUND", True, "none", 2) == (
            failed.envelope.name,
            failed.inferred,
            failed.effects,
            failed.attempts,
        )
        late = await failure_in(client, "write", {"words": "503 Service Unavailable"}, policy=CallPolicy())
        assert ("SERVICE_UNAVAILABLE", "unknown", 1) == (late.envelope.name, late.effects, late.attempts)
        assert Retry.never() == late.envelope.retry
        odd = await failure_in(client, "write", {"words": "Elephant!"}, policy=CallPolicy())
        assert ("UNKNOWN_ERROR", "unknown") == (odd.envelope.name, odd.effects)


async def test_a_protocol_error_of_any_kind_is_inferred_from_its_text() -> None:
    """FastMCP has one number for a timeout of a tool and for its rate limit."""
    mcp: FastMCP[None] = FastMCP("slow")

    @mcp.tool(timeout=0.05, annotations={"readOnlyHint": True})
    async def sleep() -> str:
        """Sleep."""
        await anyio.sleep_forever()
        return ""

    async with FastMCPClient(mcp) as client:
        failed = await failure_in(client, "sleep", policy=CallPolicy(max_attempts=2))
        assert ("TIMEOUT", True, "none", 2) == (
            failed.envelope.name,
            failed.inferred,
            failed.effects,
            failed.attempts,
        )


async def test_a_call_of_fastmcp_that_does_not_end_is_cancelled() -> None:
    """The client stays usable."""
    mcp: FastMCP[None] = FastMCP("slow")

    @mcp.tool
    async def sleep(seconds: float) -> str:
        """Sleep."""
        await anyio.sleep(seconds)
        return "rested"

    async with FastMCPClient(mcp) as client:
        failed = await failure_in(client, "sleep", {"seconds": 60}, policy=CallPolicy(max_elapsed=0.2))
        assert ("TIMEOUT", True) == (failed.envelope.name, failed.inferred)
        assert "rested" == (await call(client, "sleep", {"seconds": 0})).data


async def test_a_tool_can_stand_in_place_of_its_name() -> None:
    """A `Tool` of the same program has its name and its contract."""

    @tool(errors=[BUSY])
    def wait(ctx: Context[Literal["busy"]]) -> str:
        """Wait."""
        raise ctx.fail("busy")

    async with Client(Server("busy", tools=[wait])) as client:
        failed = await failure_in(client, wait)
    assert ("wait", "busy") == (failed.tool, failed.reason)


async def test_a_lost_connection_raises_what_the_client_raises() -> None:
    """The call was not answered, so it is no failure of the tool."""

    class Lost:
        async def call_tool(self, name: str, arguments: Any = None) -> CallToolResult:
            raise MCPError.from_error_data(ErrorData(code=-32000, message="Connection closed"))

    with pytest.raises(MCPError, match="Connection closed"):
        await call(Lost(), "get_item", policy=CallPolicy())


async def test_a_budget_is_shared_by_calls() -> None:
    """Once the budget is spent, each call is made once."""
    budget = RetryBudget(ratio=0, minimum=2)
    policy = CallPolicy(budget=budget)
    async with sdk_client() as (session, calls):
        failures = [await failure_in(session, "get_item", {"item_id": 1, "busy": 99}, policy=policy) for _ in range(5)]
    assert [3, 1, 1, 1, 1] == [failed.attempts for failed in failures]
    assert (5, 2, 7) == (budget.calls, budget.retries, len(calls))
    assert "The budget of retries is spent." == failures[0].steps[-1].why
    assert "RetryBudget(ratio=0, minimum=2): 2 retries of 5 calls" == repr(budget)


async def test_a_failure_can_be_pickled_and_copied() -> None:
    """Workers pass failures on; the result and the steps stay behind."""
    async with sdk_client() as (session, _):
        failed = await failure_in(session, "get_item", {"item_id": 7})
    for twin in (pickle.loads(pickle.dumps(failed)), copy.copy(failed)):
        assert (failed.tool, failed.envelope, failed.arguments) == (twin.tool, twin.envelope, twin.arguments)
        assert failed.entry == twin.entry


def test_the_text_of_a_failure_is_one_line() -> None:
    """The message is the server's, and may hold anything."""
    failed = failure_of({"isError": True, "content": [{"type": "text", "text": "a\n\x1b[31mb"}]}, "t\nool")
    assert failed is not None
    assert "\n" not in str(failed)
    assert "\x1b" not in str(failed)
    assert failure_of({"content": []}, "tool") is None


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ({"max_attempts": 3}, "takes a CallPolicy, such as CallPolicy(max_attempts=3), not dict"),
        (CallPolicy, "not the class CallPolicy"),
        (CallPolicy(on={"session_expired": lambda _: "s1"}), "the action for session_expired must return a mapping"),
        (
            CallPolicy(fallbacks={"get_old_item": lambda _: None}),
            "the function for the fallback get_old_item must return",
        ),
    ],
)
async def test_a_mistake_in_the_policy_says_what_to_pass(policy: Any, message: str) -> None:
    """The failure of the tool is in the context of the error."""
    async with sdk_client() as (session, _):
        tool = "get_item" if isinstance(policy, CallPolicy) and policy.fallbacks else "buy"
        with pytest.raises(TypeError, match=re.escape(message)):
            await call(session, tool, {"item_id": 7} if tool == "get_item" else None, policy=policy)


async def test_a_server_is_not_a_client() -> None:
    """Its own `call_tool` would raise other exceptions."""
    with pytest.raises(TypeError, match=r"takes a client, not the server itself, a Server; connect to it first"):
        await call(shop()[0], "buy")
