"""Carries out the changes of fixes: the smallest statement around each is parsed, transformed and spliced back."""

from __future__ import annotations

import re
import sys
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from mcpcore_lint.codemods import LibcstMissingError
from mcpcore_lint.diagnostics import Change, Diagnostic, Edit, Fix, grouped

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Iterator

    import libcst

    from mcpcore_lint.codemods.piece import Piece
    from mcpcore_lint.codemods.statements import Statements, Stretch
    from mcpcore_lint.engine.syntax.source import Source


class Rewriter:
    """Turns the fixes of one file into edits of its text."""

    def __init__(self, path: str, text: str, tree: ast.Module | None = None) -> None:
        """Take the file, and its syntax if it is known."""
        from mcpcore_lint.engine.syntax.source import Source

        self.source = Source(path, text)
        self._tree = tree
        self._pieces: dict[tuple[Stretch, ...], Piece] = {}

    @cached_property
    def _statements(self) -> Statements:
        from mcpcore_lint.codemods.statements import Statements
        from mcpcore_lint.engine.syntax.source import parse

        return Statements(self.source, self._tree or parse(self.source))

    def edits(self, fix: Fix) -> tuple[Edit, ...]:
        """The edits of a fix in the order of the file; empty if it changes nothing or cannot be made.

        Raises:
            LibcstMissingError: If the fix needs libcst, and it is not installed.
        """
        edits = [edit for edit in fix.edits if isinstance(edit, Edit)]
        changes = [edit for edit in fix.edits if isinstance(edit, Change)]
        if not changes:
            return tuple(edits)
        from mcpcore_lint.codemods.statements import Unreadable
        from mcpcore_lint.engine.syntax.source import SourceError

        try:
            import libcst
        except ModuleNotFoundError as error:
            raise LibcstMissingError("the text of a fix") from error

        try:
            edits += self._transformed(changes)
        except (
            Unreadable,
            SourceError,
            ValueError,
            RecursionError,
            libcst.ParserSyntaxError,
            libcst.CSTValidationError,
        ):
            return ()
        return tuple(sorted(edits))

    def _transformed(self, changes: list[Change]) -> Iterator[Edit]:
        from mcpcore_lint.codemods.piece import Piece
        from mcpcore_lint.codemods.statements import stretch_around

        groups: list[list[Change]] = []
        for change in sorted(changes, key=lambda change: (change.start, -change.end)):
            # A change inside another one is made first, and both make one edit.
            if groups and change.start < groups[-1][0].end:
                groups[-1].append(change)
            else:
                groups.append([change])
        around = {stretch_around(self.source, self._statements, group[0].start, group[0].end) for group in groups}
        stretches: list[Stretch] = []
        for stretch in sorted(around, key=lambda stretch: (stretch.start, -stretch.end)):
            if not stretches or stretch.start >= stretches[-1].end:  # it is not inside the one before
                stretches.append(stretch)
        # One piece for many changes takes much less time than one for each.
        key = tuple(stretches)
        piece = self._pieces[key] = self._pieces.get(key) or Piece(self.source, stretches)
        for group in groups:
            edit = _apply(piece, group)
            if edit is not None:
                yield edit


def _apply(piece: Piece, changes: list[Change]) -> Edit | None:
    from mcpcore_lint.codemods.transformations import BY_NAME

    wanted = grouped(changes, lambda change: piece.find(change.start, change.end, BY_NAME[change.transformation][1]))

    def transform(old: libcst.CSTNode, new: Any) -> Any:
        for change in wanted.get(old, ()):
            new = BY_NAME[change.transformation][0](new, *change.arguments)
        return new

    return piece.edit(wanted, transform)


class Rewriters:
    """The edits of findings in many files, for the reports that show them.

    Attributes:
        missing: The error of the last fix that could not be made because libcst is missing; None if there was none.
    """

    def __init__(self, text_of: Callable[[str], str | None]) -> None:
        self._rewriter = cache(lambda path: None if (text := text_of(path)) is None else Rewriter(path, text))
        self._may_be_unreadable = cache(_may_be_unreadable)
        self.missing: LibcstMissingError | None = None

    def source(self, path: str) -> Source | None:
        """The source of a file; None if it can no longer be read."""
        rewriter = self._rewriter(path)
        return rewriter.source if rewriter is not None else None

    def edits(self, diagnostic: Diagnostic) -> tuple[Edit, ...]:
        """The edits of a finding's fix; empty if it has none, libcst is missing, or its file can no longer be read."""
        rewriter = self._rewriter(diagnostic.path) if diagnostic.fix is not None else None
        try:
            return rewriter.edits(diagnostic.fix) if rewriter is not None and diagnostic.fix is not None else ()
        except LibcstMissingError as error:
            self.missing = error
            return ()

    def possible(self, diagnostic: Diagnostic, file: str) -> Diagnostic:
        """A finding in a file, without its fix if libcst is installed and cannot make it.

        Loading libcst takes longer than most runs. If no fix was made, only fixes in files with continued lines or form
        feeds are tried, some of which libcst cannot read.
        """
        doubtful = diagnostic.fix is not None and ("libcst" in sys.modules or self._may_be_unreadable(file))
        impossible = doubtful and not self.edits(diagnostic) and self.missing is None
        return diagnostic._replace(fix=None) if impossible else diagnostic


def _may_be_unreadable(file: str) -> bool:
    try:
        with open(file, "rb") as opened:
            return re.search(rb"\\\r?\n|\f", opened.read()) is not None
    except OSError:
        return False
