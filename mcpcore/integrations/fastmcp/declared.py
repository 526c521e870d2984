"""The contracts and the functions behind the listings of a FastMCP server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from mcpcore.declare.declaration import Declared
from mcpcore.integrations.fastmcp.finding import find_contract_prompt, find_contract_tool
from mcpcore.sdk.declared import Registered
from mcpcore.values.untrusted import quietly

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from fastmcp import FastMCP

_MAX_DEPTH: Final = 20


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
            return Registered(declared.contract, declared.declaration.handler, declared.declaration)
        return Registered(None, function)

    return find


def _within(function: Any) -> Declared[..., Any] | None:
    """The declared handler that FastMCP keeps within functions that fill in dependencies and validate arguments."""
    for _ in range(_MAX_DEPTH):
        if isinstance(function, Declared) or function is None:
            return function
        cells = getattr(function, "__closure__", None) or ()
        contents = (quietly(lambda cell=cell: cell.cell_contents, None) for cell in cells)  # type: ignore[misc]
        declared = next((content for content in contents if isinstance(content, Declared)), None)
        if declared is not None:
            return declared
        function = getattr(function, "__wrapped__", None)
    return None  # pragma: no cover - deeper than functions are wrapped
