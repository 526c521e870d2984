"""The client of FastMCP: one whose failed calls follow a policy, wherever a FastMCP client is taken.

```python
from mcpcore.client import CallPolicy
from mcpcore.integrations.fastmcp_client import PolicyClient

async with PolicyClient("https://shop.example/mcp", policy=CallPolicy()) as client:
    result = await client.call_tool("reserve", {"sku": "A-7", "quantity": 5})
```

It is not in `mcpcore.integrations.fastmcp`, which needs the server half of FastMCP.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from fastmcp import Client
from fastmcp.exceptions import ToolError

from mcpcore.client import CallPolicy, ToolCallFailed, call

if TYPE_CHECKING:
    from fastmcp.client.client import CallToolResult


class PolicyToolError(ToolCallFailed, ToolError):
    """A failed call: both `ToolCallFailed` and FastMCP's `ToolError`, whose text is for the model."""

    def __str__(self) -> str:
        return self.envelope.text()


class PolicyClient(Client[Any]):
    """A FastMCP client whose `call_tool` follows a policy. All else is FastMCP's.

    ```python
    async with PolicyClient("https://shop.example/mcp", policy=CallPolicy()) as client:
        result = await client.call_tool("fetch_articles", {"pmids": ["1"]})
    ```
    """

    def __init__(self, transport: Any, *args: Any, policy: CallPolicy | None = None, **options: Any) -> None:
        """Make the client.

        Args:
            transport: The server, as for FastMCP's client.
            *args: The other arguments of FastMCP's client.
            policy: The policy for failures; by default `CallPolicy()`.
            **options: The options of FastMCP's client.
        """
        super().__init__(transport, *args, **options)
        self.policy = policy or CallPolicy()

    async def call_tool(
        self, name: str, arguments: dict[str, Any] | None = None, *, raise_on_error: bool = True, **options: Any
    ) -> CallToolResult:
        """Call a tool under the policy.

        Args:
            name: The name of the tool.
            arguments: Its arguments.
            raise_on_error: Whether to raise a failure; else its result is returned.
            **options: The other options of FastMCP's method, such as `timeout` in seconds.

        Raises:
            PolicyToolError: If the call failed, and `raise_on_error` is true or there is no result to return.
            MCPError: If the server answered with an error of the protocol, and `raise_on_error` is false.
        """
        try:
            return await call(_Plain(self, options), name, arguments, policy=self.policy)
        except ToolCallFailed as failed:
            if not raise_on_error and failed.result is not None:
                return cast("CallToolResult", failed.result)
            if not raise_on_error and failed.__cause__ is not None:
                raise failed.__cause__ from None
            raise PolicyToolError(
                failed.tool,
                failed.envelope,
                arguments=failed.arguments,
                entry=failed.entry,
                inferred=failed.inferred,
                result=failed.result,
                steps=failed.steps,
                attempts=failed.attempts,
            ) from failed.__cause__


class _Plain:
    """The client without its policy, as a session for `call`."""

    def __init__(self, client: PolicyClient, options: dict[str, Any]) -> None:
        self._client = client
        self._options = options
        self.session = client.session
        self.list_tools_mcp = client.list_tools_mcp

    async def call_tool(self, name: str, arguments: dict[str, Any] | None = None, /) -> CallToolResult:
        # The client's own method would follow the policy again, without end.
        return await Client.call_tool(self._client, name, arguments, raise_on_error=False, **self._options)
