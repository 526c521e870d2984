"""The smallest statement around a place in a file, parsed by libcst without the statements in its blocks.

A header such as `def fetch(pmid: str):` gets the body `pass`, a decorator a function, and an `except` clause its `try`.
Each is parsed from its first character on, so the indentation around it does not matter.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from mcpcore_lint.codemods.piece import Piece

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore_lint.syntax.source import Source


def statement_at(source: Source, tree: ast.Module, start: int, end: int) -> Piece:
    """The smallest statement or clause whose own text, decorators included, holds a stretch of a file.

    Raises:
        Unreadable: If libcst cannot parse it.
        ValueError: If no statement holds the stretch.
    """
    holder: ast.AST = tree
    while inner := next((each for each in _parts(holder) if _holds(source, each, start, end)), None):
        holder = inner
    if holder is tree:
        raise ValueError(f"no statement of {source.path} holds the characters {start} to {end}")
    newline = source.newline
    for decorator in _decorators(holder):
        first, last = source.node_range(decorator)
        if first <= start and end <= last:
            return Piece(source, first, last, before="@", after=f"{newline}def _(): pass{newline}")
    first = _start(source, holder)
    block: list[ast.stmt] | None = getattr(holder, "body", None)
    if not isinstance(block, list):
        return Piece(source, first, source.node_range(holder)[1], after=newline)
    before = ""
    if isinstance(holder, ast.ExceptHandler):
        before = f"try:{newline} pass{newline}"
    elif isinstance(holder, ast.match_case):
        before = f"match _:{newline} "
    elif source.text.startswith("elif", first):
        first += len("el")
    inside = _start(source, block[0], decorators=True)
    line = source.line_starts[source.position(inside)[0] - 1]
    indent = source.text[line:inside]
    if line > first and not indent.strip():
        return Piece(source, first, line, before=before, after=f"{indent}pass{newline}")
    # The block is on the line of the header.
    return Piece(source, first, source.node_range(block[-1])[1], before=before, after=newline)


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    """The statements and clauses directly inside a statement or clause."""
    for name in ("body", "handlers", "cases", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list):
            yield from block


def _decorators(node: ast.AST) -> list[ast.expr]:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return decorators


def _start(source: Source, node: ast.AST, *, decorators: bool = False) -> int:
    """Where a statement or clause starts; `ast` does not say so for a `case`."""
    if isinstance(node, ast.match_case):
        return source.text.rindex("case", 0, source.node_range(node.pattern)[0])
    first = source.node_range(node)[0]
    if decorators and _decorators(node):
        return source.text.rindex("@", 0, source.node_range(_decorators(node)[0])[0])
    return first


def _holds(source: Source, node: ast.AST, start: int, end: int) -> bool:
    last = node.body[-1] if isinstance(node, ast.match_case) else node
    return _start(source, node, decorators=True) <= start and end <= source.node_range(last)[1]
