"""The pieces of a file that libcst reads: a handler with its decorators, or the whole file, and the way back.

A piece is the file's own lines as they are. One that is indented gets headers before it that open its blocks again
(`class Store:`, `def create():`), so that no line has to be moved and every column stays what it is.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcpcore_lint.diagnostics import Span
from mcpcore_lint.syntax.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import libcst
    from libcst.metadata import BaseMetadataProvider, CodePosition, MetadataWrapper

    from mcpcore_lint.model import Handler, ToolDef
    from mcpcore_lint.syntax.module import Module
    from mcpcore_lint.syntax.scopes import Scope

_BLANK = " \t\f"
_PLACE = re.compile(r"\w+ error: (?:error at \d+:\d+: )?")
_TO_DECORATOR = re.compile(r"@(?:[\s(\\]|#[^\r\n]*)*")


class Unreadable(Exception):  # noqa: N818 - the report names it
    """Code that Python reads and libcst does not, or the other way round."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A stretch of whole lines, and the statements round it, outermost first."""

    start: int
    end: int
    around: tuple[ast.stmt, ...]


# ---------------------------------------------------------------------------------------------------------------------
# Where to cut.
# ---------------------------------------------------------------------------------------------------------------------


def cut(module: Module, target: ast.AST) -> Cut:
    """The lines of the innermost statements round a node that share their lines with nothing else."""
    source = module.source
    place = source.node_range(target)[0]
    block: Sequence[ast.stmt] | None = module.tree.body
    around: list[ast.stmt] = []
    found: Cut | None = None
    while block is not None:
        index = next((n for n, each in enumerate(block) if _first(source, each) <= place < _last(source, each)), None)
        if index is None:
            break
        statement = block[index]
        first = last = index
        while first > 0 and _end_line(block[first - 1]) >= source.position(_first(source, block[first]))[0]:
            first -= 1
        while last + 1 < len(block) and block[last + 1].lineno <= _end_line(block[last]):
            last += 1
        start = _line_start(source, _first(source, block[first]))
        if start is not None:
            found = Cut(start, _line_end(source, _last(source, block[last])), tuple(around))
        if statement is target:
            break
        around.append(statement)
        block = next((each for each in _blocks(statement) if _holds(source, each, place)), None)
    if found is None:
        raise Unreadable(f"no statement of {module.path} holds line {getattr(target, 'lineno', 1)}")
    return found


def _blocks(statement: ast.AST) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(statement, name, None)
        if isinstance(block, list):
            yield block
    for name in ("handlers", "cases"):
        clauses: list[ast.ExceptHandler | ast.match_case] = getattr(statement, name, [])
        for each in clauses:
            yield each.body


def _holds(source: Source, block: list[ast.stmt], place: int) -> bool:
    return bool(block) and _first(source, block[0]) <= place < _last(source, block[-1])


def _end_line(statement: ast.stmt) -> int:
    return statement.end_lineno or statement.lineno


def _first(source: Source, statement: ast.stmt) -> int:
    """Where a statement starts, its decorators included."""
    start, _ = source.node_range(statement)
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    if not decorators:
        return start
    text = source.text
    before, _ = source.node_range(decorators[0])
    at = text.rfind("@", 0, before)
    while at >= 0:
        # `@(` may have its expression on a later line, and a comment between them may hold another `@`.
        if _line_start(source, at) is not None and _TO_DECORATOR.fullmatch(text, at, before):
            return at
        at = text.rfind("@", 0, at)
    return start


def _last(source: Source, statement: ast.stmt) -> int:
    return source.node_range(statement)[1]


def _line_start(source: Source, offset: int) -> int | None:
    """The start of the line of an offset, joined lines before it included, where only white space stands before it."""
    starts = source.line_starts
    line, column = source.position(offset)
    if source.text[offset - column + 1 : offset].strip(_BLANK):
        return None
    while line > 1 and source.line(line - 1).strip(_BLANK) == "\\":
        line -= 1
    return starts[line - 1]


def _line_end(source: Source, offset: int) -> int:
    """The end of the line of an offset, with its line end; lines that are joined to it are included."""
    starts = source.line_starts
    line, _ = source.position(offset)
    while True:
        end = starts[line] if line < len(starts) else len(source.text)
        rest = source.text[offset:end].rstrip("\r\n")
        if line >= len(starts) or not rest.endswith("\\") or "#" in rest:
            return end
        line += 1


def _indent(source: Source, statement: ast.stmt) -> str:
    """The white space before a statement; what a form feed ends does not count, for Python neither."""
    first = _first(source, statement)
    _, column = source.position(first)
    before = source.text[first - column + 1 : first]
    return before.rpartition("\f")[2] if not before.strip(_BLANK) else ""


