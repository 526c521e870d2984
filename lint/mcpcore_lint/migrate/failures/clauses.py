"""`except` clauses that hide a failure: they log and go on, or answer with a value that looks like a result."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.engine.syntax.parse import walk_shallow
from mcpcore_lint.migrate.model import Left

if TYPE_CHECKING:
    from mcpcore_lint.migrate.body import Body

_LOGGING: Final = frozenset(
    {"debug", "info", "warning", "warn", "error", "exception", "critical", "log", "print", "print_exc", "write",
     "record_exception", "set_status", "capture_exception"}
)  # fmt: skip


def left_in_clauses(body: Body) -> list[Left]:
    """The clauses of a function that are left as they are."""
    left: list[Left] = []
    for node in body.nodes:
        if not isinstance(node, ast.ExceptHandler) or not body.is_broad(node):
            continue
        if all(only_logs(statement) for statement in node.body):
            pattern, decide = "a broad clause logs and goes on", "raise ctx.fail if the tool has then not done its work"
            left.append(_perhaps(node.lineno, body, pattern, decide))
        for part in walk_shallow([*node.body]):
            if isinstance(part, ast.Return) and _is_empty(part.value):
                pattern, decide = "a clause returns an empty value", "raise ctx.fail if nothing could be looked up"
                left.append(_perhaps(part.lineno, body, pattern, decide))
    return left


def _perhaps(line: int, body: Body, pattern: str, decide: str) -> Left:
    return Left(body.module.path, line, (body.function.name,), pattern, decide, perhaps=True)


def only_logs(statement: ast.stmt) -> bool:
    """Whether a statement does nothing but log, pass, or build a text."""
    match statement:
        case ast.Pass():
            return True
        case ast.Expr(value=ast.Constant()):
            return True
        case ast.Expr(value=ast.Await(value=ast.Call(func=func)) | ast.Call(func=func)):
            name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
            return name in _LOGGING
    return False


def _is_empty(value: ast.expr | None) -> bool:
    match value:
        case None:
            return True
        case ast.Constant(value=constant):
            return not constant
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Dict(keys=items):
            return not items
    return False
