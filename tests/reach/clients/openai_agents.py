"""The text for the model of an agent of the OpenAI Agents SDK.

The scripted model calls the tool once, and keeps the output that it is given next.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage
from agents.exceptions import AgentsException
from agents.mcp import MCPServerStreamableHttp
from common import CASES, answer
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText


class Scripted(Model):
    """Calls one tool, then ends."""

    def __init__(self, tool: str, arguments: dict[str, object]) -> None:
        self.call = ResponseFunctionToolCall(
            type="function_call", call_id="1", name=tool, arguments=json.dumps(arguments)
        )
        self.seen: list[str] = []

    async def get_response(self, system_instructions: Any, input: Any, *_: Any, **__: Any) -> ModelResponse:
        output: Any = self.call
        if isinstance(input, list) and input[-1].get("type") == "function_call_output":
            parts = input[-1]["output"]
            self.seen.append(parts if isinstance(parts, str) else "\n".join(part["text"] for part in parts))
            text = ResponseOutputText(type="output_text", text="done", annotations=[])
            output = ResponseOutputMessage(id="2", type="message", role="assistant", status="completed", content=[text])
        return ModelResponse(output=[output], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError


async def text_of(server: MCPServerStreamableHttp, tool: str, arguments: dict[str, object]) -> str:
    """The text after one call; where the SDK ends the run instead, the error of the run."""
    model = Scripted(tool, arguments)
    try:
        await Runner.run(
            Agent(name="shop", model=model, mcp_servers=[server]),
            "reserve",
            run_config=RunConfig(tracing_disabled=True),
        )
    except AgentsException as error:
        return f"[the run ends] {type(error).__name__}: {error}"
    return "\n".join(model.seen)


async def ask(url: str) -> dict[str, dict[str, str]]:
    """All cases against one server."""
    async with MCPServerStreamableHttp(params={"url": url}, cache_tools_list=True) as server:
        return {"OpenAI Agents SDK": {case: await text_of(server, *call) for case, call in CASES.items()}}


asyncio.run(answer(ask))
