"""The scripted chat model of the two LangChain drivers, and an agent with it."""

from __future__ import annotations

from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult


class Scripted(BaseChatModel):
    """Calls one tool, and keeps the message that it is given next."""

    tool: str
    arguments: dict[str, object]
    seen: list[str]

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, *_: Any, **__: Any) -> Scripted:
        """The script knows its tool."""
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        last = messages[-1]
        if isinstance(last, ToolMessage):
            self.seen.append(last.text)
            reply = AIMessage("done")
        else:
            reply = AIMessage("", tool_calls=[{"name": self.tool, "args": self.arguments, "id": "1"}])
        return ChatResult(generations=[ChatGeneration(message=reply)])


async def text_of(tools: list[Any], tool: str, arguments: dict[str, object]) -> str:
    """The text after one call."""
    model = Scripted(tool=tool, arguments=arguments, seen=[])
    await create_agent(model, tools).ainvoke({"messages": [("user", "reserve")]})
    return "\n".join(model.seen)
