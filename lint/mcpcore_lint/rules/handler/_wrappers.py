"""The project's own decorators and context managers around a handler, and the `except` clauses in them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from mcpcore_lint.model import Symbol
from mcpcore_lint.rules._bodies import body_of
from mcpcore_lint.semantics.evaluate import evaluate
from mcpcore_lint.syntax.parse import all_parameters, own_nodes, walk_shallow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore_lint.model import Handler, ThrowSite, ToolDef, Value
    from mcpcore_lint.rule import RuleContext
    from mcpcore_lint.syntax.module import Module


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


def becomes_another_error(type_name: str, handler: Handler, tool: ToolDef, ctx: RuleContext) -> bool:
    """Whether a decorator of the project raises another exception in place of one of the handler."""
    for wrapper in wrapper_clauses(handler, tool):
        if any(name is not None and ctx.hierarchy.is_kind_of(type_name, name) is True for name in wrapper.types()):
            last = wrapper.clause.body[-1]
            return isinstance(last, ast.Raise) and last.exc is not None
    return False


def is_caught_by_context_manager(throw: ThrowSite, handler: Handler, tool: ToolDef, ctx: RuleContext) -> bool:
    """Whether a `with` around a `raise` catches the exception."""
    return any(isinstance(node, (ast.With, ast.AsyncWith)) for node in body_of(handler).above(throw.node)) and not any(
        own.call == throw.span for own in ctx.reach(tool).own
    )
