"""Failed calls follow one policy in each framework, and the model reads how they end."""

from __future__ import annotations

import runpy
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from mcpcore.client import CallPolicy, RetryBudget, Step
from tests.integrations.agents import FRAMEWORKS, Ask
from tests.integrations.shop import SECRET, make_shop

pytestmark = pytest.mark.anyio
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


@pytest.mark.parametrize("name", FRAMEWORKS)
@pytest.mark.parametrize(
    ("tool", "kind", "policy", "parts", "notes", "calls"),
    [
        pytest.param(
            "work", "busy", {"max_attempts": 3},
            ["The shop is busy.", "Wait a moment and call again.", "reason busy", "retry after 0.01 s", "nothing"],
            [], ["work busy 10"] * 3, id="a failure that stays is read whole",
        ),
        pytest.param(
            "work", "crash", {}, ["INTERNAL_ERROR", "it may have taken effect"],
            [], ["work crash 10"], id="a call that may have taken effect is made once",
        ),
        # The plain failure reads as retryable, but a second call may be unsafe; the text is the server's.
        pytest.param(
            "plain", "x", {}, ["service unavailable, try again later"],
            [], ["plain x"], id="an undeclared retry of an unsafe tool is not made",
        ),
        pytest.param(
            "work", "closed", {}, ["try other"],
            [], ["work closed 10"], id="the fallback is the model's choice by default",
        ),
        pytest.param(
            "work", "closed", {"fallbacks": {"other"}}, ["other has done it"],
            ["work failed (closed): The shop is closed. The contract names other as the fallback."],
            ["work closed 10", "other closed 10"], id="an allowed fallback is called",
        ),
        pytest.param(
            "work", "too big", {"corrections": True}, ["work of size 1 is done"],
            ["The contract says to call with another size."],
            ["work too big 10", "work too big 1"], id="an allowed correction is made",
        ),
        pytest.param(
            "work", "late", {"max_elapsed": 0.3}, ["work did not answer within the 0.3 s that the policy allows."],
            [], ["work late 10"], id="a late answer is a failure that the model reads",
        ),
    ],
)  # fmt: skip
async def test_the_policy_decides_how_a_failed_call_ends(
    name: str, tool: str, kind: str, policy: dict[str, Any], parts: list[str], notes: list[str], calls: list[str]
) -> None:
    server = make_shop()
    text = await FRAMEWORKS[name](server, tool, {"kind": kind}, CallPolicy(**policy))
    for part in parts + (notes if name in TOLD else []):
        assert part in text
    assert SECRET not in text
    assert calls == await calls_of(server)


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
    from mcpcore.integrations.langchain import PolicyMiddleware

    async def handler(_: Any) -> Any:
        raise MCPError(-32602, "Unknown tool: go")

    answer = await PolicyMiddleware().awrap_tool_call(langchain_request(), handler)
    assert "error" == answer.status  # type: ignore[union-attr]
    assert "Error: Unknown tool: go" in answer.text  # type: ignore[union-attr]


async def test_the_agents_sdk_gets_the_protocols_own_error_as_before() -> None:
    """Its run turns the exception into the output of the call."""
    from agents.mcp import MCPServer

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

    from mcpcore.integrations.fastmcp_client import PolicyClient, PolicyToolError

    async with PolicyClient(make_shop()) as client:
        assert (await client.call_tool("work", {"kind": "closed"}, raise_on_error=False)).is_error
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
def test_the_examples_run(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each example in `examples/agents` shows the retry that the model does not see, and ends well."""
    runpy.run_module(f"examples.agents.{name}", run_name="__main__")
    printed = capsys.readouterr().out
    assert 1 == printed.count("  (not shown to the model: book failed (desk_busy): Another booking is being made.)\n")
    assert printed.rstrip().endswith(("You are on the waiting list.", "or ask for another show."))
