"""Some lines of a file as libcst parses them, and the way from its nodes back to places in the file."""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from mcpcore_lint.diagnostics import Edit, Span
from mcpcore_lint.engine.syntax.parse import BODIES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    import libcst
    from libcst.metadata import BaseMetadataProvider, CodePosition, CodeRange, MetadataWrapper

    from mcpcore_lint.engine.syntax.source import Source

Replacement: TypeAlias = "libcst.CSTNode | libcst.RemovalSentinel | libcst.FlattenSentinel[libcst.CSTNode]"

_PLACE: Final = re.compile(r"\w+ error: (?:error at \d+:\d+: )?")
_REST_OF_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_INDENT: Final = re.compile(r"^[ \t]+(?=[^\s#])", re.MULTILINE)


class Unreadable(Exception):  # noqa: N818 - the report shows this name
    """Code that Python can read and libcst cannot, or the other way round."""


class Piece:
    """A statement that shares its lines with no other code, or a whole file, parsed by libcst on first use.

    An indented statement is parsed in the block of an `if 1:` that is put before it, so every column stays the same.
    """

    def __init__(self, source: Source, start: int, end: int, *, indented: bool = False) -> None:
        """Take the lines from one offset to another."""
        self.file = source
        self.start = start
        self.end = end
        self.indented = indented
        self._lead = f"if 1:{source.newline}" if indented else ""
        self.text = self._lead + source.text[start:end]
        self.lines = source.position(start)[0] - 1 - indented
        """Add this to a line number in the piece to get the line number in the file."""
        self._is_too_deep = False
        self._metadata: dict[type[BaseMetadataProvider[Any]], Mapping[libcst.CSTNode, Any]] = {}

    @cached_property
    def tree(self) -> libcst.Module:
        """The parsed text.

        Raises:
            Unreadable: If libcst cannot parse it.
        """
        import libcst

        first = self.file.position(self.start)[0]
        problem = f"libcst cannot read the code from line {first} on, which Python can"
        indent = _INDENT.search(self.file.text)
        config = libcst.PartialParserConfig(default_indent=indent[0] if indent else "    ")
        try:
            return libcst.parse_module(self.text, config)
        except libcst.ParserSyntaxError as error:
            # The parser counts lines from the start of the piece.
            why = _PLACE.sub("", " ".join(error.message.split()))
            raise Unreadable(f"{problem}: {why} at line {max(error.raw_line + self.lines, first)}") from None
        except BaseException as error:
            # A panic of the native parser is not an Exception.
            if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
                raise
            raise Unreadable(f"{problem}: {type(error).__name__}: {error}") from None

    @cached_property
    def roots(self) -> tuple[libcst.CSTNode, ...]:
        """The statements of the file in it."""
        body: Any = self.tree.body
        return tuple(body[0].body.body if self.indented else body)

    @cached_property
    def _top(self) -> libcst.CSTNode:
        """The node that holds the statements of the file."""
        body: Any = self.tree.body
        return body[0].body if self.indented else self.tree

    @cached_property
    def _wrapper(self) -> MetadataWrapper:
        from mcpcore_lint.codemods.visiting import Metadata

        return Metadata(self.tree, unsafe_skip_copy=True)

    def metadata(self, provider: type[BaseMetadataProvider[Any]]) -> Mapping[libcst.CSTNode, Any]:
        """The metadata of a provider by node; libcst computes each kind on first use.

        Raises:
            RuntimeError: If the provider needs more than the file.
            Unreadable: If the code is nested too deeply for libcst.
        """
        if provider.gen_cache is not None:
            raise RuntimeError(f"{provider.__name__} needs more than the text of one file: a lint rule cannot use it")
        if self._is_too_deep:
            raise self.too_deep()
        known = self._metadata.get(provider)
        if known is not None:
            return known
        try:
            known = self._metadata[provider] = self._wrapper.resolve(provider)
        except (RecursionError, KeyError) as error:
            # While a RecursionError leaves libcst, its providers raise KeyError for nodes that have no place yet. From
            # now on, it would return those that it got to.
            if isinstance(error, KeyError) and not isinstance(error.__context__, (RecursionError, KeyError)):
                raise
            self._is_too_deep = True
            raise self.too_deep() from None
        return known

    def too_deep(self) -> Unreadable:
        """The error for code that libcst cannot follow."""
        return Unreadable(f"the code from line {self.file.position(self.start)[0]} on is nested too deeply for libcst")

    def span(self, node: libcst.CSTNode) -> Span:
        """The place of a node in the file; for a function or class, the place of its name.

        Raises:
            ValueError: If the node is not part of the piece.
        """
        import libcst
        from libcst.metadata import PositionProvider

        named = isinstance(node, (libcst.FunctionDef, libcst.ClassDef))
        position = self.metadata(PositionProvider).get(node.name if named else node)  # type: ignore[attr-defined]
        if position is None:
            raise ValueError(
                f"this {type(node).__name__} is not part of the visited code: report a node that the rule was called "
                "with, not a copy of one"
            )
        return self.span_of(position)

    def span_of(self, position: CodeRange) -> Span:
        """The place in the file of a range in the piece."""
        first, last = position.start, position.end
        return Span(first.line + self.lines, first.column + 1, last.line + self.lines, last.column + 1)

    def ranges(self, node: libcst.CSTNode) -> Iterator[tuple[int, int]]:
        """The offsets in the file at which `ast` may put a node: it counts the parentheses of a tuple as part of it."""
        from libcst.metadata import PositionProvider

        positions = self.metadata(PositionProvider)
        outermost = zip(getattr(node, "lpar", ())[:1], getattr(node, "rpar", ())[-1:], strict=True)
        for first, last in ((node, node), *outermost):
            if first in positions:
                yield self._offset(positions[first].start), self._offset(positions[last].end)

    def _offset(self, position: CodePosition) -> int:
        return self.file.offset_at(position.line + self.lines, position.column + 1)

    def find(self, start: int, end: int, kinds: tuple[type[libcst.CSTNode], ...]) -> libcst.CSTNode:
        """The node of some kinds at a range of the file; of a statement, only the start is compared.

        Raises:
            ValueError: If no node matches.
        """
        import libcst

        line, column = self.file.position(start)
        for node in self._by_start.get((line - self.lines, column - 1), ()):
            owner = self._parents[node] if isinstance(node, libcst.LeftParen) else node
            if isinstance(owner, kinds) and (
                (start, end) in self.ranges(owner) or not isinstance(owner, libcst.BaseExpression)
            ):
                return owner
        raise ValueError(f"no {kinds[0].__name__} from {start} to {end}")

    @cached_property
    def _by_start(self) -> dict[tuple[int, int], list[libcst.CSTNode]]:
        """The nodes by the line and column of the piece at which each starts."""
        from libcst.metadata import PositionProvider

        by_start: dict[tuple[int, int], list[libcst.CSTNode]] = {}
        for node, place in self.metadata(PositionProvider).items():
            by_start.setdefault((place.start.line, place.start.column), []).append(node)
        return by_start

    def edit(
        self, nodes: Collection[libcst.CSTNode], replace: Callable[[libcst.CSTNode, Any], Replacement]
    ) -> Edit | None:
        """The smallest edit of the file that replaces nodes; None if nothing changes.

        Args:
            nodes: The nodes to replace, the outermost first. Only the smallest statement around it is rendered.
            replace: Called with each of them and of the nodes around them, and with the node after the changes inside
                it; returns the new node.

        Raises:
            Unreadable: If libcst does not reproduce the code as it is written, so no edit of it would be safe.
        """
        import libcst
        from libcst.metadata import PositionProvider

        from mcpcore_lint.codemods.visiting import Replacer, children

        parents = self._parents
        path: set[libcst.CSTNode] = set()
        for node in nodes:
            place: libcst.CSTNode | None = node
            while place is not None and place not in path:
                path.add(place)
                place = parents.get(place)
        statement = next(iter(nodes))
        while statement in parents and parents[statement] is not self._top:
            block = parents[statement]
            # If a statement is removed, the others in its block decide whether `pass` takes its place.
            if isinstance(block, libcst.IndentedBlock) and statement not in nodes:
                break
            if isinstance(statement, libcst.ExceptHandler):
                break  # the other clauses of a long `try` need not be rendered
            statement = block

        positions = self.metadata(PositionProvider)
        first = self.span_of(positions[statement])
        indent = self.file.line(first.line)[: first.column - 1]
        # The comments and empty lines above a statement are its first children.
        line = min(positions[part].start.line for part in (statement, *children(statement)) if part in positions)
        start = self.file.offset_at(line + self.lines, 1)
        try:
            old, new = self._code(statement, indent), self._code(statement.visit(Replacer(path, replace)), indent)
        except RecursionError:
            raise self.too_deep() from None
        edit = _smallest(start, old, new)
        # libcst loses a few spaces, such as those in `except ValueError :`. They may differ behind the edit.
        if edit is not None and self.file.text[start : edit.end] != old[: edit.end - start]:
            raise Unreadable(f"libcst does not reproduce the code from line {line + self.lines} on")
        return edit

    def _code(self, statement: Any, indent: str) -> str:
        """The code of a statement at some indentation, or of what replaces it."""
        import libcst

        if isinstance(statement, libcst.Module):
            return statement.code
        body = [*statement] if isinstance(statement, libcst.FlattenSentinel) else [statement]
        if isinstance(statement, libcst.RemovalSentinel):
            body = []
        around = 0
        if isinstance(statement, libcst.ExceptHandler):
            body, around = [libcst.Try(libcst.SimpleStatementSuite([libcst.Pass()]), body)], 1
        if indent:
            body, around = [libcst.If(libcst.Integer("1"), libcst.IndentedBlock(body, indent=indent))], around + 1
        module = self.tree.with_changes(header=(), body=body, footer=())
        return module.code.split(module.default_newline, around)[around]

    @cached_property
    def _parents(self) -> dict[libcst.CSTNode, libcst.CSTNode]:
        """The node around each node."""
        from mcpcore_lint.codemods.visiting import children

        parents: dict[libcst.CSTNode, libcst.CSTNode] = {}
        stack: list[libcst.CSTNode] = [self.tree]
        while stack:
            node = stack.pop()
            below = children(node)
            parents.update(dict.fromkeys(below, node))
            stack += below
        return parents


