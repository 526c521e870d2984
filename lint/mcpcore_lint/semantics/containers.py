"""The items of lists, tables and other containers: their annotation, and the items written in the code."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.model import Symbol
from mcpcore_lint.semantics.annotations import unquote
from mcpcore_lint.semantics.evaluate import evaluate

if TYPE_CHECKING:
    from mcpcore_lint.syntax.scopes import Scope

_TABLES: Final = frozenset({"dict", "mapping", "mutablemapping", "defaultdict", "ordereddict"})
_CONTAINERS: Final = _TABLES | {
    "list", "set", "tuple", "frozenset", "deque", "sequence", "iterable", "iterator", "collection", "asynciterator",
    "asynciterable", "generator", "asyncgenerator", "mutablesequence", "abstractset",
}  # fmt: skip
"""Containers, by the last part of their name in lower case."""


def item_annotation(annotation: ast.expr, scope: Scope) -> tuple[ast.expr, Scope] | None:
    """The annotation of the items in the annotation of a container; of the values for a table."""
    node = unquote(annotation)
    while isinstance(node, ast.BinOp):
        node = unquote(node.left if isinstance(node.left, ast.Subscript) else node.right)
    if not isinstance(node, ast.Subscript):
        return None
    head = evaluate(node.value, scope)
    parts = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
    if not isinstance(head, Symbol) or not parts:
        return None
    if head.name in {"typing.Optional", "typing.Annotated", "typing.Final", "typing.ClassVar"}:
        return item_annotation(parts[0], scope)
    last = head.name.rpartition(".")[2].lower()
    if last in _TABLES:
        return (parts[1], scope) if len(parts) == 2 else None
    return (parts[0], scope) if last in _CONTAINERS else None


def written_items(node: ast.expr, scope: Scope) -> list[ast.expr]:
    """The items of a container that are written where it is created."""
    match = scope.lookup(node.id) if isinstance(node, ast.Name) else None
    containers = [binding.value for binding in match[1]] if match is not None else [node]
    items: list[ast.expr] = []
    for container in containers:
        if isinstance(container, (ast.List, ast.Tuple, ast.Set)):
            items += container.elts
        elif isinstance(container, ast.Dict):
            items += container.values
        elif isinstance(container, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
            items.append(container.elt)
        elif isinstance(container, ast.DictComp):
            items.append(container.value)
    return items
