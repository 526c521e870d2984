"""What stands round a handler in the project: decorators, and functions that run a lambda, with their clauses."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from mcpcore_lint.meaning.resolve import evaluate
from mcpcore_lint.model import Symbol
from mcpcore_lint.reading.syntax import all_parameters, own_nodes, walk_shallow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore_lint.model import FunctionNode, Handler, ToolDef, Value
    from mcpcore_lint.reading.module import Module


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
