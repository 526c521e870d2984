"""An agent of the OpenAI Agents SDK with a policy for failed calls: `python -m examples.agents.openai_agents_agent`."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import TYPE_CHECKING, Any

from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from examples.agents.script import Script, show_retries
from mcpcore.client import CallPolicy
from mcpcore.integrations.openai_agents import PolicyServerStdio

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class Scripted(Model):
    """The script as a model of the Agents SDK."""

    def __init__(self) -> None:
        """Begin with the first call."""
        self._script = Script()

    async def get_response(
        self,
        system_instructions: str | None,  # noqa: ARG002
        input: Any,  # noqa: A002
        *_: Any,
        **__: Any,
    ) -> ModelResponse:
        """Read the last output, and make the next call."""
        if isinstance(input, list) and input[-1].get("type") == "function_call_output":
            self._script.read("\n".join(part["text"] for part in input[-1]["output"]))
        call = self._script.next_call()
        output: ResponseFunctionToolCall | ResponseOutputMessage
        if call is None:
            text = ResponseOutputText(type="output_text", text="You are on the waiting list.", annotations=[])
            output = ResponseOutputMessage(
                id="end", type="message", role="assistant", status="completed", content=[text]
            )
        else:
            output = ResponseFunctionToolCall(
                type="function_call", call_id=str(id(call)), name=call.tool, arguments=json.dumps(call.arguments)
            )
        return ModelResponse(output=[output], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        """Not part of the script."""
        raise NotImplementedError


async def main() -> None:
    """Run the agent on the box office, over stdio."""
    command: Any = {"command": sys.executable, "args": ["-m", "examples.agents.server"]}
    async with PolicyServerStdio(command, policy=CallPolicy(on_step=show_retries)) as server:
        agent = Agent(name="clerk", model=Scripted(), mcp_servers=[server])
        result = await Runner.run(agent, "Book 8 seats for Hamlet.", run_config=RunConfig(tracing_disabled=True))
    print(result.final_output)


if __name__ == "__main__":
    asyncio.run(main())
