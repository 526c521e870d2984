"""Some lines of a file as libcst parses them, and the way from its nodes back to places in the file."""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from mcpcore_lint.diagnostics import Edit, Span
from mcpcore_lint.engine.syntax.parse import BODIES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    import libcst
    from libcst.metadata import BaseMetadataProvider, CodePosition, CodeRange, MetadataWrapper

    from mcpcore_lint.engine.syntax.source import Source

Replacement: TypeAlias = "libcst.CSTNode | libcst.RemovalSentinel | libcst.FlattenSentinel[libcst.CSTNode]"

_PLACE: Final = re.compile(r"\w+ error: (?:error at \d+:\d+: )?")
_REST_OF_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_INDENT: Final = re.compile(r"^[ \t]+(?=[^\s#])", re.MULTILINE)


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


class Piece:
    """Some stretches of a file, which do not overlap, parsed together by libcst on first use.

    Indented statements are parsed in the block of an `if 1:` that is put before them, so every column stays the same.
    A clause gets a `try` in front of it.
    """

    def __init__(self, source: Source, stretches: Sequence[Stretch]) -> None:
        """Take the stretches, the first one of the file first."""
        self.file = source
        self.stretches = stretches
        self._is_whole = stretches[0] == Stretch(0, len(source.text))
        self._starts = [stretch.start for stretch in stretches]
        self._first_lines: list[int] = []
        """The line of the piece at which each stretch starts."""
        parts: list[str] = []
        line = 1
        for stretch in stretches:
            lead = ["if 1:"] if stretch.block else []
            lead += [f"{stretch.block}try: pass"] if stretch.is_clause else []
            line += len(lead)
            self._first_lines.append(line)
            parts += [f"{code}{source.newline}" for code in lead]
            parts += [source.text[stretch.start : stretch.end], stretch.tail]
            line += source.position(stretch.end)[0] - source.position(stretch.start)[0] + bool(stretch.tail)
        self.text = "".join(parts)
        self._is_too_deep = False
        self._known_kinds: dict[tuple[int, tuple[type[libcst.CSTNode], ...]], list[libcst.CSTNode]] = {}
        self._metadata: dict[type[BaseMetadataProvider[Any]], Mapping[libcst.CSTNode, Any]] = {}

    @cached_property
    def tree(self) -> libcst.Module:
        """The parsed text.

        Raises:
            Unreadable: If libcst cannot parse it.
        """
        import libcst

        first = self.file.position(self._starts[0])[0]
        problem = f"libcst cannot read the code from line {first} on, which Python can"
        indent = _INDENT.search(self.file.text)
        config = libcst.PartialParserConfig(default_indent=indent[0] if indent else "    ")
        try:
            return libcst.parse_module(self.text, config)
        except libcst.ParserSyntaxError as error:
            # The parser counts lines from the start of the piece.
            why = _PLACE.sub("", " ".join(error.message.split()))
            raise Unreadable(f"{problem}: {why} at line {max(self._place(error.raw_line)[0], first)}") from None
        except BaseException as error:
            # A panic of the native parser is not an Exception.
            if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
                raise
            raise Unreadable(f"{problem}: {type(error).__name__}: {error}") from None

    @cached_property
    def roots(self) -> tuple[libcst.CSTNode, ...]:
        """The statements and clauses of the file in it."""
        body: Any = self.tree.body
        if self._is_whole:
            return tuple(body)
        roots: list[Any] = []
        for stretch, top in zip(self.stretches, body, strict=True):
            statement = top.body.body[0] if stretch.block else top
            roots.append(statement.handlers[0] if stretch.is_clause else statement)
        return tuple(roots)

    def _place(self, line: int, column: int = 0) -> tuple[int, int]:
        """The line and the column of the file, both from 1, for those of the piece, where columns are from 0."""
        number = max(bisect_right(self._first_lines, line) - 1, 0)
        first, before = self.file.position(self._starts[number])
        line -= self._first_lines[number]
        return line + first, column + (1 if line else before)

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
        return Unreadable(
            f"the code from line {self.file.position(self._starts[0])[0]} on is nested too deeply for libcst"
        )

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
        return Span(*self._place(first.line, first.column), *self._place(last.line, last.column))

    def ranges(self, node: libcst.CSTNode) -> Iterator[tuple[int, int]]:
        """The offsets in the file at which `ast` may put a node: it counts the parentheses of a tuple as part of it."""
        from libcst.metadata import PositionProvider

        positions = self.metadata(PositionProvider)
        outermost = zip(getattr(node, "lpar", ())[:1], getattr(node, "rpar", ())[-1:], strict=True)
        known = (
            (positions[first], positions[last]) for first, last in ((node, node), *outermost) if first in positions
        )
        yield from ((self._offset(first.start), self._offset(last.end)) for first, last in known)

    def _offset(self, position: CodePosition) -> int:
        return self.file.offset_at(*self._place(position.line, position.column))

    def find(self, start: int, end: int, kinds: tuple[type[libcst.CSTNode], ...]) -> libcst.CSTNode:
        """The node of some kinds at a range of the file; of a statement, only the start is compared.

        Raises:
            ValueError: If no node matches.
        """
        import libcst

        number = bisect_right(self._starts, start) - 1
        # libcst needs more time for the places of nodes than for everything else. Without a choice, they do not matter.
        if (number, kinds) not in self._known_kinds:
            self._known_kinds[number, kinds] = [node for node in self._nodes[1][number] if isinstance(node, kinds)]
        if len(self._known_kinds[number, kinds]) == 1:
            return self._known_kinds[number, kinds][0]
        (line, column), (first, before) = self.file.position(start), self.file.position(self._starts[number])
        place = line - first + self._first_lines[number], column - (1 if line > first else before)
        for node in self._by_start.get(place, ()):
            owner = self._nodes[0][node] if isinstance(node, libcst.LeftParen) else node
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

        from mcpcore_lint.codemods.visiting import Replacer

        parents, _ = self._nodes
        around: set[libcst.CSTNode] = set()
        for node in nodes:
            place = parents.get(node)
            while place is not None and place not in around:
                around.add(place)
                place = parents.get(place)
        statement = next(iter(nodes))
        numbers = self._numbers
        while (block := parents.get(statement)) is not None and block is not self.tree and statement not in numbers:
            # If a statement is removed, the others in its block decide whether `pass` takes its place.
            if isinstance(block, libcst.IndentedBlock) and statement not in nodes:
                break
            if isinstance(statement, libcst.ExceptHandler):
                break  # the other clauses of a long `try` need not be rendered
            statement = block

        try:
            start, old, indent = self._before(statement)
            new = self._code(statement.visit(Replacer(around, replace)), indent, ends=old.endswith(("\n", "\r")))
        except RecursionError:
            raise self.too_deep() from None
        edit = _smallest(start, old, new)
        # libcst loses a few spaces, such as those in `except ValueError :`. They may differ behind the edit.
        if edit is not None and self.file.text[start : edit.end] != old[: edit.end - start]:
            raise Unreadable(f"libcst does not reproduce the code from line {self.file.position(start)[0]} on")
        return edit

    def _before(self, statement: libcst.CSTNode) -> tuple[int, str, str]:
        """Where a statement starts in the file, its code as libcst writes it, and its indentation."""
        number = self._numbers.get(statement)
        if number is not None:
            start, end, tail, indent, _ = self.stretches[number]
            old = self.file.text[start:end] + tail
            ends = old.endswith(("\n", "\r"))
            return start, old if self._is_reproduced else self._code(statement, indent, ends=ends), indent
        from libcst.metadata import PositionProvider

        from mcpcore_lint.codemods.visiting import children

        positions = self.metadata(PositionProvider)
        first = self.span_of(positions[statement])
        indent = self.file.line(first.line)[: first.column - 1]
        # The comments and empty lines above a statement are its first children.
        line = min(positions[part].start.line for part in (statement, *children(statement)) if part in positions)
        code = self._code(statement, indent, ends=self.tree.has_trailing_newline)
        return self.file.offset_at(self._place(line)[0], 1), code, indent

    @cached_property
    def _numbers(self) -> dict[libcst.CSTNode, int]:
        """The statements that are a whole stretch, each with the number of the stretch."""
        return {} if self._is_whole else {root: number for number, root in enumerate(self.roots)}

    @cached_property
    def _is_reproduced(self) -> bool:
        """Whether libcst writes all stretches as they are in the file."""
        return self.tree.code == self.text

    def _code(self, statement: Any, indent: str, *, ends: bool) -> str:
        """The code of a statement at some indentation, or of what replaces it; `ends` if its last line ends."""
        import libcst

        if isinstance(statement, libcst.Module):
            return statement.code
        if isinstance(statement, libcst.SimpleStatementLine) and ends and not indent:
            return self.tree.code_for_node(statement)
        body: list[Any] = [*statement] if isinstance(statement, libcst.FlattenSentinel) else [statement]
        if isinstance(statement, libcst.RemovalSentinel):
            body = []
        around = 0
        if isinstance(statement, libcst.ExceptHandler):
            body, around = [libcst.Try(libcst.SimpleStatementSuite([libcst.Pass()]), body)], 1
        if indent:
            body, around = [libcst.If(libcst.Integer("1"), libcst.IndentedBlock(body, indent=indent))], around + 1
        module = self.tree.with_changes(header=(), body=body, footer=(), has_trailing_newline=ends)
        return module.code.split(module.default_newline, around)[around]

    @cached_property
    def _nodes(self) -> tuple[dict[libcst.CSTNode, libcst.CSTNode], list[list[libcst.CSTNode]]]:
        """The node around each node, up to the statements that are a whole stretch, and the nodes of each stretch."""
        from mcpcore_lint.codemods.visiting import children

        parents: dict[libcst.CSTNode, libcst.CSTNode] = {}
        stretches: list[list[libcst.CSTNode]] = []
        for root in [self.tree] if self._is_whole else self.roots:
            nodes: list[libcst.CSTNode] = [root]
            for node in nodes:  # the loop adds to them
                below = children(node)
                parents.update(dict.fromkeys(below, node))
                nodes += below
            stretches.append(nodes)
        return parents, stretches


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
