"""Finds the contract tool behind a tool of FastMCP, and middleware that would undo contracts.

The tools of a mounted server are found through private attributes of FastMCP. If a release renames them, only the
recovery of a failed dependency and the hints of some bad arguments are lost.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Final

from fastmcp import FastMCP
from fastmcp.server.middleware.dereference import DereferenceRefsMiddleware
from fastmcp.server.middleware.error_handling import ErrorHandlingMiddleware, RetryMiddleware
from fastmcp.server.providers.aggregate import AggregateProvider
from fastmcp.server.providers.fastmcp_provider import FastMCPProvider, FastMCPProviderTool
from fastmcp.tools.tool_transform import TransformedTool

from mcpcore.contract.failure_modes import ContractError
from mcpcore.declare.declaration import Declared
from mcpcore.declare.prompt import DeclaredPrompt
from mcpcore.declare.tool import Tool
from mcpcore.integrations.fastmcp.masking import MaskingMiddleware
from mcpcore.integrations.fastmcp.private import inner_provider, mounted_tool
from mcpcore.sdk.serving import not_mountable
from mcpcore.values.logs import LOGGER
from mcpcore.values.untrusted import quietly

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence

    from fastmcp.server.middleware.middleware import Middleware
    from fastmcp.tools.base import Tool as FastMCPTool

    from mcpcore.sdk.tools import Registered


_MAX_DEPTH: Final = 20
"""The depth to which mounted servers and transformed tools are searched."""


def contract_tool_of(tool: Any) -> Tool[..., Any] | None:
    """The contract tool behind `tool`; None for another tool, and for a tool of a mounted server."""
    fn = getattr(tool, "fn", None)
    return fn if isinstance(fn, Tool) else None


async def find_contract_tool(server: FastMCP[Any], name: str) -> Tool[..., Any] | None:
    """The contract tool that `name` calls on `server` or on a mounted server; None if it calls another tool."""
    tool = await server.get_tool(name)
    for _ in range(_MAX_DEPTH):
        if tool is None:
            return None
        if isinstance(tool, FastMCPProviderTool):
            below, name = mounted_tool(tool)
            tool = await below.get_tool(name)
        elif isinstance(tool, TransformedTool) and not tool.transform_args:
            tool = tool.parent_tool
        else:
            return contract_tool_of(tool)
    return None  # pragma: no cover - deeper than servers are mounted


async def find_tool(server: FastMCP[Any], name: str) -> FastMCPTool | None:
    """The tool that a client knows as `name`; None also if looking it up fails, which must not hide a failure."""
    try:
        return await server.get_tool(name)
    except Exception:  # noqa: BLE001 - code of other providers
        return None


async def tool_names(server: FastMCP[Any]) -> list[str]:
    """The names of the tools that `server` lists for the caller; none if it cannot list them."""
    try:
        return [tool.name for tool in await server.list_tools()]
    except Exception:  # noqa: BLE001 - a list that fails must not cost the answer
        return []


async def is_delegated(server: FastMCP[Any], name: str) -> bool:
    """Whether a mounted server answers a call of `name`, without any code of `server` itself."""
    return isinstance(await find_tool(server, name), FastMCPProviderTool)


async def find_contract_prompt(server: FastMCP[Any], name: str) -> DeclaredPrompt[..., Any] | None:
    """The contract prompt that `name` gets from `server`; None for another prompt, and for one of a mounted server.

    FastMCP keeps it within a function that fills in dependencies.
    """
    cells = getattr(getattr(await server.get_prompt(name), "fn", None), "__closure__", None) or ()
    return next((cell.cell_contents for cell in cells if isinstance(cell.cell_contents, DeclaredPrompt)), None)


def require_compatible(server: FastMCP[Any], below: Sequence[Any], middleware: Middleware) -> None:
    """Check that no other middleware of `server`, or of the servers mounted `below`, undoes contracts of `middleware`.

    Raises:
        ContractError: If one does; the message says what to change.
    """
    _require_no_undoing(server)
    for other in below:
        if isinstance(other, FastMCP):
            _require_no_undoing(other)
        else:
            raise ContractError(f"server {server.name!r}: {not_mountable(other)}")
    before = _before(server.middleware, middleware)
    if before:
        LOGGER.warning(
            "on the FastMCP server %r, ContractMiddleware is not the outermost middleware: the failures of %s get no "
            "envelope and no record; add ContractMiddleware first",
            server.name,
            ", ".join(before),
        )


def _require_no_undoing(server: FastMCP[Any]) -> None:
    for other in server.middleware:
        if isinstance(other, RetryMiddleware):
            raise ContractError(
                f"server {server.name!r}: RetryMiddleware repeats failed calls even if their contract says not to; "
                "remove it, and retry inside the tool with mcpcore.retrying"
            )
        if isinstance(other, ErrorHandlingMiddleware) and other.transform_errors:
            raise ContractError(
                f"server {server.name!r}: ErrorHandlingMiddleware replaces failures by its own errors; remove it, "
                "since ContractMiddleware answers and records every failure, or keep only its callback with "
                "transform_errors=False"
            )


def providers_of(server: FastMCP[Any]) -> Iterator[tuple[Any, Any, Any]]:
    """The providers of `server`, direct and indirect: each with the one that it wraps, and with what is below it."""
    stack: list[tuple[Any, int]] = [(provider, 0) for provider in server.providers]
    while stack:
        provider, depth = stack.pop()
        inner = inner_provider(provider)
        below = provider.server if isinstance(provider, FastMCPProvider) else provider
        yield provider, inner, below
        if inner is not None:
            stack.append((inner, depth))
        if isinstance(below, AggregateProvider) and depth < _MAX_DEPTH:
            stack += [(part, depth + 1) for part in below.providers]


def mounted(server: FastMCP[Any]) -> Iterator[Any]:
    """The servers mounted on `server`, directly and indirectly."""
    return (below for provider, _, below in providers_of(server) if isinstance(provider, FastMCPProvider))


def transforms_of(provider: Any) -> Sequence[Any]:
    """The transforms of a provider or a server; none of a class of others that does not call its base class."""
    return getattr(provider, "transforms", ())


def parts_of(server: FastMCP[Any]) -> list[object]:
    """The middleware, the transforms and the providers of a server, and those of the servers below it."""
    parts: list[object] = [*server.middleware, *server.transforms]
    for provider, _, below in providers_of(server):
        parts.append(provider)
        parts += transforms_of(provider)
        if below is not provider:
            parts.append(below)
            parts += getattr(below, "middleware", ())
            parts += transforms_of(below)
    return parts


def _before(chain: Sequence[Middleware], middleware: Middleware) -> list[str]:
    """The class names of the middleware before `middleware`, without those that FastMCP and mcpcore add themselves."""
    before = itertools.takewhile(lambda other: other is not middleware, chain)
    own = (DereferenceRefsMiddleware, MaskingMiddleware)
    return [type(other).__name__ for other in before if not isinstance(other, own)]


def registered_on(server: FastMCP[Any]) -> Callable[[str, str], Awaitable[Registered]]:
    """A function that finds what `server` has registered, by kind ("tool", "resource", "prompt") and by name or URI."""
    from mcpcore.sdk.tools import Registered

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
