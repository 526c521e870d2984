"""What a FastMCP server has registered: the contracts and the functions behind its listings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpcore.declare.declaration import Declared
from mcpcore.foreign import quietly
from mcpcore.integrations.fastmcp.finding import find_contract_prompt, find_contract_tool
from mcpcore.sdk.declared import Registered

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from fastmcp import FastMCP


def registered_on(server: FastMCP[Any]) -> Callable[[str, str], Awaitable[Registered]]:
    """A function that finds what `server` has registered, by kind ("tool", "resource", "prompt") and by name or URI."""

    async def find(kind: str, name: str) -> Registered:
        declared: Declared[..., Any] | None = None
        item: Any = None
        if kind == "tool":
            declared, item = await find_contract_tool(server, name), await server.get_tool(name)
        elif kind == "prompt":
            declared, item = await find_contract_prompt(server, name), await server.get_prompt(name)
        else:
            item = await server.get_resource(name) or await server.get_resource_template(name)
        function = getattr(item, "fn", None)
        if declared is None:
            declared = _within(function)
        if declared is not None:
            return Registered(declared.contract, declared.declaration.handler)
        return Registered(None, function)

    return find


def _within(function: Any) -> Declared[..., Any] | None:
    """The declared handler that FastMCP keeps within a function that fills in dependencies."""
    if isinstance(function, Declared):
        return function
    cells = getattr(function, "__closure__", None) or ()
    contents = [quietly(lambda cell=cell: cell.cell_contents, None) for cell in cells]  # type: ignore[misc]
    owners = [content if isinstance(content, Declared) else getattr(content, "__self__", None) for content in contents]
    return next((owner for owner in owners if isinstance(owner, Declared)), None)
