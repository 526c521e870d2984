"""From a node and what is to stand in its place to the smallest edit of the file's text."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from mcpcore_lint.codemods.pieces import Unreadable
from mcpcore_lint.diagnostics import Edit

if TYPE_CHECKING:
    from collections.abc import Iterator

    import libcst

    from mcpcore_lint.codemods.pieces import Piece

Replacement: TypeAlias = "libcst.CSTNode | libcst.RemovalSentinel | libcst.FlattenSentinel[libcst.CSTNode]"


def replace(piece: Piece, node: libcst.CSTNode, replacement: Replacement) -> Edit | None:
    """The edit that puts `replacement` in the place of `node`; None where the text stays as it is.

    Raises:
        Unreadable: If libcst does not give the code back as it is written, so that no edit of it would be safe.
        ValueError: If the node does not stand in the piece.
    """
    piece.bounds(node)
    try:
        for start, old, new in _ways(piece, node, replacement):
            # An edit counts from the file's own text: it holds only where libcst gives back exactly that.
            if piece.text[start : start + len(old)] == old:
                return _smallest(start + piece.shift, old, new, first=piece.start)
    except RecursionError:
        raise piece.too_deep() from None
    raise Unreadable(f"libcst does not give the code round line {piece.span(node).line} back as it is written")


def _ways(piece: Piece, node: libcst.CSTNode, replacement: Replacement) -> Iterator[tuple[int, str, str]]:
    """Where to write anew, what is there, and what will be: as little as can be told, then more."""
    import libcst

    tree = piece.tree
    if isinstance(node, libcst.BaseExpression) and isinstance(replacement, libcst.BaseExpression):
        old, new = tree.code_for_node(node), tree.code_for_node(replacement)
        # What spans lines depends on the indentation of the blocks round it.
        if not any(end in code for code in (old, new) for end in "\r\n"):
            yield piece.bounds(node, whole=True)[0], old, new
    statement = _statement(piece, node)
    if statement is not None:
        changed = statement.visit(_replacing(node, replacement))
        if isinstance(changed, libcst.CSTNode):
            start, _ = piece.bounds(statement, whole=True)
            yield start, tree.code_for_node(statement), tree.code_for_node(changed)
    yield 0, tree.code, tree.visit(_replacing(node, replacement)).code


def _statement(piece: Piece, node: libcst.CSTNode) -> libcst.CSTNode | None:
    """The statement at the top of the file that holds a node: others need not be written anew."""
    if piece.lead:
        return None
    start, end = piece.bounds(node)
    for each in piece.tree.body:
        first, last = piece.bounds(each, whole=True)
        if first <= start and end <= last and each is not node:
            return each
    return None


def _replacing(node: libcst.CSTNode, replacement: Replacement) -> libcst.CSTTransformer:
    import libcst

    old = node

    class Replacing(libcst.CSTTransformer):
        """Puts one node in the place of another."""

        def on_visit(self, node: libcst.CSTNode) -> bool:
            return node is not old

        def on_leave(self, original_node: libcst.CSTNode, updated_node: libcst.CSTNode) -> Replacement:  # type: ignore[override]
            return replacement if original_node is old else updated_node

    return Replacing()


def _smallest(start: int, old: str, new: str, *, first: int) -> Edit | None:
    if old == new:
        return None
    most = min(len(old), len(new))
    head = tail = 0
    while head < most and old[head] == new[head]:
        head += 1
    limit = most - head
    while tail < limit and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    if start + head < first:
        raise ValueError("the replacement changes code round the piece: replace a node that was handed to the rule")
    return Edit(start + head, start + len(old) - tail, new[head : len(new) - tail])
