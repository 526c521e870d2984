"""The decorators and context managers of the project round a handler, and functions that run a lambda."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final, NamedTuple

from mcpcore_lint.model import CallValue, Symbol
from mcpcore_lint.names import FRAMEWORK_ERRORS, PROTOCOL_ERRORS
from mcpcore_lint.rules._bodies import body_of
from mcpcore_lint.semantics.evaluate import evaluate
from mcpcore_lint.syntax.parse import all_parameters, own_nodes, walk_shallow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore_lint.model import FunctionNode, Handler, ThrowSite, ToolDef, Value
    from mcpcore_lint.rules.base import RuleContext
    from mcpcore_lint.syntax.module import Module

_TOLD: Final = FRAMEWORK_ERRORS | PROTOCOL_ERRORS | {"mcpcore.CodedError"}
"""Errors that a decorator may make of others, so that what a handler raises under it need not be one."""


class ClauseRound(NamedTuple):
    """An `except` clause through which what a handler raises comes."""

    owner: str
    """The name of the decorator, or of the function that runs what it is given."""
    function: FunctionNode
    """The function that the clause is in."""
    module: Module
    clause: ast.ExceptHandler

    def types(self) -> tuple[str | None, ...]:
        """The qualified names of what it catches; None for one that cannot be resolved."""
        node = self.clause.type
        if node is None:
            return ("builtins.BaseException",)
        values = [self.value(each) for each in (node.elts if isinstance(node, ast.Tuple) else [node])]
        return tuple(each.name if isinstance(each, Symbol) else None for each in values)

    def value(self, node: ast.expr) -> Value:
        """What an expression of the clause is."""
        return evaluate(node, self.module.scope_of(self.function))


def clauses_round(handler: Handler, tool: ToolDef) -> list[ClauseRound]:
    """The clauses in the decorators of the project that a handler has, the nearest decorator first."""
    node = handler.node
    if isinstance(node, ast.Lambda):
        return []
    outside = handler.module.scope_of(node).parent or handler.module.scope
    found: list[ClauseRound] = []
    for decorator in reversed(node.decorator_list):
        if decorator is tool.registration:
            continue
        value = evaluate(decorator.func if isinstance(decorator, ast.Call) else decorator, outside)
        maker = value.definition if isinstance(value, Symbol) else None
        owner = handler.module.project.module_defining(maker) if isinstance(maker, ast.FunctionDef) else None
        if isinstance(maker, ast.FunctionDef) and owner is not None:
            key = ("clauses of a decorator", maker)
            if key not in owner.memo:
                owner.memo[key] = list(_of_decorator(maker, owner))
            found += owner.memo[key]
    return found


def is_coded_round(full: str, handler: Handler, tool: ToolDef, ctx: RuleContext) -> bool:
    """Whether a decorator of the project makes an error of the framework, or a coded one, of an exception."""
    if isinstance(handler.node, ast.Lambda) or not handler.node.decorator_list:
        return False
    for each in clauses_round(handler, tool):
        if any(name is not None and ctx.hierarchy.is_kind_of(full, name) is True for name in each.types()):
            last = each.clause.body[-1]
            return isinstance(last, ast.Raise) and last.exc is not None and _is_coded(each.value(last.exc), ctx)
    return False


def _is_coded(value: Value, ctx: RuleContext) -> bool:
    """Whether an error is one of the framework or a coded one; or what a function of the project makes is, at times."""
    if not isinstance(value, CallValue):
        return False
    name, node = value.func.name, value.func.definition
    if not isinstance(node, ast.FunctionDef):
        own = any(ctx.hierarchy.is_kind_of(name, each) is True for each in _TOLD)
        return own or name in _TOLD or name.startswith("mcpcore.")
    module = ctx.project.module_defining(node)
    if module is None:
        return False
    scope = module.scope_of(node)
    given = {each.arg for each in all_parameters(node.args)}
    returned = [each.value for each in own_nodes(node) if isinstance(each, ast.Return) and each.value is not None]
    made = [each for each in returned if not (isinstance(each, ast.Name) and each.id in given)]
    return bool(made) and all(
        isinstance(each, ast.Call)
        and isinstance(found := evaluate(each, scope), CallValue)
        and not isinstance(found.func.definition, ast.FunctionDef)
        and _is_coded(found, ctx)
        for each in made
    )


def caught_by_a_manager(throw: ThrowSite, handler: Handler, tool: ToolDef, ctx: RuleContext) -> bool:
    """Whether a context manager round a `raise` catches the exception, and raises no other builtin one for it."""
    body, span = body_of(handler), handler.module.source.span
    blocks = [each for each in body.above(throw.node) if isinstance(each, (ast.With, ast.AsyncWith))]
    if not blocks or any(each.call == throw.span for each in ctx.reach(tool).own):
        return False
    managers = [span(item.context_expr) for each in blocks for item in each.items]
    raised = [each for each in ctx.reach(tool).throws if any(manager.holds(each.call) for manager in managers)]
    return not raised or any(each.form != "builtin" for each in raised)


def _of_decorator(maker: ast.FunctionDef, module: Module) -> Iterator[ClauseRound]:
    """The clauses of a decorator round its call of what it is put on, however many functions deep that is."""
    waiting: list[tuple[ast.FunctionDef | ast.AsyncFunctionDef, set[str]]] = [(maker, set())]
    while waiting:
        function, names = waiting.pop(0)
        if function is not maker:
            yield from _in(function, maker.name, module, names)
        inner = names | {each.arg for each in all_parameters(function.args)}
        waiting += [
            (each, inner) for each in own_nodes(function) if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))
        ]


def _in(
    function: ast.FunctionDef | ast.AsyncFunctionDef, owner: str, module: Module, names: set[str]
) -> Iterator[ClauseRound]:
    for each in own_nodes(function):
        if isinstance(each, ast.Try) and any(
            isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in names
            for call in walk_shallow([*each.body])
        ):
            for clause in each.handlers:
                yield ClauseRound(owner, function, module, clause)
