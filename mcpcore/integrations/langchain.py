"""LangChain: a middleware for agents, under which failed calls of MCP tools follow a policy before the model sees them.

```python
from langchain.agents import create_agent
from langchain.mcp import MCPAdapter

from mcpcore.client import CallPolicy
from mcpcore.integrations.langchain import PolicyMiddleware

async with MCPAdapter("https://shop.example/mcp") as adapter:
    agent = create_agent(model, await adapter.list_tools(), middleware=[PolicyMiddleware(CallPolicy())])
```

It works with the tools of `langchain.mcp` and with those of `langchain-mcp-adapters`. For the latter,
`mcpcore.integrations.langchain_mcp_adapters` does the same without LangChain's agents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain.agents.middleware import AgentMiddleware, ToolCallRequest
from langchain_core.messages import ToolCall, ToolMessage

from mcpcore.client import CallPolicy, relay

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from langchain_core.tools import BaseTool
    from langgraph.types import Command


class PolicyMiddleware(AgentMiddleware[Any, Any, Any]):
    """Calls of MCP tools follow a policy; other tools and the rest of the agent are left alone.

    With langchain-mcp-adapters, a tool counts as one if it has a contract, and the tools of `langchain.mcp` always do.

    A retryable failure is retried before the model sees it. The model then gets the message of the last failure, as
    always in LangChain.

    ```python
    agent = create_agent(model, tools, middleware=[PolicyMiddleware(CallPolicy())])
    ```
    """

    def __init__(self, policy: CallPolicy | None = None) -> None:
        """Make the middleware.

        Args:
            policy: The policy for failures; by default `CallPolicy()`.
        """
        super().__init__()
        self.policy = policy or CallPolicy()

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """Call a tool under the policy.

        Args:
            request: The call that the agent makes.
            handler: Makes the call.
        """
        if request.tool is None or _mcp_metadata(request.tool) is None:
            return await handler(request)
        # Tools of a server have its JSON schema, even those of which it says nothing more.
        tools = {tool.name: tool for tool in request.runtime.tools if isinstance(tool.args_schema, dict)}
        tools[request.tool.name] = request.tool

        async def call_tool(called: str, arguments: dict[str, Any]) -> ToolMessage | Command[Any]:
            asked: ToolCall = {**request.tool_call, "name": called, "args": arguments}
            return await handler(request.override(tool=tools[called], tool_call=asked))

        relayed = await relay(
            call_tool,
            request.tool.name,
            request.tool_call["args"],
            read=_result,
            tools=map(_listed, tools.values()),
            policy=self.policy,
        )
        answer = relayed.answer
        if answer is None:
            return ToolMessage(
                relayed.text, name=request.tool.name, tool_call_id=request.tool_call["id"], status="error"
            )
        if not relayed.note or not isinstance(answer, ToolMessage):
            return answer
        return answer.model_copy(update={"content": [{"type": "text", "text": relayed.note}, *answer.content_blocks]})


def _result(answer: ToolMessage | Command[Any]) -> Mapping[str, Any]:
    """The JSON of the result that a message was made of. A `Command` steers the graph, and is no failure."""
    if not isinstance(answer, ToolMessage):
        return {"content": [], "isError": False}
    artifact = answer.artifact
    return {
        "content": [{"type": "text", "text": answer.text}],
        "structuredContent": artifact.get("structured_content") if isinstance(artifact, dict) else None,
        "isError": answer.status == "error",
    }


def _mcp_metadata(tool: BaseTool) -> Mapping[str, Any] | None:
    """What an MCP server says of the tool; None for a tool that does not come from one."""
    metadata = tool.metadata or {}
    mcp = metadata.get("mcp")
    if isinstance(mcp, dict):
        listed = mcp.get("tool", {})
        annotations = listed.get("annotations", {})
        return {
            "annotations": {
                "readOnlyHint": annotations.get("read_only_hint"),
                "idempotentHint": annotations.get("idempotent_hint"),
            },
            "_meta": listed.get("_meta"),
        }
    # langchain-mcp-adapters adds the annotations to the metadata itself.
    return {"annotations": metadata, "_meta": metadata["_meta"]} if "_meta" in metadata else None


def _listed(tool: BaseTool) -> Mapping[str, Any]:
    """A tool as its server lists it."""
    schema = tool.args_schema
    return {
        **(_mcp_metadata(tool) or {}),
        "name": tool.name,
        "inputSchema": schema if isinstance(schema, dict) else {},
    }
