"""langchain-mcp-adapters: an interceptor under which failed calls follow a policy before the model sees them.

```python
from langchain_mcp_adapters.client import MultiServerMCPClient

from mcpcore.client import CallPolicy
from mcpcore.integrations.langchain_mcp_adapters import PolicyInterceptor

client = MultiServerMCPClient(connections, tool_interceptors=[PolicyInterceptor(CallPolicy())])
tools = await client.get_tools()
```

Version 0.3.2 of the adapters requires the MCP SDK 1. This module imports neither the SDK nor LangChain, so it runs next
to both generations of the SDK.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from mcpcore.client import CallPolicy, relay


class PolicyInterceptor:
    """An interceptor for langchain-mcp-adapters that makes failed calls follow a policy.

    A retryable failure is retried before the model sees it. The model then gets the content of the last result, as
    always with the adapters.

    An interceptor is not told what the server lists. Without `tools`, a retry needs a failure that says that nothing
    was changed, and neither fallbacks nor corrections are made.

    ```python
    client = MultiServerMCPClient(connections, tool_interceptors=[PolicyInterceptor(CallPolicy())])
    ```
    """

    def __init__(self, policy: CallPolicy | None = None, *, tools: Iterable[object] = ()) -> None:
        """Make the interceptor.

        Args:
            policy: The policy for failures; by default `CallPolicy()`.
            tools: The tools as the server lists them, such as `(await session.list_tools()).tools`.
        """
        self.policy = policy or CallPolicy()
        self._tools = tuple(map(_json, tools))

    async def __call__(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Call a tool under the policy.

        Args:
            request: The `MCPToolCallRequest`.
            handler: Makes the call.

        Raises:
            ToolCallFailed: If the policy's time is over before the server answers.
            Exception: What the adapters raise for an error of the protocol and a lost connection.
        """

        async def call_tool(called: str, arguments: dict[str, Any]) -> Any:
            return await handler(request.override(name=called, args=arguments))

        relayed = await relay(call_tool, request.name, request.args, read=_read, tools=self._tools, policy=self.policy)
        answer, failure = relayed.answer, relayed.failure
        if answer is None:
            assert failure is not None
            raise failure.__cause__ or failure
        if not relayed.note or not _is_result(answer):
            return answer
        result = _json(answer)
        note = {"type": "text", "text": relayed.note}
        return type(answer).model_validate({**result, "content": [note, *result["content"]]})


def _is_result(answer: Any) -> bool:
    """Whether this is a result of the SDK, not a message or command that another interceptor returned in its place."""
    return type(answer).__module__.partition(".")[0] in ("mcp", "mcp_types")


def _read(answer: Any) -> object:
    return _json(answer) if _is_result(answer) else {"content": [], "isError": False}


def _json(value: Any) -> Any:
    """The JSON of an object of the SDK."""
    return value.model_dump(mode="json", by_alias=True) if hasattr(value, "model_dump") else value
