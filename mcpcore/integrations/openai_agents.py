"""The OpenAI Agents SDK: MCP servers whose failed calls follow a policy before the model sees them.

```python
from agents import Agent

from mcpcore.client import CallPolicy
from mcpcore.integrations.openai_agents import PolicyServerStdio

async with PolicyServerStdio({"command": "python", "args": ["server.py"]}, policy=CallPolicy()) as server:
    agent = Agent("shop", mcp_servers=[server])
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agents.mcp import MCPServer, MCPServerStdio, MCPServerStreamableHttp
from mcp_types import CallToolResult, TextContent, Tool

from mcpcore.client import CallPolicy, relay

if TYPE_CHECKING:
    from agents import RunContextWrapper
    from agents.agent import AgentBase


class FollowsPolicy(MCPServer):
    """The base of a server whose failed calls follow a policy; put it before the class of a server.

    ```python
    class PolicyServerSse(FollowsPolicy, MCPServerSse): ...
    ```

    A retryable failure is retried before the model sees it. The model then gets the text of the last failure, as
    always in the Agents SDK.
    """

    def __init__(self, *args: Any, policy: CallPolicy | None = None, **options: Any) -> None:
        """Make the server.

        Args:
            *args: The arguments of the server's own class.
            policy: The policy for failures; by default `CallPolicy()`.
            **options: The options of the server's own class.
        """
        super().__init__(*args, **options)
        self.policy = policy or CallPolicy()
        self._listed_tools: list[Tool] = []

    async def list_tools(
        self, run_context: RunContextWrapper[Any] | None = None, agent: AgentBase[Any] | None = None
    ) -> list[Tool]:
        """The tools of the server.

        Args:
            run_context: The run of the agent, which the server's own class may read.
            agent: The agent that asks.
        """
        self._listed_tools = await super().list_tools(run_context, agent)  # type: ignore[safe-super]
        return self._listed_tools

    async def call_tool(
        self, tool_name: str, arguments: dict[str, Any] | None, meta: dict[str, Any] | None = None
    ) -> CallToolResult:
        """Call a tool under the policy; its last result.

        Args:
            tool_name: The tool.
            arguments: Its arguments.
            meta: The `_meta` of each call.
        """
        if not self._listed_tools:
            await self.list_tools()  # an agent has listed them already

        async def call_tool(called: str, sent: dict[str, Any]) -> CallToolResult:
            return await super(FollowsPolicy, self).call_tool(called, sent, meta)  # type: ignore[safe-super]

        relayed = await relay(
            call_tool,
            tool_name,
            arguments,
            read=lambda result: result,
            tools=self._listed_tools,
            policy=self.policy,
        )
        answer, failure = relayed.answer, relayed.failure
        if answer is None:
            assert failure is not None
            if failure.__cause__ is not None:
                raise failure.__cause__
            return CallToolResult(content=[TextContent(text=relayed.text)], is_error=True)
        if not relayed.note:
            return answer
        # Without its structured content, which would reach the model in place of the note.
        content = [TextContent(text=relayed.note), *answer.content]
        return answer.model_copy(update={"content": content, "structured_content": None})


class PolicyServerStdio(FollowsPolicy, MCPServerStdio):
    """A server over stdio whose failed calls follow `policy`. The other parameters are those of `MCPServerStdio`.

    ```python
    async with PolicyServerStdio({"command": "python", "args": ["server.py"]}, policy=CallPolicy()) as server:
        agent = Agent(name="clerk", mcp_servers=[server])
    ```
    """


class PolicyServerStreamableHttp(FollowsPolicy, MCPServerStreamableHttp):
    """A server over streamable HTTP whose failed calls follow `policy`.

    The other parameters are those of `MCPServerStreamableHttp`.

    ```python
    async with PolicyServerStreamableHttp({"url": "https://shop.example/mcp"}, policy=CallPolicy()) as server:
        agent = Agent(name="clerk", mcp_servers=[server])
    ```
    """
