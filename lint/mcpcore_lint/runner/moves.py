"""How edits move the lines of a file."""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Iterable, Sequence

from mcpcore_lint.diagnostics import Edit
from mcpcore_lint.engine.syntax.source import Source


class Moves:
    """From lines after some edits to those before them, and back."""

    def __init__(self, source: Source, edits: Iterable[Edit]) -> None:
        self._starts: list[int] = []
        self._hunks: list[tuple[int, int, int]] = []
        """The lines that are new, the line before the edit, and the lines that are gone."""
        self._kept = [(0, 0)]
        """The first line behind each edit, and where it is after the edits."""
        shift = 0
        for edit in edits:
            (first, _), (last, column) = source.position(edit.start), source.position(edit.end)
            new = len(Source("", edit.text).line_starts)
            gone = last - first + 1
            if column == 1 and edit.text.endswith(("\n", "\r")):
                new, gone = new - 1, gone - 1  # the line behind the edit stays as it was
            self._starts.append(first + shift)
            shift += new - gone
            self._kept.append((first + gone, first + gone + shift))
            # An edit may drop the lines that it begins with, such as `try:`, and keep what follows.
            opening = edit.text.partition("\n")[0].strip()
            same = (number for number in range(gone) if opening and source.line(first + number).strip() == opening)
            head = next(same, 0)
            self._hunks.append((new, first + head, gone - head))

    def before(self, line: int) -> int:
        """The line before the edits at which this one was, or that it replaces."""
        place = bisect_right(self._starts, line) - 1
        if place < 0:
            return line
        new, first, gone = self._hunks[place]
        beyond = line - self._starts[place]
        return min(first + beyond, first + max(gone - 1, 0)) if beyond < new else first + gone + beyond - new

    def after(self, line: int) -> int:
        """The line after the edits at which this one is, or one of those that replace it."""
        place = bisect_right(self._kept, (line, sys.maxsize)) - 1
        behind, now = self._kept[place]
        most = self._kept[place + 1][1] - 1 if place + 1 < len(self._kept) else sys.maxsize
        return max(min(line - behind + now, most), 1)


def disjoint(edits: Sequence[Edit]) -> list[Edit]:
    """The edits of a pass without those that overlap an earlier one; these come in the next pass."""
    chosen: list[Edit] = []
    for edit in sorted(set(edits)):
        if not chosen or edit.start >= chosen[-1].end:  # pragma: no branch - a guard, like `_touch`
            chosen.append(edit)
    return chosen
