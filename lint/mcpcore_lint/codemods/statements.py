"""The statements of a file, and the smallest stretch around a place that can be parsed by itself."""

import ast
import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from mcpcore_lint.dataclasses import cached_method
from mcpcore_lint.engine.syntax.parse import BODIES
from mcpcore_lint.engine.syntax.source import Source

_REST_OF_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")


class Unreadable(Exception):  # noqa: N818 - the report shows this name
    """Code that Python can read and libcst cannot, or the other way round."""


class Stretch(NamedTuple):
    """A part of a file: all of it, a statement, or the lines of the head of a statement or of an `except` clause."""

    start: int
    end: int
    tail: str = ""
    """The code that ends it: a line end, or the body of a head."""
    indent: str = ""
    """The white space of its first line, if it starts with that."""
    is_clause: bool = False

    @property
    def block(self) -> str:
        """The indentation as Python counts it: it ignores everything before a form feed."""
        return self.indent.rpartition("\f")[2]


class Statements:
    """The statements of a file, each found by its place in a time that hardly depends on how many there are."""

    def __init__(self, source: Source, tree: ast.Module) -> None:
        self._source = source
        self._tree = tree
        self._heads: dict[ast.AST, tuple[list[int], list[Stretch]]] = {}

    def around(self, start: int, end: int) -> Iterator[tuple[ast.stmt, int, int]]:
        """The statements around a stretch of the file, the outermost first, each with its range and its decorators'."""
        node: ast.AST | None = self._tree
        while node is not None:
            starts, block = self._block(node)
            node = None
            place = bisect_right(starts, start) - 1
            if place >= 0 and end <= block[place][0]:
                last, node = block[place]
                yield node, starts[place], last

    @cached_method
    def _block(self, node: ast.AST) -> tuple[list[int], list[tuple[int, ast.stmt]]]:
        """The statements right inside a statement, by where they start; they do not overlap."""
        ranges = sorted(
            (*self._range(statement), number, statement) for number, statement in enumerate(_statements(node))
        )
        return [first for first, *_ in ranges], [(last, statement) for _, last, _, statement in ranges]

    def head(self, statement: ast.stmt, start: int, end: int) -> Stretch | None:
        """The head of a statement or of one of its clauses around a stretch of the file, with `pass` as its body.

        None if the stretch is in no head, or if the head shares a line with the body.
        """
        if statement not in self._heads:
            clauses = getattr(statement, "handlers", None)
            owners: list[Any] = [statement] if clauses is None and hasattr(statement, "body") else clauses or []
            heads = [head for owner in owners if (head := self._head(owner)) is not None]
            self._heads[statement] = [head.start for head in heads], heads
        starts, heads = self._heads[statement]
        place = bisect_right(starts, start) - 1
        return heads[place] if place >= 0 and end <= heads[place].end else None

    def _head(self, owner: Any) -> Stretch | None:
        source = self._source
        start = self._range(owner)[0]
        begin = source.line_starts[source.position(start)[0] - 1]
        body = self._range(owner.body[0])[0]
        end = source.line_starts[source.position(body)[0] - 1]
        indent, gap = source.text[begin:start], source.text[end:body]
        if indent.strip() or gap.strip() or end <= start:
            return None
        return Stretch(begin, end, f"{gap}pass{source.newline}", indent, isinstance(owner, ast.ExceptHandler))

    def _range(self, statement: ast.stmt | ast.ExceptHandler) -> tuple[int, int]:
        first, last = self._source.node_range(statement)
        if decorators := getattr(statement, "decorator_list", []):
            first = self._source.text.rfind("@", 0, self._source.node_range(decorators[0])[0])
        return first, last


def stretch_around(source: Source, statements: Statements, start: int, end: int) -> Stretch:
    """The lines around a stretch of a file that can be parsed by themselves: as few as possible, else the file.

    They hold a statement with its decorators, or its head alone, or the head of a clause. A simple statement may share
    its lines with others.
    """
    text = source.text
    stretch = Stretch(0, len(text))
    for statement, first, last in statements.around(start, end):
        if not any(hasattr(statement, name) for name in BODIES):
            return Stretch(first, last, source.newline)
        line = source.position(first)[0]
        begin, finish = source.line_starts[line - 1], _REST_OF_LINE.match(text, last)
        indent, rest = text[begin:first], finish[0].strip() if finish else ""
        # `ast` puts an `elif` into the `if` before it.
        alone = not indent.strip() and (not rest or rest.startswith("#")) and not text.startswith("elif", first)
        if not alone or source.line(line - 1).endswith("\\"):
            continue
        stop = finish.end() if finish else last
        stretch = statements.head(statement, start, end) or Stretch(begin, stop, indent=indent)
    return stretch


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    """The statements right inside a statement or clause."""
    for name in BODIES:
        for child in getattr(node, name, ()):
            if isinstance(child, ast.stmt):
                yield child
            else:
                yield from _statements(child)
