"""A model's one tool call through each framework, as `ask(server, tool, arguments, policy)`: the text that the model reads."""

from __future__ import annotations

import json
import warnings
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

from mcpcore import Server
from mcpcore.client import CallPolicy

Ask = Callable[[Server, str, dict[str, Any], CallPolicy], Awaitable[str]]


async def pydantic_ai(server: Server, tool: str, arguments: dict[str, Any], policy: CallPolicy) -> str:
    """Pydantic AI; the outcome comes first, since the model's prompt differs by it."""
    from fastmcp import Client
    from pydantic_ai import Agent
    from pydantic_ai.mcp import MCPToolset
    from pydantic_ai.messages import ModelResponse, RetryPromptPart, TextPart, ToolCallPart, ToolReturnPart
    from pydantic_ai.models.function import FunctionModel

    from mcpcore.integrations.pydantic_ai import PolicyToolset

    seen: list[str] = []

    def model(messages: list[Any], _: Any) -> ModelResponse:
        last = messages[-1].parts[-1]
        if isinstance(last, RetryPromptPart):
            seen.append(f"[retried] {last.content}")
        elif isinstance(last, ToolReturnPart):
            seen.append(f"[{last.outcome}] {last.content}")
        else:
            return ModelResponse(parts=[ToolCallPart(tool, arguments)])
        return ModelResponse(parts=[TextPart("done")])

    await Agent(FunctionModel(model), toolsets=[PolicyToolset(MCPToolset(Client(server)), policy=policy)]).run("work")
    return "\n".join(seen)


async def openai_agents(server: Server, tool: str, arguments: dict[str, Any], policy: CallPolicy) -> str:
    """The OpenAI Agents SDK, with a server class of the application's own: the SDK's run a process."""
    from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage
    from agents.mcp import MCPServer
    from mcp import Client
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    from mcpcore.integrations.openai_agents import FollowsPolicy

    class InThisProcess(MCPServer):
        name = "shop"

        async def connect(self) -> None:
            self.stack = AsyncExitStack()
            self.client = await self.stack.enter_async_context(Client(server))

        async def cleanup(self) -> None:
            await self.stack.aclose()

        async def list_tools(self, run_context: Any = None, agent: Any = None) -> Any:
            return (await self.client.list_tools()).tools

        async def call_tool(self, tool_name: str, arguments: Any, meta: Any = None) -> Any:
            return await self.client.call_tool(tool_name, arguments)

        list_prompts = get_prompt = None  # type: ignore[assignment]

    class Followed(FollowsPolicy, InThisProcess):
        pass

    seen: list[str] = []

    class Scripted(Model):
        async def get_response(self, system_instructions: Any, input: Any, *_: Any, **__: Any) -> ModelResponse:
            output: Any = ResponseFunctionToolCall(
                type="function_call", call_id="1", name=tool, arguments=json.dumps(arguments)
            )
            if isinstance(input, list) and input[-1].get("type") == "function_call_output":
                parts = input[-1]["output"]
                seen.append(parts if isinstance(parts, str) else "\n".join(part["text"] for part in parts))
                text = ResponseOutputText(type="output_text", text="done", annotations=[])
                output = ResponseOutputMessage(
                    id="2", type="message", role="assistant", status="completed", content=[text]
                )
            return ModelResponse(output=[output], usage=Usage(), response_id=None)

        def stream_response(self, *_: Any, **__: Any) -> Any:
            raise NotImplementedError

    mcp_server = Followed(policy=policy)
    await mcp_server.connect()
    try:
        agent = Agent(name="shop", model=Scripted(), mcp_servers=[mcp_server])
        await Runner.run(agent, "work", run_config=RunConfig(tracing_disabled=True))
    finally:
        await mcp_server.cleanup()
    return "\n".join(seen)


async def langchain(server: Server, tool: str, arguments: dict[str, Any], policy: CallPolicy) -> str:
    """LangChain, with an agent on `langchain.mcp`."""
    from langchain.agents import create_agent
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, ToolMessage
    from langchain_core.outputs import ChatGeneration, ChatResult

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from langchain.mcp import MCPAdapter

    from mcpcore.integrations.langchain import PolicyMiddleware

    seen: list[str] = []

    class Scripted(BaseChatModel):
        @property
        def _llm_type(self) -> str:
            return "scripted"

        def bind_tools(self, *_: Any, **__: Any) -> Any:
            return self

        def _generate(self, messages: list[Any], *_: Any, **__: Any) -> ChatResult:
            reply = AIMessage("", tool_calls=[{"name": tool, "args": arguments, "id": "1"}])
            if isinstance(messages[-1], ToolMessage):
                seen.append(messages[-1].text)
                reply = AIMessage("done")
            return ChatResult(generations=[ChatGeneration(message=reply)])

    async with MCPAdapter(server) as adapter:
        agent = create_agent(Scripted(), await adapter.list_tools(), middleware=[PolicyMiddleware(policy)])
        await agent.ainvoke({"messages": [("user", "work")]})  # type: ignore[call-overload]
    return "\n".join(seen)


async def fastmcp(server: Server, tool: str, arguments: dict[str, Any], policy: CallPolicy) -> str:
    """FastMCP's client, whose program passes on the text of a result or of an exception."""
    from mcpcore.integrations.fastmcp_client import PolicyClient, PolicyToolError

    async with PolicyClient(server, policy=policy) as client:
        try:
            result = await client.call_tool(tool, arguments)
        except PolicyToolError as failed:
            return str(failed)
        return "\n".join(block.text for block in result.content)


FRAMEWORKS: dict[str, Ask] = {ask.__name__: ask for ask in (pydantic_ai, openai_agents, langchain, fastmcp)}
