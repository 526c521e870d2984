"""Some lines of a file as libcst parses them, and the way from its nodes back to places in the file."""

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, TypeAlias

import libcst
from libcst.metadata import BaseMetadataProvider, CodePosition, CodeRange, MetadataWrapper, PositionProvider

from mcpcore_lint.codemods.statements import Stretch, Unreadable
from mcpcore_lint.diagnostics import Edit, Span
from mcpcore_lint.engine.syntax.source import Source

Replacement: TypeAlias = libcst.CSTNode | libcst.RemovalSentinel | libcst.FlattenSentinel[libcst.CSTNode]

_PLACE: Final = re.compile(r"\w+ error: (?:error at \d+:\d+: )?")
_INDENT: Final = re.compile(r"^[ \t]+(?=[^\s#])", re.MULTILINE)


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


class Metadata(MetadataWrapper):
    """Computes metadata, without the walk over the whole tree that libcst makes for no visitor at all."""

    def visit_batched(
        self, visitors: Iterable[Any], before_visit: Any = None, after_leave: Any = None
    ) -> libcst.CSTNode:
        """Visit the tree if there are visitors."""
        return super().visit_batched(visitors, before_visit, after_leave) if visitors else self.module


class Replacer(libcst.CSTTransformer):
    """Replaces nodes, inner ones first, and looks only into the nodes around them."""

    def __init__(
        self, around: Collection[libcst.CSTNode], replace: Callable[[libcst.CSTNode, Any], Replacement]
    ) -> None:
        super().__init__()
        self.around = around
        self.on_leave = replace  # type: ignore[assignment]

    def on_visit(self, node: libcst.CSTNode) -> bool:
        """Look only into these nodes."""
        return node in self.around


class _Attributes(libcst.CSTVisitor):
    """Collects the attributes of one node that hold nodes, in the order in which libcst visits them."""

    def __init__(self, node: libcst.CSTNode) -> None:
        super().__init__()
        self.node = node
        self.names: list[str] = []
        node.visit(self)

    def on_visit(self, node: libcst.CSTNode) -> bool:
        """Visit no other node."""
        return node is self.node

    def on_visit_attribute(self, node: libcst.CSTNode, attribute: str) -> None:
        """Note the attribute."""
        self.names += [attribute] if node is self.node else []


_ATTRIBUTES: Final[dict[type[libcst.CSTNode], list[str]]] = {}


def children(node: libcst.CSTNode) -> list[libcst.CSTNode]:
    """The nodes right below a node, in the order in which libcst visits them."""
    names = _ATTRIBUTES.get(type(node))
    if names is None:
        names = _ATTRIBUTES[type(node)] = _Attributes(node).names
    below: list[libcst.CSTNode] = []
    for name in names:
        value = getattr(node, name)
        # isinstance with an abstract class is slow.
        if isinstance(value, (list, tuple)):
            below += [child for child in value if hasattr(child, "visit")]
        elif hasattr(value, "visit"):
            below.append(value)
    return below
