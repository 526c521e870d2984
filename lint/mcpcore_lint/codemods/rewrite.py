"""Carries out the changes of fixes: the smallest statement around each is parsed, transformed and spliced back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpcore_lint.diagnostics import Change, Edit

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Iterable, Iterator

    import libcst

    from mcpcore_lint.codemods.piece import Piece
    from mcpcore_lint.diagnostics import Diagnostic, Fix
    from mcpcore_lint.syntax.source import Source


class Rewriter:
    """Turns the fixes of one file into edits of its text."""

    def __init__(self, path: str, text: str) -> None:
        from mcpcore_lint.syntax.source import Source

        self.source = Source(path, text)
        self._tree: ast.Module | None = None

    def edits(self, fix: Fix) -> tuple[Edit, ...]:
        """The edits of a fix in the order of the file; empty if it changes nothing or cannot be made."""
        edits = [each for each in fix.edits if isinstance(each, Edit)]
        changes = [each for each in fix.edits if isinstance(each, Change)]
        if not changes:
            return tuple(edits)
        import libcst

        from mcpcore_lint.codemods.piece import Unreadable
        from mcpcore_lint.syntax.source import SourceError

        try:
            edits += self._transformed(changes)
        except (Unreadable, SourceError, ValueError, libcst.ParserSyntaxError, libcst.CSTValidationError):
            return ()
        return tuple(sorted(edits))

    def _transformed(self, changes: Iterable[Change]) -> Iterator[Edit]:
        from mcpcore_lint.codemods.imports import place_imports
        from mcpcore_lint.syntax.source import parse

        if self._tree is None:
            self._tree = parse(self.source)
        imports: list[tuple[str, ...]] = []
        by_piece: dict[tuple[int, int], tuple[Piece, list[Change]]] = {}

        def add(change: Change) -> None:
            piece = self._piece(change)
            by_piece.setdefault((piece.start, piece.end), (piece, []))[1].append(change)

        for change in changes:
            if change.transformation == "import_name":
                imports.append(tuple(str(each) for each in change.arguments))
            else:
                add(change)
        for step in place_imports(self.source, self._tree, imports):
            if isinstance(step, Edit):
                yield step
            else:
                add(step)
        for piece, mine in by_piece.values():
            yield from _apply(piece, mine)

    def _piece(self, change: Change) -> Piece:
        from mcpcore_lint.codemods.statements import statement_at

        assert self._tree is not None
        if change.transformation.endswith("_comment"):
            return _comment_line(self.source, change)
        return statement_at(self.source, self._tree, change.start, change.end)


def _comment_line(source: Source, change: Change) -> Piece:
    """The line of a comment; if it shares its line, the comment alone, behind a `pass`."""
    from mcpcore_lint.codemods.piece import Piece

    line = source.position(change.start)[0]
    start = source.line_starts[line - 1]
    end = source.line_starts[line] if line < len(source.line_starts) else len(source.text)
    before = source.text[start : change.start]
    if before.strip() or source.text[change.end : end].strip():
        return Piece(source, start + len(before.rstrip(" \t\f")), change.end, before="pass", after=source.newline)
    return Piece(source, start, end)


def _apply(piece: Piece, changes: Iterable[Change]) -> Iterator[Edit]:
    import libcst

    from mcpcore_lint.codemods.splice import replace
    from mcpcore_lint.codemods.transformations import BY_NAME

    wanted: dict[libcst.CSTNode, list[Change]] = {}
    for change in changes:
        wanted.setdefault(_node(piece, change, BY_NAME[change.transformation].kinds), []).append(change)
    outermost: list[libcst.CSTNode] = []

    class Applying(libcst.CSTTransformer):
        """Transforms the nodes, inner ones first."""

        def on_leave(self, original_node: libcst.CSTNode, updated_node: libcst.CSTNode) -> libcst.CSTNode:  # type: ignore[override]
            for change in wanted.get(original_node, ()):
                updated_node = BY_NAME[change.transformation].function(updated_node, *change.arguments)
            return updated_node

    class Outermost(libcst.CSTVisitor):
        """Finds the nodes that are not part of another one."""

        def on_visit(self, node: libcst.CSTNode) -> bool:
            if node in wanted:
                outermost.append(node)
            return node not in wanted

    piece.tree.visit(Outermost())
    for node in outermost:
        edit = replace(piece, node, node.visit(Applying()))
        if edit is not None:
            yield edit


def _node(piece: Piece, change: Change, kinds: tuple[type[libcst.CSTNode], ...]) -> libcst.CSTNode:
    """The node of libcst that a change is about."""
    import libcst

    nodes: list[libcst.CSTNode] = []

    class Collecting(libcst.CSTVisitor):
        """Collects the nodes of some kinds."""

        def on_visit(self, node: libcst.CSTNode) -> bool:
            if isinstance(node, kinds) and getattr(node, "comment", node) is not None:
                nodes.append(node)
            return True

    piece.tree.visit(Collecting())
    if not issubclass(kinds[0], libcst.BaseExpression):
        if not nodes:
            raise ValueError(f"no {kinds[0].__name__} in the statement")
        return nodes[0]
    bounds = (change.start - piece.shift, change.end - piece.shift)
    for whole in (False, True):
        # `ast` counts the parentheses of a tuple or a generator as part of it; libcst does not.
        for node in nodes:
            if piece.bounds(node, whole=whole) == bounds:
                return node
    raise ValueError(f"no {kinds[0].__name__} from {change.start} to {change.end}")


class Rewriters:
    """The edits of findings in many files, for the reports that show them."""

    def __init__(self, text_of: Callable[[str], str | None]) -> None:
        self._text_of = text_of
        self._by_path: dict[str, Rewriter | None] = {}

    def _rewriter(self, path: str) -> Rewriter | None:
        if path not in self._by_path:
            text = self._text_of(path)
            self._by_path[path] = None if text is None else Rewriter(path, text)
        return self._by_path[path]

    def source(self, path: str) -> Source | None:
        """The source of a file; None if it can no longer be read."""
        rewriter = self._rewriter(path)
        return rewriter.source if rewriter is not None else None

    def edits(self, diagnostic: Diagnostic) -> tuple[Edit, ...]:
        """The edits of a finding's fix; empty if it has none, or its file can no longer be read."""
        rewriter = self._rewriter(diagnostic.path) if diagnostic.fix is not None else None
        return rewriter.edits(diagnostic.fix) if rewriter is not None and diagnostic.fix is not None else ()