def _smallest(start: int, old: str, new: str) -> Edit | None:
    """The smallest edit that turns the code at an offset into new code; None if they are equal.

    One of several lines covers whole lines. Otherwise an edit of the rest of its last line could be made with it.
    """
    if old == new:
        return None
    most = min(len(old), len(new))
    head = next((place for place in range(most) if old[place] != new[place]), most)
    tail = next((count for count in range(most - head) if old[-1 - count] != new[-1 - count]), most - head)
    if "\n" in old[head : len(old) - tail] or "\n" in new[head : len(new) - tail]:
        head = old.rfind("\n", 0, head) + 1
        line_end = old.find("\n", len(old) - tail)
        tail = len(old) - line_end if line_end >= 0 else 0
    return Edit(start + head, start + len(old) - tail, new[head : len(new) - tail])


class Statements:
    """The statements of a file, each found by its place in a time that hardly depends on how many there are."""

    def __init__(self, source: Source, tree: ast.Module) -> None:
        self._source = source
        self._tree = tree
        self._blocks: dict[ast.AST, tuple[list[int], list[tuple[int, ast.stmt]]]] = {}

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

    def _block(self, node: ast.AST) -> tuple[list[int], list[tuple[int, ast.stmt]]]:
        """The statements right inside a statement, by where they start; they do not overlap."""
        if node not in self._blocks:
            ranges = sorted(
                (*self._range(statement), number, statement) for number, statement in enumerate(_statements(node))
            )
            self._blocks[node] = (
                [first for first, *_ in ranges],
                [(last, statement) for _, last, _, statement in ranges],
            )
        return self._blocks[node]

    def _range(self, statement: ast.stmt) -> tuple[int, int]:
        first, last = self._source.node_range(statement)
        if decorators := getattr(statement, "decorator_list", []):
            first = self._source.text.rfind("@", 0, self._source.node_range(decorators[0])[0])
        return first, last


def piece_around(source: Source, statements: Statements, start: int, end: int) -> Piece:
    """The smallest statement on its own lines, with its decorators, that holds a stretch of a file; else the file."""
    text = source.text
    piece = Piece(source, 0, len(text))
    for _, first, last in statements.around(start, end):
        line = source.position(first)[0]
        begin, finish = source.line_starts[line - 1], _REST_OF_LINE.match(text, last)
        indent, rest = text[begin:first], finish[0].strip() if finish else ""
        # `ast` puts an `elif` into the `if` before it.
        alone = not indent.strip() and (not rest or rest.startswith("#")) and not text.startswith("elif", first)
        if alone and not source.line(line - 1).endswith("\\"):
            # Like Python, ignore everything before a form feed.
            indented = bool(indent.rpartition("\f")[2])
            piece = Piece(source, begin, finish.end() if finish else last, indented=indented)
    return piece


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    """The statements right inside a statement or clause."""
    for name in BODIES:
        for child in getattr(node, name, ()):
            if isinstance(child, ast.stmt):
                yield child
            else:
                yield from _statements(child)
