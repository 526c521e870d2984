"""The code that a libcst rule visits: a handler with its decorators, or a whole file.

A handler inside a class or a function is parsed with headers before it that open its blocks again (`class Store:`,
`def create():`), so no line has to move and every column stays the same.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mcpcore_lint.codemods.piece import Piece, Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import libcst
    from libcst.metadata import BaseMetadataProvider

    from mcpcore_lint.model import Handler, ToolDef
    from mcpcore_lint.syntax.module import Module
    from mcpcore_lint.syntax.scopes import Scope
    from mcpcore_lint.syntax.source import Source

_BLANK: Final = " \t\f"
_TO_DECORATOR: Final = re.compile(r"@(?:[\s(\\]|#[^\r\n]*)*")


class Cut(NamedTuple):
    """A stretch of whole lines, and the statements around it, outermost first."""

    start: int
    end: int
    around: tuple[ast.stmt, ...]


# ---------------------------------------------------------------------------------------------------------------------
# Where to cut.
# ---------------------------------------------------------------------------------------------------------------------


def cut(module: Module, target: ast.AST) -> Cut:
    """The lines of the innermost statement around a node that shares them with no other code."""
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
    """The start of a statement, including its decorators."""
    start, _ = source.node_range(statement)
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    if not decorators:
        return start
    text = source.text
    before, _ = source.node_range(decorators[0])
    at = text.rfind("@", 0, before)
    while at >= 0:
        # The expression may start on a later line than `@(`, and a comment between them may contain another `@`.
        if _line_start(source, at) is not None and _TO_DECORATOR.fullmatch(text, at, before):
            return at
        at = text.rfind("@", 0, at)
    return start


def _last(source: Source, statement: ast.stmt) -> int:
    return source.node_range(statement)[1]


def _line_start(source: Source, offset: int) -> int | None:
    """The start of the line of an offset, or of the lines joined to it; None if there is code before the offset."""
    starts = source.line_starts
    line, column = source.position(offset)
    if source.text[offset - column + 1 : offset].strip(_BLANK):
        return None
    while line > 1 and source.line(line - 1).strip(_BLANK) == "\\":
        line -= 1
    return starts[line - 1]


def _line_end(source: Source, offset: int) -> int:
    """The end of the line of an offset, including its line end and the lines joined to it."""
    starts = source.line_starts
    line, _ = source.position(offset)
    while True:
        end = starts[line] if line < len(starts) else len(source.text)
        rest = source.text[offset:end].rstrip("\r\n")
        if line >= len(starts) or not rest.endswith("\\") or "#" in rest:
            return end
        line += 1


def _indent(source: Source, statement: ast.stmt) -> str:
    """The white space before a statement; like Python, ignore everything before a form feed."""
    first = _first(source, statement)
    _, column = source.position(first)
    before = source.text[first - column + 1 : first]
    return before.rpartition("\f")[2] if not before.strip(_BLANK) else ""


def _default_indent(module: Module) -> str:
    """The first indentation in the file."""
    for statement in module.tree.body:
        for block in _blocks(statement):
            if block and (indent := _indent(module.source, block[0])):
                return indent
    return "    "


def _opening(source: Source, around: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The statements whose blocks have to be opened; `ast` puts an `elif` into the `if` before it."""
    found: list[ast.stmt] = []
    for each in around:
        if found and len(_indent(source, each)) <= len(_indent(source, found[-1])):
            found.pop()
        found.append(each)
    return found


def _header(statement: ast.stmt) -> str:
    """A line that opens the same kind of block as a statement."""
    if isinstance(statement, ast.ClassDef):
        return f"class {statement.name}:"
    if isinstance(statement, ast.AsyncFunctionDef):
        return f"async def {statement.name}():"
    if isinstance(statement, ast.FunctionDef):
        return f"def {statement.name}():"
    return "if True:"


def _imports(module: Module) -> list[str]:
    """The imports at the top of a file, one per line."""
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
# The visited code.
# ---------------------------------------------------------------------------------------------------------------------


