"""The text for the model of a Pydantic AI agent with an `MCPToolset`, and with mcpcore's `PolicyToolset` around it.

The scripted model calls the tool once, and keeps the part that it is given next.
"""

from __future__ import annotations

import anyio
from common import CASES, answer
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
from pydantic_ai.toolsets import AbstractToolset

from mcpcore.integrations.pydantic_ai import PolicyToolset


async def text_of(toolset: AbstractToolset[None], tool: str, arguments: dict[str, object]) -> str:
    """The text after one call."""
    seen: list[str] = []

    def model(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        last = messages[-1].parts[-1]
        if isinstance(last, RetryPromptPart):
            seen.append(last.model_response())
        elif isinstance(last, ToolReturnPart):
            seen.append(last.model_response_str())
        else:
            return ModelResponse(parts=[ToolCallPart(tool, arguments)])
        return ModelResponse(parts=[TextPart("done")])

    await Agent(FunctionModel(model), toolsets=[toolset]).run("reserve")
    return "\n".join(seen)


async def ask(url: str) -> dict[str, dict[str, str]]:
    """All cases against one server."""
    async with MCPToolset(url) as toolset:
        toolsets = {"Pydantic AI": toolset, "Pydantic AI (PolicyToolset)": PolicyToolset(toolset)}
        return {
            name: {case: await text_of(toolset, *call) for case, call in CASES.items()}
            for name, toolset in toolsets.items()
        }


anyio.run(answer, ask)
