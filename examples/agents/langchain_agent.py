"""A LangChain agent with a policy for failed calls: `python -m examples.agents.langchain_agent`."""

from __future__ import annotations

import asyncio
import warnings
from typing import Any

from langchain.agents import create_agent
from langchain_core._api import LangChainBetaWarning
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import PrivateAttr

from examples.agents.script import Script, show_retries
from examples.agents.server import make_server
from mcpcore.client import CallPolicy
from mcpcore.integrations.langchain import PolicyMiddleware

with warnings.catch_warnings():
    warnings.simplefilter("ignore", LangChainBetaWarning)
    from langchain.mcp import MCPAdapter


class Scripted(BaseChatModel):
    """The script as a chat model of LangChain."""

    _script: Script = PrivateAttr(default_factory=Script)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, *_: Any, **__: Any) -> Any:
        """The script knows its tools."""
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        if isinstance(messages[-1], ToolMessage):
            self._script.read(messages[-1].text)
        call = self._script.next_call()
        message = (
            AIMessage("You are on the waiting list.")
            if call is None
            else AIMessage("", tool_calls=[{"name": call.tool, "args": call.arguments, "id": str(id(call))}])
        )
        return ChatResult(generations=[ChatGeneration(message=message)])


async def main() -> None:
    """Run the agent on the box office, in this process."""
    policy = CallPolicy(on_step=show_retries)
    async with MCPAdapter(make_server()) as adapter:
        agent = create_agent(Scripted(), await adapter.list_tools(), middleware=[PolicyMiddleware(policy)])
        state = await agent.ainvoke({"messages": [HumanMessage("Book 8 seats for Hamlet.")]})
    print(state["messages"][-1].text)


if __name__ == "__main__":
    asyncio.run(main())