def _default_indent(module: Module) -> str:
    """The indentation that the file uses first."""
    for statement in module.tree.body:
        for block in _blocks(statement):
            if block and (indent := _indent(module.source, block[0])):
                return indent
    return "    "


def _opening(source: Source, around: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The statements whose blocks have to be opened: an `elif` is a statement in the one that it belongs to."""
    found: list[ast.stmt] = []
    for each in around:
        if found and len(_indent(source, each)) <= len(_indent(source, found[-1])):
            found.pop()
        found.append(each)
    return found


def _header(statement: ast.stmt) -> str:
    """A line that opens a block of the kind that a statement opens."""
    if isinstance(statement, ast.ClassDef):
        return f"class {statement.name}:"
    if isinstance(statement, ast.AsyncFunctionDef):
        return f"async def {statement.name}():"
    if isinstance(statement, ast.FunctionDef):
        return f"def {statement.name}():"
    return "if True:"


def _imports(module: Module) -> list[str]:
    """The imports at the top of a file, one a line."""
    found: list[str] = []
    stack: list[ast.AST] = [*reversed(module.tree.body)]
    while stack:
        node = stack.pop()
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            if getattr(node, "module", None) != "__future__":
                found.append(ast.unparse(node))
        elif isinstance(node, (ast.If, ast.Try)):
            for block in reversed([*_blocks(node)]):
                stack.extend(reversed(block))
    return found


# ---------------------------------------------------------------------------------------------------------------------
# What is cut.
# ---------------------------------------------------------------------------------------------------------------------


class Piece:
    """A part of a file as libcst sees it, and where it stands in the file."""

    def __init__(
        self,
        module: Module,
        where: Cut | None = None,
        *,
        handler: Handler | None = None,
        tool: ToolDef | None = None,
        imports: bool = False,
    ) -> None:
        self.module = module
        self.handler = handler
        self.tool = tool
        source = module.source
        whole = where is None
        where = where or Cut(0, len(source.text), ())
        lead = _imports(module) if imports and not whole else []
        around = _opening(source, where.around)
        if around:
            # The first block of a text tells libcst what new blocks are indented by: it has to be the file's own way.
            lead += ["if True:", f"{_default_indent(module)}pass"]
        own = len(lead) - (1 if around else 0)
        lead += [f"{_indent(source, each)}{_header(each)}" for each in around]
        self.lead = "".join(f"{line}{source.newline}" for line in lead)
        self.start = where.start
        self.lines = source.position(where.start)[0] - 1 - len(lead)
        """How many lines further down the file has what libcst has."""
        self.text = self.lead + source.text[where.start : where.end]
        self._source: Source | None = None
        self._wrapper: MetadataWrapper | None = None
        self._nodes: dict[tuple[int, int], tuple[ast.expr, Scope]] | None = None
        self.tree: libcst.Module = self._parse()
        self.roots: Sequence[libcst.CSTNode] = self.tree.body
        if lead:
            self.roots = self.tree.body[own:]
        for _ in around:
            self.roots = _body(self.roots[0])

    def _parse(self) -> libcst.Module:
        import libcst

        first = self.lines + self.lead.count(self.module.source.newline) + 1
        what = f"libcst cannot read the code from line {first} on, which Python can"
        try:
            return libcst.parse_module(self.text)
        except libcst.ParserSyntaxError as error:
            # The parser counts from the start of the piece.
            why = _PLACE.sub("", " ".join(error.message.split()))
            raise Unreadable(f"{what}: {why} at line {max(error.raw_line + self.lines, first)}") from None
        except (RecursionError, UnicodeError, ValueError) as error:
            raise Unreadable(f"{what}: {type(error).__name__}: {error}") from None
        except BaseException as error:
            # A panic of the native parser is not an Exception.
            if type(error).__name__ == "PanicException":
                raise Unreadable(f"{what}: its parser gave up: {error}") from None
            raise

    # -- places ----------------------------------------------------------------------------------------------------

    @property
    def source(self) -> Source:
        """The text that libcst has, by lines."""
        if self._source is None:
            self._source = Source(self.module.path, self.text)
        return self._source

    @property
    def shift(self) -> int:
        """How many characters further on the file has what libcst has."""
        return self.start - len(self.lead)

    @property
    def wrapper(self) -> MetadataWrapper:
        """The metadata of the piece, each part made when first asked for."""
        if self._wrapper is None:
            from pathlib import Path

            from libcst.helpers import ModuleNameAndPackage
            from libcst.metadata import FilePathProvider, FullyQualifiedNameProvider, MetadataWrapper

            name = self.module.name
            package = name if self.module.is_package else name.rpartition(".")[0]
            known: dict[Any, object] = {
                FilePathProvider: Path(self.module.absolute),
                FullyQualifiedNameProvider: ModuleNameAndPackage(name, package),
            }
            self._wrapper = MetadataWrapper(self.tree, unsafe_skip_copy=True, cache=known)
        return self._wrapper

    def metadata(self, provider: type[BaseMetadataProvider[Any]]) -> Mapping[libcst.CSTNode, Any]:
        """What a provider knows of the nodes.

        Raises:
            RuntimeError: If it needs more than the file.
            Unreadable: If the code is nested too deeply for libcst.
        """
        from libcst.metadata import FilePathProvider, FullyQualifiedNameProvider

        needs = {provider, *_dependencies(provider)}
        for each in needs - {FilePathProvider, FullyQualifiedNameProvider}:
            if each.gen_cache is not None:
                raise RuntimeError(f"{each.__name__} needs more than the file that is looked at: do without it")
        try:
            return self.wrapper.resolve(provider)
        except RecursionError:
            raise self.too_deep() from None

    def too_deep(self) -> Unreadable:
        """That libcst cannot follow the code."""
        line = self.module.source.position(self.start)[0]
        return Unreadable(f"the code from line {line} on is nested too deeply for libcst")

    def bounds(self, node: libcst.CSTNode, *, whole: bool = False) -> tuple[int, int]:
        """The offsets in the piece at which a node starts and ends; where `whole`, with all that belongs to it.

        Raises:
            ValueError: If the node does not stand in the piece.
        """
        from libcst.metadata import PositionProvider, WhitespaceInclusivePositionProvider

        table = self.metadata(WhitespaceInclusivePositionProvider if whole else PositionProvider)
        found = table.get(node)
        if found is None:
            raise ValueError(
                f"this {type(node).__name__} does not stand in the code that is visited: report a node that was "
                "handed to the rule, not a copy of one"
            )
        return self.offset(found.start), self.offset(found.end)

    def offset(self, position: CodePosition) -> int:
        """The offset in the piece of a position as libcst counts it in the piece."""
        return self.source.offset_at(position.line, position.column + 1)

    def span(self, node: libcst.CSTNode) -> Span:
        """Where a node stands in the file; of a function or class, its name."""
        import libcst

        if isinstance(node, (libcst.FunctionDef, libcst.ClassDef)):
            node = node.name
        start, end = self.bounds(node)
        return self.span_of(start, end)

    def span_of(self, start: int, end: int) -> Span:
        """Where a stretch of the piece stands in the file."""
        place = self.module.source.position
        # What was put before the piece stands nowhere; the file has at least the piece itself.
        return Span(*place(max(start + self.shift, self.start)), *place(max(end + self.shift, self.start)))

    # -- the model -------------------------------------------------------------------------------------------------

    def ast_node(self, node: libcst.CSTNode) -> tuple[ast.expr, Scope] | None:
        """The expression of the file's `ast` that a node is, with the scope that it stands in."""
        if self._nodes is None:
            self._nodes = self._expressions()
        start, end = self.bounds(node)
        found = self._nodes.get((start + self.shift, end + self.shift))
        parentheses: Sequence[object] = getattr(node, "lpar", None) or ()
        if found is None and parentheses:
            # The parentheses of a tuple or a generator are its own for `ast`, and round it for libcst.
            opening, closing = self.bounds(node, whole=True)
            found = self._nodes.get((opening + self.shift, closing + self.shift))
        return found

    def _expressions(self) -> dict[tuple[int, int], tuple[ast.expr, Scope]]:
        from mcpcore_lint.syntax.parse import children

        module = self.module
        source = module.source
        end = self.shift + len(self.text)
        found: dict[tuple[int, int], tuple[ast.expr, Scope]] = {}
        stack: list[tuple[ast.AST, Scope]] = [(module.tree, module.scope)]
        while stack:
            node, scope = stack.pop()
            if isinstance(node, ast.stmt) and (source.node_range(node)[1] <= self.start or _first(source, node) >= end):
                continue
            if isinstance(node, ast.expr):
                found.setdefault(source.node_range(node), (node, scope))
            outside: list[ast.expr] = getattr(node, "decorator_list", [])
            stack.extend((each, scope) for each in outside)
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                scope = module.scope_of(node)
            elif isinstance(node, ast.Lambda):
                module.note_lambda(node, scope)
                scope = module.scope_of(node)
            elif isinstance(node, ast.ClassDef):
                scope = module.classes[node].body_scope
            stack.extend((each, scope) for each in children(node) if each not in outside)
        return found


def _body(node: Any) -> Sequence[libcst.CSTNode]:
    found: Sequence[libcst.CSTNode] = node.body.body
    return found


def _dependencies(provider: type[BaseMetadataProvider[Any]]) -> set[type[BaseMetadataProvider[Any]]]:
    found: set[type[BaseMetadataProvider[Any]]] = set()
    for each in provider.METADATA_DEPENDENCIES:
        found |= {each, *_dependencies(each)}
    return found
