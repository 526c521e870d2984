"""An agent through each integration, as `run(server, script, policy)`; the models are those of `examples/agents`."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, Final
from unittest.mock import patch

from agents import Agent as OpenAIAgent, RunConfig, Runner
from agents.mcp import MCPServer
from fastmcp import Client as FastMCPClient
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from mcp import Client
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset

from examples.agents import langchain_agent, openai_agents_agent, pydantic_ai_agent
from mcpcore.client import CallPolicy, ToolCallFailed, call
from mcpcore.integrations.fastmcp_client import PolicyClient, PolicyToolError
from mcpcore.integrations.langchain import PolicyMiddleware
from mcpcore.integrations.openai_agents import FollowsPolicy
from mcpcore.integrations.pydantic_ai import PolicyToolset

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from examples.agents.script import Call


async def _loop(script: Any, make: Callable[[Call], Awaitable[Any]]) -> None:
    """The loop of a program: make a call, and read the text of its result or of its failure."""
    while following := script.next_call():
        try:
            result = await make(following)
        except PolicyToolError as failed:
            script.read(str(failed))
        except ToolCallFailed as failed:
            script.read(failed.envelope.text())
        else:
            script.read("\n".join(block.text for block in result.content))


async def client_call(server: Any, script: Any, policy: CallPolicy) -> None:
    """`mcpcore.client.call`, in a loop."""
    async with Client(server, cache=None) as client:
        await _loop(script, lambda made: call(client, made.tool, made.arguments, policy=policy))


async def fastmcp_client(server: Any, script: Any, policy: CallPolicy) -> None:
    """FastMCP's client, in a loop."""
    async with PolicyClient(server, policy=policy) as client:
        await _loop(script, lambda made: client.call_tool(made.tool, made.arguments))


async def pydantic_ai(server: Any, script: Any, policy: CallPolicy) -> None:
    """An agent of Pydantic AI."""
    toolset = PolicyToolset(MCPToolset(FastMCPClient(server)), policy=policy)
    with patch.object(pydantic_ai_agent, "Script", lambda: script):
        model = pydantic_ai_agent.scripted()
    await Agent(model, toolsets=[toolset], retries=5).run("Run the errand.")


class _InThisProcess(MCPServer):
    """A server of the Agents SDK without a process."""

    def __init__(self, server: Any) -> None:
        super().__init__()
        self._server = server
        self._stack = AsyncExitStack()

    @property
    def name(self) -> str:
        return "orders"

    async def connect(self) -> None:
        self._client = await self._stack.enter_async_context(Client(self._server, cache=None))

    async def cleanup(self) -> None:
        await self._stack.aclose()

    async def list_tools(self, run_context: Any = None, agent: Any = None) -> Any:  # noqa: ARG002 - the SDK's
        return (await self._client.list_tools()).tools

    async def call_tool(self, tool_name: str, arguments: Any, meta: Any = None) -> Any:  # noqa: ARG002 - the SDK's
        return await self._client.call_tool(tool_name, arguments)

    list_prompts = get_prompt = None  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]


class _Followed(FollowsPolicy, _InThisProcess):
    pass


async def openai_agents(server: Any, script: Any, policy: CallPolicy) -> None:
    """An agent of the OpenAI Agents SDK."""
    model = openai_agents_agent.Scripted()
    model._script = script  # noqa: SLF001 - the example's
    tools = _Followed(server, policy=policy)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(tools.cleanup)
        await tools.connect()
        agent = OpenAIAgent(name="clerk", model=model, mcp_servers=[tools])
        await Runner.run(agent, "Run the errand.", run_config=RunConfig(tracing_disabled=True))


async def langchain(server: Any, script: Any, policy: CallPolicy) -> None:
    """An agent of LangChain."""
    model = langchain_agent.Scripted()
    model._script = script  # noqa: SLF001 - the example's
    from langchain.mcp import MCPAdapter  # here, since it warns that it is new

    async with MCPAdapter(server) as adapter:
        agent = create_agent(model, await adapter.list_tools(), middleware=[PolicyMiddleware(policy)])
        await agent.ainvoke({"messages": [HumanMessage("Run the errand.")]})


FRAMEWORKS: Final = {run.__name__: run for run in (client_call, pydantic_ai, openai_agents, langchain, fastmcp_client)}