class VisitedPiece(Piece):
    """A handler or a whole file as a libcst rule sees it."""

    def __init__(
        self,
        module: Module,
        where: Cut | None = None,
        *,
        handler: Handler | None = None,
        tool: ToolDef | None = None,
        imports: bool = False,
    ) -> None:
        """Parse a handler's lines, or the whole file if `where` is None; `imports` puts the file's imports before."""
        self.module = module
        self.handler = handler
        self.tool = tool
        source = module.source
        lead = _imports(module) if imports and where is not None else []
        where = where or Cut(0, len(source.text), ())
        around = _opening(source, where.around)
        if around:
            # libcst takes the indentation of new blocks from the first block of a text: use the file's own.
            lead += ["if True:", f"{_default_indent(module)}pass"]
        own = len(lead) - (1 if around else 0)
        lead += [f"{_indent(source, each)}{_header(each)}" for each in around]
        super().__init__(source, where.start, where.end, before="".join(f"{line}{source.newline}" for line in lead))
        self.roots: Sequence[libcst.CSTNode] = self.tree.body[own:] if lead else self.tree.body
        for _ in around:
            block: Any = self.roots[0]
            self.roots = block.body.body
        self._nodes: dict[tuple[int, int], tuple[ast.expr, Scope]] | None = None

    def _cache(self) -> Mapping[Any, object]:
        from pathlib import Path

        from libcst.helpers import ModuleNameAndPackage
        from libcst.metadata import FilePathProvider, FullyQualifiedNameProvider

        name = self.module.name
        package = name if self.module.is_package else name.rpartition(".")[0]
        return {
            FilePathProvider: Path(self.module.absolute),
            FullyQualifiedNameProvider: ModuleNameAndPackage(name, package),
        }

    def metadata(self, provider: type[BaseMetadataProvider[Any]]) -> Mapping[libcst.CSTNode, Any]:
        """The metadata of a provider by node.

        Raises:
            RuntimeError: If the provider needs more than the file.
            Unreadable: If the code is nested too deeply for libcst.
        """
        for needed in {provider, *_dependencies(provider)} - self._cache().keys():
            if needed.gen_cache is not None:
                raise RuntimeError(f"{needed.__name__} needs more than one file: a lint rule cannot use it")
        return super().metadata(provider)

    def ast_node(self, node: libcst.CSTNode) -> tuple[ast.expr, Scope] | None:
        """The `ast` node of the same expression, with its scope."""
        if self._nodes is None:
            self._nodes = self._expressions()
        start, end = self.bounds(node)
        match = self._nodes.get((start + self.shift, end + self.shift))
        if match is None and getattr(node, "lpar", None):
            # `ast` counts the parentheses of a tuple or a generator as part of it; libcst does not.
            opening, closing = self.bounds(node, whole=True)
            match = self._nodes.get((opening + self.shift, closing + self.shift))
        return match

    def _expressions(self) -> dict[tuple[int, int], tuple[ast.expr, Scope]]:
        from mcpcore_lint.syntax.parse import children

        module = self.module
        source = module.source
        expressions: dict[tuple[int, int], tuple[ast.expr, Scope]] = {}
        stack: list[tuple[ast.AST, Scope]] = [(module.tree, module.scope)]
        while stack:
            node, scope = stack.pop()
            if isinstance(node, ast.stmt) and (_last(source, node) <= self.start or _first(source, node) >= self.end):
                continue
            if isinstance(node, ast.expr):
                expressions.setdefault(source.node_range(node), (node, scope))
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
        return expressions


def _dependencies(provider: type[BaseMetadataProvider[Any]]) -> set[type[BaseMetadataProvider[Any]]]:
    providers: set[type[BaseMetadataProvider[Any]]] = set()
    for needed in provider.METADATA_DEPENDENCIES:
        providers |= {needed, *_dependencies(needed)}
    return providers
