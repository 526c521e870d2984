"""Finds the places where a function says that it failed, one module for each family of patterns."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from mcpcore_lint.migrate.failures.clauses import left_in_clauses
from mcpcore_lint.migrate.failures.raises import raised
from mcpcore_lint.migrate.failures.returns import returned
from mcpcore_lint.migrate.model import Left, Place

if TYPE_CHECKING:
    from mcpcore_lint.migrate.body import Body


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
    return places, [*left, *left_in_clauses(body)], statements


def statements_of(body: Body) -> frozenset[ast.AST]:
    """The statements of a function that say that it failed."""
    places, _, statements = failures_of(body)
    return frozenset({place.node for place in places} | statements)


__all__ = ["failures_of", "statements_of"]
