"""Statements that are never reached, because a call before them never returns."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.model import Symbol, Unknown
from mcpcore_lint.registrations.callers import method_called
from mcpcore_lint.syntax.parse import own_nodes

if TYPE_CHECKING:
    from mcpcore_lint.rules._bodies import Body

_NEVER: Final = frozenset({"NoReturn", "Never"})
_EXITS: Final = frozenset({"sys.exit", "os._exit", "os.abort", "builtins.exit", "builtins.quit"})


def unreachable(statement: ast.stmt, body: Body) -> bool:
    """Whether a call before a statement in its block never returns."""
    block = body.block_of(statement)
    before = block[: block.index(statement)] if statement in block else []
    return any(isinstance(node, ast.Expr) and _never_returns(node.value, body) for node in before)


def _never_returns(node: ast.expr, body: Body) -> bool:
    if isinstance(node, ast.Await):
        node = node.value
    if not isinstance(node, ast.Call):
        return False
    value = body.value(node.func)
    function: ast.AST | None = None
    if isinstance(value, Symbol):
        if value.name in _EXITS:
            return True
        function = value.definition
    elif isinstance(value, Unknown) and isinstance(node.func, ast.Attribute):
        match = method_called(node.func, body.scope(node))
        function = match[0] if match is not None else None
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    if function.returns is not None:
        return _last_name(function.returns) in _NEVER
    if any(isinstance(part, (ast.Return, ast.Yield, ast.YieldFrom)) for part in own_nodes(function)):
        return False
    return _always_raises(function.body)


def _last_name(annotation: ast.expr) -> str:
    text = annotation.value if isinstance(annotation, ast.Constant) else ast.unparse(annotation)
    return str(text).rpartition(".")[2]


def _always_raises(statements: list[ast.stmt]) -> bool:
    """Whether every path through some statements ends in a `raise`."""
    for statement in statements:
        match statement:
            case ast.Raise():
                return True
            case ast.If(body=block, orelse=otherwise) if _always_raises(block) and _always_raises(otherwise):
                return True
            case ast.Try(body=block, orelse=otherwise, handlers=clauses, finalbody=final):
                in_clauses = all(_always_raises(clause.body) for clause in clauses)
                if _always_raises(final) or (in_clauses and _always_raises([*block, *otherwise])):
                    return True
    return False
