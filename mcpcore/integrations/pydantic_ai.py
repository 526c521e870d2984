"""Pydantic AI: a toolset whose failed calls follow a policy before the model sees them.

```python
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset

from mcpcore.client import CallPolicy
from mcpcore.integrations.pydantic_ai import PolicyToolset

toolset = PolicyToolset(MCPToolset("https://shop.example/mcp"), policy=CallPolicy())
agent = Agent("openai:gpt-5", toolsets=[toolset])
```
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fastmcp.exceptions import ToolError
from pydantic_ai.exceptions import ModelRetry, ToolFailed
from pydantic_ai.tools import AgentDepsT, RunContext, ToolDefinition
from pydantic_ai.toolsets import WrapperToolset

from mcpcore.client import CallPolicy, relay
from mcpcore.contract.effects import CHANGED
from mcpcore.values.untrusted import json_object

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic_ai.toolsets.abstract import ToolsetTool


@dataclass
class PolicyToolset(WrapperToolset[AgentDepsT]):
    """A toolset around one or more MCP servers, whose failed calls follow a policy.

    A retryable failure is retried first. Then the model gets the failure as the text that the server sends of it: one
    that the model can correct with other arguments as a `ModelRetry`, which counts as a retry of Pydantic AI and asks
    the model to try again, and any other as a failed tool result, also one that may have taken effect. A failure
    without an envelope is raised as the wrapped toolset raised it.

    Wrap it around an `MCPToolset`, or around a toolset that leaves the names of the tools as they are: a fallback
    tool is known by the name that its server gives it.

    ```python
    agent = Agent(model, toolsets=[PolicyToolset(MCPToolset("https://shop.example/mcp"), policy=CallPolicy())])
    ```

    Attributes:
        wrapped: The toolset whose tools are called.
        policy: The policy for failures.
    """

    policy: CallPolicy = field(default_factory=CallPolicy)
    _tools: dict[str, ToolsetTool[AgentDepsT]] = field(default_factory=dict, init=False, repr=False, compare=False)

    async def get_tools(self, ctx: RunContext[AgentDepsT]) -> dict[str, ToolsetTool[AgentDepsT]]:
        """The tools of the wrapped toolset.

        Args:
            ctx: The context of the run.
        """
        self._tools = await super().get_tools(ctx)
        return self._tools

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[AgentDepsT], tool: ToolsetTool[AgentDepsT]
    ) -> Any:
        """Call a tool under the policy.

        Args:
            name: The name of the tool.
            tool_args: The arguments of the call.
            ctx: The context of the run.
            tool: The tool, as `get_tools` returned it.

        Raises:
            ModelRetry: If the model can correct the failure with other arguments.
            ToolFailed: If it cannot.
        """
        # The agent passes the called tool only, and the policy may call a fallback tool.
        tools = {**self._tools, name: tool}

        async def call_tool(called: str, arguments: dict[str, Any]) -> Any:
            try:
                # A bare `super()` would take `called` for the instance.
                return await super(PolicyToolset, self).call_tool(called, arguments, ctx, tools[called])
            except (ModelRetry, ToolFailed, ToolError) as failed:
                # `relay` reads the exception as an answer.
                return failed

        relayed = await relay(
            call_tool,
            name,
            tool_args,
            read=_result,
            tools=(_listed(entry.tool_def) for entry in tools.values()),
            policy=self.policy,
        )
        answer, failure = relayed.answer, relayed.failure
        if failure is None:
            return _with_note(answer, relayed.note)
        if failure.inferred and not relayed.note and isinstance(answer, Exception):
            raise answer
        # Pydantic AI adds "Fix the errors and try again." to a ModelRetry.
        if failure.envelope.strategy == "check_input" and failure.effects not in CHANGED:
            raise ModelRetry(relayed.text) from failure
        raise ToolFailed(relayed.text) from failure


def _result(answer: Any) -> Mapping[str, Any]:
    """What a toolset returned or raised, as the JSON of a result; a raised text may be the structured content."""
    if not isinstance(answer, Exception):
        return {"content": [], "structuredContent": answer if isinstance(answer, dict) else None, "isError": False}
    text = str(answer)
    return {
        "content": [{"type": "text", "text": text}],
        "structuredContent": json_object(text),
        "isError": True,
    }


def _listed(tool: ToolDefinition) -> Mapping[str, Any]:
    """A tool as its server lists it."""
    metadata = tool.metadata or {}
    return {
        "name": tool.name,
        "inputSchema": tool.parameters_json_schema,
        "annotations": metadata.get("annotations"),
        "_meta": metadata.get("meta"),
    }


def _with_note(answer: Any, note: str) -> Any:
    if not note:
        return answer
    return f"{note}\n\n{answer}" if isinstance(answer, str) else {"note": note, "result": answer}
