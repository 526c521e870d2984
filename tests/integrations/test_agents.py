"""Failed calls follow one policy in each framework, and the model reads how they end."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from mcpcore.client import CallPolicy, RetryBudget, Step
from tests.integrations.agents import FRAMEWORKS, Ask
from tests.integrations.shop import SECRET, make_shop

pytestmark = pytest.mark.anyio
ROOT = Path(__file__).parents[2]
TOLD = [name for name in FRAMEWORKS if name != "fastmcp"]
"""The frameworks that answer a model; FastMCP's client answers a program, which reads the steps instead."""


@pytest.fixture(params=FRAMEWORKS)
def ask(request: pytest.FixtureRequest) -> Ask:
    """One of the frameworks."""
    return FRAMEWORKS[request.param]


async def calls_of(server: Any) -> list[str]:
    async with Client(server) as client:
        return (await client.call_tool("calls")).structured_content["result"]  # type: ignore[index,no-any-return]


async def test_a_retryable_failure_is_retried_before_the_model_sees_it(ask: Ask) -> None:
    server = make_shop()
    steps: list[Step] = []
    text = await ask(server, "work", {"kind": "busy once"}, CallPolicy(on_step=steps.append))
    assert text.endswith("work of size 10 is done")
    assert "busy" not in text
    assert ["work busy once 10"] * 2 == await calls_of(server)
    assert ["called", "failed", "waited", "retried", "succeeded"] == [step.kind for step in steps]


async def test_a_failure_that_stays_is_read_whole(ask: Ask) -> None:
    server = make_shop()
    text = await ask(server, "work", {"kind": "busy"}, CallPolicy(max_attempts=3))
    for part in ("The shop is busy.", "Wait a moment and call again.", "reason busy", "retry after 0.01 s", "nothing"):
        assert part in text
    assert 3 == len(await calls_of(server))


async def test_a_call_that_may_have_taken_effect_is_made_once(ask: Ask) -> None:
    server = make_shop()
    text = await ask(server, "work", {"kind": "crash"}, CallPolicy())
    assert "INTERNAL_ERROR" in text
    assert "it may have taken effect" in text
    assert SECRET not in text
    assert ["work crash 10"] == await calls_of(server)


async def test_an_undeclared_retry_of_an_unsafe_tool_is_not_made(ask: Ask) -> None:
    """The plain failure reads as retryable, but a second call may be unsafe; the text is the server's."""
    server = make_shop()
    text = await ask(server, "plain", {"kind": "x"}, CallPolicy())
    assert "service unavailable, try again later" in text
    assert ["plain x"] == await calls_of(server)


async def test_the_fallback_is_the_models_choice_by_default(ask: Ask) -> None:
    server = make_shop()
    text = await ask(server, "work", {"kind": "closed"}, CallPolicy())
    assert "try other" in text
    assert ["work closed 10"] == await calls_of(server)


@pytest.mark.parametrize("name", FRAMEWORKS)
async def test_an_allowed_fallback_is_called(name: str) -> None:
    server = make_shop()
    text = await FRAMEWORKS[name](server, "work", {"kind": "closed"}, CallPolicy(fallbacks={"other"}))
    assert "other has done it" in text
    assert ["work closed 10", "other closed 10"] == await calls_of(server)
    if name in TOLD:
        assert "work failed (closed): The shop is closed. The contract names other as the fallback." in text


@pytest.mark.parametrize("name", FRAMEWORKS)
async def test_an_allowed_correction_is_made(name: str) -> None:
    server = make_shop()
    text = await FRAMEWORKS[name](server, "work", {"kind": "too big"}, CallPolicy(corrections=True))
    assert "work of size 1 is done" in text
    assert ["work too big 10", "work too big 1"] == await calls_of(server)
    if name in TOLD:
        assert "The contract says to call with another size." in text


async def test_a_late_answer_is_a_failure_that_the_model_reads(ask: Ask) -> None:
    text = await ask(make_shop(), "work", {"kind": "late"}, CallPolicy(max_elapsed=0.3))
    assert "work did not answer within the 0.3 s that the policy allows." in text


async def test_a_shared_budget_ends_the_retries(ask: Ask) -> None:
    server = make_shop()
    policy = CallPolicy(budget=RetryBudget(ratio=0, minimum=1))
    await ask(server, "work", {"kind": "busy"}, policy)
    await ask(server, "work", {"kind": "busy"}, policy)
    assert 3 == len(await calls_of(server))


async def test_cancellation_passes(ask: Ask) -> None:
    with anyio.move_on_after(0.5) as scope:
        await ask(make_shop(), "work", {"kind": "late"}, CallPolicy())
    assert scope.cancelled_caught


async def test_pydantic_ai_retries_what_the_model_can_correct_and_fails_the_rest() -> None:
    """A failure that other arguments can correct counts as a retry; any other is a failed tool result."""
    ask = FRAMEWORKS["pydantic_ai"]
    for kind, outcome in (
        ("too big", "[retried]"),
        ("closed", "[failed]"),
        ("busy", "[failed]"),
        ("crash", "[failed]"),
    ):
        assert (await ask(make_shop(), "work", {"kind": kind}, CallPolicy(max_attempts=1))).startswith(
            f"{outcome} Error: "
        )
    text = await ask(make_shop(), "work", {"kind": "closed", "size": "big"}, CallPolicy())
    assert text.startswith("[retried] Error: The arguments do not fit work")


