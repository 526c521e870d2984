"""A Pydantic AI agent with a policy for failed calls: `python -m examples.agents.pydantic_ai_agent`."""

from __future__ import annotations

import asyncio

from fastmcp import Client
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    RetryPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

from examples.agents.script import Script, show_retries
from examples.agents.server import make_server
from mcpcore.client import CallPolicy
from mcpcore.integrations.pydantic_ai import PolicyToolset


def scripted() -> FunctionModel:
    """The script as a model of Pydantic AI."""
    script = Script()

    def respond(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        for part in messages[-1].parts:
            if isinstance(part, RetryPromptPart):
                script.read(f"[retry prompt] {part.content}")
            elif isinstance(part, ToolReturnPart):
                script.read(f"[{part.outcome}] {part.content}")
        call = script.next_call()
        if call is None:
            return ModelResponse(parts=[TextPart("You are on the waiting list.")])
        return ModelResponse(parts=[ToolCallPart(call.tool, call.arguments)])

    return FunctionModel(respond)


async def main() -> None:
    """Run the agent on the box office, in this process."""
    toolset = PolicyToolset(MCPToolset(Client(make_server())), policy=CallPolicy(on_step=show_retries))
    result = await Agent(scripted(), toolsets=[toolset]).run("Book 8 seats for Hamlet.")
    print(result.output)


if __name__ == "__main__":
    asyncio.run(main())
