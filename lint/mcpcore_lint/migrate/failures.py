"""Finds the places where a function says that it failed, one module for each family of patterns."""

from __future__ import annotations

import ast

from mcpcore_lint.engine.syntax.parse import walk_shallow
from mcpcore_lint.migrate.body import Body, only_logs
from mcpcore_lint.migrate.failures.raises import raised
from mcpcore_lint.migrate.failures.returns import returned
from mcpcore_lint.migrate.model import Left, Place


def failures_of(body: Body) -> tuple[list[Place], list[Left], set[ast.AST]]:
    """The failures of a function that can be written with `ctx.fail`, and those that cannot, with their statements."""
    places: list[Place] = []
    left: list[Left] = []
    statements: set[ast.AST] = set()
    for node in body.nodes:
        place: Place | Left | None = None
        if isinstance(node, ast.Raise):
            place = raised(node, body)
        elif isinstance(node, ast.Return):
            place = returned(node, body)
        if isinstance(place, Place):
            places.append(place)
        elif place is not None:
            left.append(place)
            if not place.perhaps:
                statements.add(node)
    return places, [*left, *_left_in_clauses(body)], statements


# -- clauses that hide a failure: they log and go on, or answer with a value that looks like a result ------------------


def _left_in_clauses(body: Body) -> list[Left]:
    """The clauses of a function that are left as they are."""
    left: list[Left] = []
    for node in body.nodes:
        if not isinstance(node, ast.ExceptHandler) or not body.is_broad(node):
            continue
        if all(only_logs(statement) for statement in node.body):
            pattern, decide = "a broad clause logs and goes on", "raise ctx.fail if the tool has then not done its work"
            left.append(body.left(node, pattern, decide)._replace(perhaps=True))
        for part in walk_shallow([*node.body]):
            if isinstance(part, ast.Return) and _is_empty(part.value):
                pattern, decide = "a clause returns an empty value", "raise ctx.fail if nothing could be looked up"
                left.append(body.left(part, pattern, decide)._replace(perhaps=True))
    return left


def _is_empty(value: ast.expr | None) -> bool:
    match value:
        case None:
            return True
        case ast.Constant(value=constant):
            return not constant
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Dict(keys=items):
            return not items
    return False


__all__ = ["failures_of"]
