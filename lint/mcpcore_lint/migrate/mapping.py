"""Handlers whose body is one `try`, whose clauses mean the same as `.on(...)` at the entries of the contract."""

from __future__ import annotations

import ast
from functools import cache
from typing import TYPE_CHECKING, Final

from mcpcore_lint.codemods.edits import has_comment
from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.syntax.parse import walk
from mcpcore_lint.migrate.catching import is_own
from mcpcore_lint.model import Const, Text

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from mcpcore_lint.migrate.body import Body
    from mcpcore_lint.migrate.model import Place

# Classes that are not mapped, or that change on their way out of a function.
_SPECIAL: Final = frozenset(
    f"builtins.{name}" for name in ("Exception", "ExceptionGroup", "StopIteration", "StopAsyncIteration")
)
_FRAMEWORKS: Final = ("mcp.", "fastmcp.", "mcpcore.")
_SHOWING: Final = frozenset({"builtins.str", "builtins.repr", "builtins.type"})
# The parts of a message's expression, besides names and calls.
_PARTS: Final = (
    ast.Attribute, ast.BinOp, ast.Constant, ast.FormattedValue, ast.JoinedStr, ast.Tuple, ast.keyword,
    ast.expr_context, ast.operator,
)  # fmt: skip


def only_try(body: Body, places: dict[ast.stmt, Place], registrations: Collection[ast.AST]) -> ast.Try | None:
    """The `try` that is the whole body of a handler, if the boundary can do what its clauses do.

    Args:
        body: The handler.
        places: Its failures, by their statements.
        registrations: The decorators that register it.
    """
    node, source = body.node, body.module.source
    match node.body[ast.get_docstring(node, clean=False) is not None :]:
        case [ast.Try(handlers=[_, *_] as clauses, orelse=[], finalbody=[]) as statement]:
            lines = [*source.line_starts, len(source.text)]
            tail = source.text[lines[statement.body[-1].end_lineno or 0] : lines[statement.end_lineno or 0]]
        case _:
            return None
    outside = body.scope.parent or body.module.scope
    if (
        source.line(statement.lineno).strip() != "try:"
        or has_comment(tail)
        # What a function returns to be awaited fails only behind its `try`.
        or (isinstance(node, ast.FunctionDef) and any(_is_of_async(part, body) for part in body.nodes))
        or not all(decorator in registrations or is_own(decorator, outside) for decorator in node.decorator_list)
        or not all(_only_fails(clause, places, body) for clause in clauses)
    ):
        return None
    groups = [[_class(kind, body) for kind in types_of(clause)] for clause in clauses]
    return statement if _decide_alike(groups, body) else None


def types_of(clause: ast.ExceptHandler) -> list[ast.expr]:
    """The expressions of the classes that a clause catches."""
    return clause.type.elts if isinstance(clause.type, ast.Tuple) else [clause.type] if clause.type else []


def _is_of_async(node: ast.AST, body: Body) -> bool:
    symbol = body.symbol(node.func) if isinstance(node, ast.Call) else None
    return symbol is not None and isinstance(symbol.definition, ast.AsyncFunctionDef)


def _only_fails(clause: ast.ExceptHandler, places: dict[ast.stmt, Place], body: Body) -> bool:
    """Whether a clause only raises a failure that is made of nothing but its exception and constants."""
    place = places.get(clause.body[0]) if len(clause.body) == 1 else None
    if place is None or place.arguments or place.attribute or not types_of(clause):
        return False
    cause = getattr(place.node, "cause", None)
    parts = walk([place.message] if place.message is not None else [])
    return (cause is None or getattr(cause, "id", "") == clause.name) and all(
        _is_made_of(part, clause.name, body) for part in parts
    )


