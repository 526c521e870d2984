"""The tools that a low-level server lists: what `list_tools` or `on_list_tools` gives, as far as it is written down."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final, NamedTuple

from mcpcore_lint.model import Missing, Symbol, Value
from mcpcore_lint.semantics.evaluate import evaluate
from mcpcore_lint.syntax.parse import own_nodes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore_lint.model import FunctionNode, ToolDef
    from mcpcore_lint.registrations.build import Builder
    from mcpcore_lint.rules.base import RuleContext
    from mcpcore_lint.syntax.module import Module
    from mcpcore_lint.syntax.scopes import Scope

_LISTS: Final = "list_tools"
"""The decorator, and the end of the keyword, by which a handler lists tools."""


class Listed(NamedTuple):
    """One `Tool(name=..., description=...)` in a list of tools."""

    call: ast.Call
    module: Module
    name: Value
    described: Value
    """The description; Missing where there is none."""
    places: dict[str, ast.expr]
    """Its arguments as written."""
    answer: ast.Return
    """The answer that it is part of."""


def listed(ctx: RuleContext, tool: ToolDef) -> tuple[Listed, ...]:
    """The tools that the low-level handlers of a file list, each once; none for any low-level handler but the first."""
    if next(each for each in ctx.tools if each.flavour == "lowlevel") is not tool:
        return ()
    module = ctx.module
    known: tuple[Listed, ...] | None = module.memo.get(_LISTS)
    if known is None:
        found: dict[ast.Call, Listed] = {}
        for each in _listed(module, ctx) if module.source.has(_LISTS) else ():
            found.setdefault(each.call, each)
        known = module.memo[_LISTS] = tuple(found.values())
    return known


def _listed(module: Module, ctx: RuleContext) -> Iterator[Listed]:
    from mcpcore_lint.registrations.build import Builder

    builder = Builder(module, ctx.hierarchy)
    targets = builder.registering.targets
    for node, owner in _handlers(module, builder):
        scope = owner.scope_of(node)
        for each in own_nodes(node):
            if not isinstance(each, ast.Return) or each.value is None:
                continue
            targets.steps = 0
            for item, where in targets.elements(_tools(each.value, scope), scope):
                if isinstance(item, ast.Call) and _makes(item, where):
                    places = {one.arg: one.value for one in item.keywords if one.arg is not None}
                    # What is unpacked may hold anything.
                    whole = len(places) == len(item.keywords) and not item.args
                    if "name" in places and whole:
                        described = places.get("description")
                        says = Missing(item, where.module) if described is None else evaluate(described, where)
                        name = evaluate(places["name"], where)
                        yield Listed(item, where.module, name, says, places, each)


def _handlers(module: Module, builder: Builder) -> Iterator[tuple[FunctionNode, Module]]:
    """The functions that list the tools of a low-level server."""
    servers = builder.registering.servers
    for call, scope in module.calls_near(_LISTS, decorators=True):
        func = call.func
        handler: ast.expr | None = None
        if isinstance(func, ast.Attribute) and func.attr == _LISTS:
            parent = module.parents.get(call)
            decorates = isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef)) and call in parent.decorator_list
            if isinstance(parent, ast.Call) and parent.func is call and parent.args:
                handler = parent.args[0]
            if (decorates or handler is not None) and servers.server(func.value, scope)[0] != "lowlevel":
                continue
            if decorates and isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield parent, module
        else:
            handler = next((each.value for each in call.keywords if each.arg == f"on_{_LISTS}"), None)
            made = evaluate(func, scope) if handler is not None else None
            if not isinstance(made, Symbol) or servers.flavour_of(made) != "lowlevel":
                continue
        if handler is not None:
            builder.registering.targets.steps = 0
            for each in builder.registering.targets.behind(handler, scope):
                if not isinstance(each.node, ast.Lambda):
                    yield each.node, each.module


def _tools(node: ast.expr, scope: Scope) -> ast.expr:
    """The list in `ServerResult(ListToolsResult(tools=[...]))`."""
    while isinstance(node, ast.Call):
        made = evaluate(node.func, scope)
        last = made.name.rpartition(".")[2] if isinstance(made, Symbol) else ""
        if last == "ListToolsResult":
            return next((each.value for each in node.keywords if each.arg == "tools"), node)
        if last != "ServerResult" or len(node.args) != 1:
            break
        node = node.args[0]
    return node


def _makes(call: ast.Call, scope: Scope) -> bool:
    """Whether a call makes what a low-level server lists: `mcp.types.Tool`."""
    made = evaluate(call.func, scope)
    if not isinstance(made, Symbol):
        return False
    package, *rest = made.name.split(".")
    return package in {"mcp", "mcp_types"} and rest[-1:] == ["Tool"] and "server" not in rest


__all__ = ["Listed", "listed"]