@pytest.mark.parametrize(("effects", "outcome"), [("none", "[retried]"), (None, "[retried]"), ("unknown", "[failed]")])
async def test_pydantic_ai_does_not_ask_for_another_call_after_an_effect(effects: Any, outcome: str) -> None:
    """A `ModelRetry` tells the model to try again, which may place the order twice."""
    from mcpcore import Server, tool, validation_error

    @tool
    def order() -> str:
        """Place an order."""
        raise validation_error("No.", effects=effects)

    text = await FRAMEWORKS["pydantic_ai"](Server("orders", tools=[order]), "order", {}, CallPolicy())
    assert text.startswith(f"{outcome} Error: No.")


async def test_pydantic_ai_leaves_a_failure_without_an_envelope_to_the_toolset() -> None:
    from mcp.server import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError

    server = MCPServer("plain")

    @server.tool()
    def fail() -> str:
        raise ToolError("no such thing")

    text = await FRAMEWORKS["pydantic_ai"](server, "fail", {}, CallPolicy())  # type: ignore[arg-type]
    assert "[retried] Error executing tool fail: no such thing" == text


async def test_langchain_leaves_other_tools_alone() -> None:
    from langchain_core.messages import ToolMessage
    from langchain_core.tools import tool as langchain_tool

    from mcpcore.integrations.langchain import PolicyMiddleware

    @langchain_tool
    def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    class Request:
        tool = add

    asked = []

    async def handler(request: Any) -> ToolMessage:
        asked.append(request)
        return ToolMessage("RATE_LIMITED", tool_call_id="1", status="error")

    request = Request()
    answer = await PolicyMiddleware().awrap_tool_call(request, handler)  # type: ignore[arg-type]
    assert "RATE_LIMITED" == answer.text  # type: ignore[union-attr]
    assert [request] == asked


def langchain_request() -> Any:
    """The call of a tool that comes from a server."""
    from langchain_core.tools import StructuredTool
    from langgraph.prebuilt.tool_node import ToolCallRequest

    class Runtime:
        tools = ()

    tool = StructuredTool.from_function(lambda: "", name="go", description="Go.", metadata={"mcp": {"tool": {}}})
    return ToolCallRequest(tool_call={"name": "go", "args": {}, "id": "1"}, tool=tool, state={}, runtime=Runtime())  # type: ignore[arg-type]


async def test_langchain_leaves_a_command_alone() -> None:
    """A tool that steers the graph has not failed."""
    from langgraph.types import Command

    from mcpcore.integrations.langchain import PolicyMiddleware

    command: Command[Any] = Command(goto="end")

    async def handler(_: Any) -> Command[Any]:
        return command

    assert command is await PolicyMiddleware().awrap_tool_call(langchain_request(), handler)


async def test_langchain_shows_the_model_an_error_of_the_protocol() -> None:
    from mcp.shared.exceptions import MCPError

    from mcpcore.integrations.langchain import PolicyMiddleware

    async def handler(_: Any) -> Any:
        raise MCPError(-32602, "Unknown tool: go")

    answer = await PolicyMiddleware().awrap_tool_call(langchain_request(), handler)
    assert "error" == answer.status  # type: ignore[union-attr]
    assert "Error: Unknown tool: go" in answer.text  # type: ignore[union-attr]


async def test_the_agents_sdk_gets_the_protocols_own_error_as_before() -> None:
    """Its run turns the exception into the output of the call."""
    from agents.mcp import MCPServer
    from mcp.shared.exceptions import MCPError

    from mcpcore.integrations.openai_agents import FollowsPolicy

    async with Client(make_shop()) as client:

        class Server(MCPServer):
            name = "shop"
            connect = cleanup = list_prompts = get_prompt = None  # type: ignore[assignment]

            async def list_tools(self, *_: Any) -> Any:
                return (await client.list_tools()).tools

            async def call_tool(self, tool_name: str, arguments: Any, meta: Any = None) -> Any:
                return await client.call_tool(tool_name, arguments)

        class Followed(FollowsPolicy, Server):
            pass

        with pytest.raises(MCPError, match="Unknown tool"):
            await Followed().call_tool("wrok", {})


async def test_the_client_of_fastmcp_returns_a_failure_where_it_is_told_to() -> None:
    from fastmcp.exceptions import ToolError
    from mcp.shared.exceptions import MCPError

    from mcpcore.integrations.fastmcp_client import PolicyClient, PolicyToolError

    async with PolicyClient(make_shop()) as client:
        result = await client.call_tool("work", {"kind": "closed"}, raise_on_error=False)
        assert result.is_error
        with pytest.raises(MCPError, match="Unknown tool"):
            await client.call_tool("wrok", {"kind": "closed"}, raise_on_error=False)
        with pytest.raises(ToolError) as raised:
            await client.call_tool("wrok", {"kind": "closed"})
        assert isinstance(raised.value, PolicyToolError)
        assert isinstance(raised.value.__cause__, MCPError)
        assert "unknown_tool" == raised.value.reason
        assert "Did you mean work?" in str(raised.value)


@pytest.mark.slow
@pytest.mark.no_server
@pytest.mark.parametrize("name", ["pydantic_ai_agent", "openai_agents_agent", "langchain_agent", "fastmcp_program"])
def test_the_examples_run(name: str) -> None:
    """Each example in `examples/agents` shows the retry that the model does not see, and ends well."""
    done = subprocess.run(
        [sys.executable, "-m", f"examples.agents.{name}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert 0 == done.returncode, done.stderr
    assert 1 == done.stdout.count(
        "  (not shown to the model: book failed (desk_busy): Another booking is being made.)\n"
    )
    assert done.stdout.rstrip().endswith(("You are on the waiting list.", "or ask for another show."))