def _is_made_of(part: ast.AST, name: str | None, body: Body) -> bool:
    """Whether a part of a message has the same value outside of the function, given the exception by its name."""
    match part:
        case ast.Name(id=used):
            value = evaluate(part, body.scope)
            constant = used not in body.scope.bindings and isinstance(value, (Const, Text))
            return used == name or constant or getattr(value, "name", "") in _SHOWING
        case ast.Call(func=ast.Name(id=called)):
            return called != name
        case ast.Call(func=ast.Attribute(value=value)):
            return isinstance(value, ast.Constant) or ast.unparse(value) == f"str({name})"
    return isinstance(part, _PARTS)


def _class(node: ast.expr, body: Body) -> tuple[str, frozenset[str]]:
    """A class that a clause catches, and its base classes; none if it may be no exception that can be mapped."""
    symbol, module, scope = body.symbol(node), body.module, body.scope
    root, prefix = ast.unparse(node).partition(".")[0], ast.unparse(node).rpartition(".")[0]
    owner = module.classes.get(scope.owner) if scope.owner is not None else None
    hidden = symbol is None or (owner is not None and root in owner.attributes)
    while scope.parent is not None:
        hidden, scope = hidden or root in scope.bindings, scope.parent
    name = symbol.name if symbol is not None else ""
    is_own_class = module.project.class_named(name) is not None
    first = min(part.lineno for part in (body.node, *body.node.decorator_list))
    for binding in scope.bindings.get(root, ()):
        # Modules that import each other may lack a class when the decorator runs, and `import a` need not load `a.b`.
        whole = prefix in {"", root} or any(alias.name == prefix for alias in getattr(binding.node, "names", ()))
        early = module.parents.get(binding.node) is module.tree and getattr(binding.node, "lineno", first) < first
        hidden = hidden or not early or not whole or (is_own_class and prefix != "")
    above, complete = body.hierarchy.ancestors(name)
    if not (complete or is_own_class):
        # A class of a library may have several names, of which the table that classifies exceptions has one.
        name = f"{name.partition('.')[0]}.{name.rpartition('.')[2]}"
        above, complete = frozenset({name, "builtins.Exception"}), _is_listed(name)
    # A StopIteration that leaves a coroutine becomes a RuntimeError.
    special = name in _SPECIAL or (name == "builtins.RuntimeError" and isinstance(body.node, ast.AsyncFunctionDef))
    refused = hidden or special or not complete or any(base.startswith(_FRAMEWORKS) for base in above)
    return name, frozenset() if refused or "builtins.Exception" not in above else above


@cache
def _listed() -> frozenset[str]:
    """The classes in the table that classifies exceptions, and their libraries."""
    from mcpcore.classification.types import TYPES

    return frozenset(TYPES) | {known.partition(".")[0] for known in TYPES}


def _is_listed(name: str) -> bool:
    """Whether a class of a library is known to be an exception: from the table, or as an error of a library in it."""
    is_error = name.endswith("Error") and "Cancel" not in name
    return name in _listed() or (is_error and name.partition(".")[0] in _listed())


def _decide_alike(groups: Sequence[Sequence[tuple[str, frozenset[str]]]], body: Body) -> bool:
    """Whether the first clause that matches an exception is always the one with its most specific class."""
    project, hierarchy = body.module.project, body.hierarchy
    seen: set[str] = set()
    shared: frozenset[str] | None = None
    for group in groups:
        # A library may have a class that derives from two others.
        foreign = {name: above for name, above in group if project.class_named(name) is None}
        unrelated = shared is not None and not shared.issuperset(foreign)
        if len(dict(group)) < len(group) or unrelated or not all(above and not seen & above for _, above in group):
            return False
        shared = frozenset.intersection(*foreign.values(), *filter(None, [shared])) if foreign else shared
        seen.update(dict(group))
    mixed = [info for info in project.classes() if len(info.node.bases) > 1] if len(groups) > 1 else []
    for info in mixed:
        above, complete = hierarchy.ancestors(f"{info.module.name}.{info.qualname}")
        # In a chain of subclasses, each has another number of the others above it.
        ranks = {len(hierarchy.ancestors(base)[0] & above & seen) for base in above & seen}
        if len(ranks) < len(above & seen) or not (complete or above.isdisjoint(seen)):
            return False
    return True
