"""Runs with langchain-mcp-adapters, on the SDK 1: calls under a policy, as the JSON of the texts that the model reads.

`python adapters_agent.py SERVER_COMMAND...`
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_mcp_adapters.tools import load_mcp_tools
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from mcpcore.client import CallPolicy
from mcpcore.integrations.langchain import PolicyMiddleware
from mcpcore.integrations.langchain_mcp_adapters import PolicyInterceptor

CALLS = (
    ("work", {"kind": "busy once"}),
    ("work", {"kind": "busy"}),
    ("work", {"kind": "closed"}),
    ("work", {"kind": "too big"}),
    ("work", {"kind": "crash"}),
    ("plain", {"kind": "x"}),
)
POLICY = CallPolicy(max_attempts=3, fallbacks={"other"}, corrections=True)


class Scripted(BaseChatModel):
    """Calls one tool, and keeps the message that it is given next."""

    call: tuple[str, dict[str, Any]]
    seen: list[str]

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, *_: Any, **__: Any) -> Any:
        """The script knows its tools."""
        return self

    def _generate(self, messages: list[Any], *_: Any, **__: Any) -> ChatResult:
        tool, arguments = self.call
        reply = AIMessage("", tool_calls=[{"name": tool, "args": arguments, "id": "1"}])
        if isinstance(messages[-1], ToolMessage):
            self.seen.append(messages[-1].text)
            reply = AIMessage("done")
        return ChatResult(generations=[ChatGeneration(message=reply)])


async def read(tools: list[Any], call: tuple[str, dict[str, Any]], middleware: list[Any]) -> str:
    """The text that the model reads after one call."""
    model = Scripted(call=call, seen=[])
    await create_agent(model, tools, middleware=middleware).ainvoke({"messages": [("user", "work")]})
    return "\n".join(model.seen)


async def texts(way: str) -> dict[str, Any]:
    """The texts of all calls, with the interceptor or the middleware, and the calls that the server saw."""
    server = StdioServerParameters(command=sys.argv[1], args=sys.argv[2:])
    async with stdio_client(server) as (reading, writing), ClientSession(reading, writing) as session:
        await session.initialize()
        interceptors, middleware = [], []
        if way == "interceptor":
            interceptors = [PolicyInterceptor(POLICY, tools=(await session.list_tools()).tools)]
        else:
            middleware = [PolicyMiddleware(POLICY)]
        tools = await load_mcp_tools(session, tool_interceptors=interceptors)
        answers = {call[1]["kind"]: await read(tools, call, middleware) for call in CALLS}
        made = (await session.call_tool("calls")).structuredContent["result"]
    return {"texts": answers, "calls": made}


async def main() -> None:
    """Print both."""
    print(json.dumps({way: await texts(way) for way in ("interceptor", "middleware")}))


asyncio.run(main())
