"""Splices the replacement of a libcst node into the text of its file, as the smallest possible edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from mcpcore_lint.codemods.piece import Unreadable
from mcpcore_lint.diagnostics import Edit

if TYPE_CHECKING:
    from collections.abc import Iterator

    import libcst

    from mcpcore_lint.codemods.piece import Piece

Replacement: TypeAlias = "libcst.CSTNode | libcst.RemovalSentinel | libcst.FlattenSentinel[libcst.CSTNode]"


def replace(piece: Piece, node: libcst.CSTNode, replacement: Replacement) -> Edit | None:
    """The edit that replaces `node` with `replacement`; None if the text stays the same.

    Raises:
        Unreadable: If libcst does not reproduce the code as it is written, so no edit of it would be safe.
        ValueError: If the edit would change text outside the piece.
    """
    try:
        for start, old, new in _ways(piece, node, replacement):
            if old == new:
                return None
            head, tail = _common(old, new)
            end = len(old) - tail
            # libcst loses a few spaces, such as those in `except ValueError :`. What comes after the edit may differ
            # from the file, since it is not written.
            if piece.text[start : start + end] != old[:end]:
                continue
            if start + head < len(piece.lead):
                raise ValueError("the replacement changes code outside the visited code: replace a node of that code")
            shift = start + piece.shift
            return Edit(shift + head, shift + end, new[head : len(new) - tail])
    except RecursionError:
        raise piece.too_deep() from None
    line = piece.file.position(piece.start)[0]
    raise Unreadable(f"libcst does not reproduce the code from line {line} on")


def _ways(piece: Piece, node: libcst.CSTNode, replacement: Replacement) -> Iterator[tuple[int, str, str]]:
    """Ways to write the replacement: an offset in the piece, the code there and the new code, the shortest first."""
    import libcst

    tree = piece.tree
    if isinstance(node, libcst.BaseExpression) and isinstance(replacement, libcst.BaseExpression):
        old, new = tree.code_for_node(node), tree.code_for_node(replacement)
        # Code over several lines depends on the indentation of the blocks around it.
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
    """The top-level statement that holds a node, so the others need not be written again."""
    import libcst

    if piece.lead or not isinstance(node, (libcst.BaseExpression, libcst.BaseStatement, libcst.BaseSmallStatement)):
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
        """Replaces one node."""

        def on_visit(self, node: libcst.CSTNode) -> bool:
            return node is not old

        def on_leave(self, original_node: libcst.CSTNode, updated_node: libcst.CSTNode) -> Replacement:  # type: ignore[override]
            return replacement if original_node is old else updated_node

    return Replacing()


def _common(old: str, new: str) -> tuple[int, int]:
    """How many characters two texts have in common at the start and, after that, at the end."""
    most = min(len(old), len(new))
    head = tail = 0
    while head < most and old[head] == new[head]:
        head += 1
    while tail < most - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return head, tail
