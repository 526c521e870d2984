"""The contracts and the functions behind the listings of a server in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from mcpcore.sdk.tools import ContractTool

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from mcp.server.mcpserver import MCPServer

    from mcpcore.contract.failure_modes import Contract
    from mcpcore.declare.declaration import Declaration


class Registered(NamedTuple):
    """A registered tool, resource or prompt: its contract, its function and its declaration, where they are known."""

    contract: Contract[Any] | None
    function: Callable[..., Any] | None
    declaration: Declaration | None = None


def registered_on(server: MCPServer[Any]) -> Callable[[str, str], Awaitable[Registered]]:
    """A function that finds what `server` has registered, by kind ("tool", "resource", "prompt") and by name or URI."""
    tools, resources, prompts = server._tool_manager, server._resource_manager, server._prompt_manager  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
    registered = {
        **{("tool", tool.name): _registered(tool) for tool in tools.list_tools()},
        **{("resource", str(resource.uri)): _registered(resource) for resource in resources.list_resources()},
        **{("resource", template.uri_template): _registered(template) for template in resources.list_templates()},
        **{("prompt", prompt.name): _registered(prompt) for prompt in prompts.list_prompts()},
    }

    async def find(kind: str, name: str) -> Registered:
        return registered.get((kind, name), Registered(None, None))

    return find


def _registered(item: object) -> Registered:
    declared = item.tool if isinstance(item, ContractTool) else getattr(item, "_declared", None)
    if declared is not None:
        return Registered(declared.contract, declared.declaration.handler, declared.declaration)
    return Registered(None, getattr(item, "fn", None))
