"""The project's own decorators and context managers around a handler, and the `except` clauses in them."""

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

    from mcpcore_lint.model import Handler, ThrowSite, ToolDef, Value
    from mcpcore_lint.rule import RuleContext
    from mcpcore_lint.syntax.module import Module

_CODED: Final = FRAMEWORK_ERRORS | PROTOCOL_ERRORS | {"mcpcore.CodedError"}


class WrapperClause(NamedTuple):
    """An `except` clause in a decorator, which catches the exceptions of the handler."""

    decorator: str
    function: ast.FunctionDef | ast.AsyncFunctionDef
    """The function that contains the clause."""
    module: Module
    clause: ast.ExceptHandler

    def types(self) -> tuple[str | None, ...]:
        """The qualified names of the caught classes; None for a class that cannot be resolved."""
        node = self.clause.type
        if node is None:
            return ("builtins.BaseException",)
        values = [self.value(item) for item in (node.elts if isinstance(node, ast.Tuple) else [node])]
        return tuple(value.name if isinstance(value, Symbol) else None for value in values)

    def value(self, node: ast.expr) -> Value:
        """The value of an expression in the clause."""
        return evaluate(node, self.module.scope_of(self.function))


def wrapper_clauses(handler: Handler, tool: ToolDef) -> list[WrapperClause]:
    """The clauses in the project's decorators of a handler, those of the innermost decorator first."""
    node = handler.node
    if isinstance(node, ast.Lambda):
        return []
    scope = handler.module.scope_of(node).parent or handler.module.scope
    clauses: list[WrapperClause] = []
    for decorator in reversed(node.decorator_list):
        if decorator is tool.registration:
            continue
        value = evaluate(decorator.func if isinstance(decorator, ast.Call) else decorator, scope)
        function = value.definition if isinstance(value, Symbol) else None
        module = handler.module.project.module_defining(function) if isinstance(function, ast.FunctionDef) else None
        if isinstance(function, ast.FunctionDef) and module is not None:
            key = ("clauses of a decorator", function)
            if key not in module.memo:
                module.memo[key] = list(_clauses_of(function, module))
            clauses += module.memo[key]
    return clauses


def _clauses_of(decorator: ast.FunctionDef, module: Module) -> Iterator[WrapperClause]:
    """The clauses of a decorator around its call of the decorated function, in functions at any depth."""
    waiting: list[tuple[ast.FunctionDef | ast.AsyncFunctionDef, set[str]]] = [(decorator, set())]
    while waiting:
        function, outer = waiting.pop(0)
        parameters = outer | {argument.arg for argument in all_parameters(function.args)}
        for node in own_nodes(function):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                waiting.append((node, parameters))
            elif isinstance(node, ast.Try) and any(
                isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in outer
                for call in walk_shallow([*node.body])
            ):
                for clause in node.handlers:
                    yield WrapperClause(decorator.name, function, module, clause)


def becomes_coded_error(type_name: str, handler: Handler, tool: ToolDef, ctx: RuleContext) -> bool:
    """Whether a decorator of the project turns an exception into a coded error or one of the framework."""
    if isinstance(handler.node, ast.Lambda) or not handler.node.decorator_list:
        return False
    for clause in wrapper_clauses(handler, tool):
        if any(name is not None and ctx.hierarchy.is_kind_of(type_name, name) is True for name in clause.types()):
            last = clause.clause.body[-1]
            return isinstance(last, ast.Raise) and last.exc is not None and _is_coded(clause.value(last.exc), ctx)
    return False


def _is_coded(value: Value, ctx: RuleContext) -> bool:
    """Whether a call creates a coded error or one of the framework, possibly in a function of the project."""
    if not isinstance(value, CallValue):
        return False
    name, function = value.func.name, value.func.definition
    if not isinstance(function, ast.FunctionDef):
        if name in _CODED or name.startswith("mcpcore."):
            return True
        return any(ctx.hierarchy.is_kind_of(name, base) is True for base in _CODED)
    module = ctx.project.module_defining(function)
    if module is None:
        return False
    scope = module.scope_of(function)
    parameters = {argument.arg for argument in all_parameters(function.args)}
    returned = [node.value for node in own_nodes(function) if isinstance(node, ast.Return) and node.value is not None]
    created = [node for node in returned if not (isinstance(node, ast.Name) and node.id in parameters)]
    return bool(created) and all(
        isinstance(node, ast.Call)
        and isinstance(error := evaluate(node, scope), CallValue)
        and not isinstance(error.func.definition, ast.FunctionDef)
        and _is_coded(error, ctx)
        for node in created
    )


def is_caught_by_context_manager(throw: ThrowSite, handler: Handler, tool: ToolDef, ctx: RuleContext) -> bool:
    """Whether a `with` around a `raise` catches the exception, and raises no other builtin exception instead."""
    body, span = body_of(handler), handler.module.source.span
    blocks = [node for node in body.above(throw.node) if isinstance(node, (ast.With, ast.AsyncWith))]
    if not blocks or any(own.call == throw.span for own in ctx.reach(tool).own):
        return False
    managers = [span(item.context_expr) for block in blocks for item in block.items]
    raised = [error for error in ctx.reach(tool).throws if any(manager.holds(error.call) for manager in managers)]
    return not raised or any(error.form != "builtin" for error in raised)
