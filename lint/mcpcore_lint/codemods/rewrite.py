"""Carries out the changes of fixes: the smallest statement around each is parsed, transformed and spliced back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
        self._pieces: dict[tuple[int, int], Piece] = {}

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
        from mcpcore_lint.codemods.piece import piece_around
        from mcpcore_lint.syntax.source import parse

        if self._tree is None:
            self._tree = parse(self.source)
        groups: list[list[Change]] = []
        for change in sorted(changes, key=lambda change: (change.start, -change.end)):
            # A change inside another one is made first, and both make one edit.
            if groups and change.start < groups[-1][0].end:
                groups[-1].append(change)
            else:
                groups.append([change])
        for group in groups:
            piece = piece_around(self.source, self._tree, group[0].start, group[0].end)
            edit = _apply(self._pieces.setdefault((piece.start, piece.end), piece), group)
            if edit is not None:
                yield edit


def _apply(piece: Piece, changes: Iterable[Change]) -> Edit | None:
    from mcpcore_lint.codemods.transformations import BY_NAME

    wanted: dict[libcst.CSTNode, list[Change]] = {}
    for change in changes:
        node = piece.find(change.start, change.end, BY_NAME[change.transformation].kinds)
        wanted.setdefault(node, []).append(change)

    def transform(old: libcst.CSTNode, new: Any) -> Any:
        for change in wanted.get(old, ()):
            new = BY_NAME[change.transformation].function(new, *change.arguments)
        return new

    return piece.edit(transform, wanted)


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
