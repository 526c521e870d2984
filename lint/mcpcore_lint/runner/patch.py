"""A file that was fixed: its change as a patch that git and `patch` apply, and where its lines went."""

import difflib
import os
import re
import sys
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from mcpcore_lint.dataclasses import light
from mcpcore_lint.diagnostics import Edit
from mcpcore_lint.engine.syntax.source import Source

_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+\Z")
"""A line as git counts lines: a carriage return or a form feed does not end one."""
_ESCAPED: Final = {
    **{byte: f"\\{byte:03o}" for byte in (*range(0x20), *range(0x7F, 0x100))},
    **{ord(char): f"\\{letter}" for char, letter in zip('\a\b\t\n\v\f\r"\\', 'abtnvfr"\\', strict=True)},
}
"""Bytes of file names that git escapes, with their escapes."""


@light
class FixedFile:
    """A file before and after its fixes."""

    path: str
    """As diagnostics show it."""
    before: str
    after: str
    count: int
    """The number of fixes."""

    def diff(self, shown: str) -> str:
        """The change as a unified diff of a file that is called `shown`."""
        names = (shown, shown) if os.path.isabs(shown) else (f"a/{shown}", f"b/{shown}")
        return unified(self.before, self.after, *map(quoted, names))


def quoted(name: str) -> str:
    """The name of a file as git writes it in a patch: quoted and escaped if it has unusual characters."""
    if name.isprintable() and '"' not in name and "\\" not in name:
        return name
    return '"' + "".join(_ESCAPED.get(byte) or chr(byte) for byte in name.encode("utf-8", "surrogateescape")) + '"'


def unified(before: str, after: str, old: str, new: str) -> str:
    """A unified diff; `old` and `new` are the names of the files."""
    a, b = _LINE.findall(before), _LINE.findall(after)
    lines: list[str] = []
    for group in Matcher(a, b).get_grouped_opcodes():
        (_, a_start, _, b_start, _), (_, _, a_end, _, b_end) = group[0], group[-1]
        lines += [] if lines else [f"--- {old}\n", f"+++ {new}\n"]
        lines.append(f"@@ -{_range(a_start, a_end)} +{_range(b_start, b_end)} @@\n")
        for tag, a_start, a_end, b_start, b_end in group:
            if tag == "equal":
                lines += (f" {line}" for line in a[a_start:a_end])
            else:
                lines += (f"-{line}" for line in a[a_start:a_end])
                lines += (f"+{line}" for line in b[b_start:b_end])
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _range(start: int, end: int) -> str:
    """Some lines, as the head of a hunk names them: no line is behind the one that is named."""
    count = end - start
    return str(end) if count == 1 else f"{start + (count > 0)},{count}"


class Matcher(difflib.SequenceMatcher[str]):
    """Compares files with many small changes in about linear time, for which difflib takes quadratic time.

    A line that both files have equally often stays, the first one as the first one and so on, where their order is the
    same. difflib compares only what is in between. That makes smaller patches too.
    """

    def __init__(self, before: list[str], after: list[str]) -> None:
        super().__init__(None, before, after)
        self._before = before
        self._after = after

    def get_matching_blocks(self) -> list[difflib.Match]:
        """The stretches of lines that stay."""
        a, b = self._before, self._after
        blocks: list[difflib.Match] = []
        a_start = b_start = 0
        for a_end, b_end in [*self._anchors(), (len(a), len(b))]:
            if a_start < a_end and b_start < b_end:
                between = difflib.SequenceMatcher(None, a[a_start:a_end], b[b_start:b_end]).get_matching_blocks()[:-1]
                blocks += (difflib.Match(a_start + line, b_start + other, size) for line, other, size in between)
            # An anchor is one line. Behind the last, this is the empty block with which difflib ends its list too.
            blocks.append(difflib.Match(a_end, b_end, int(a_end < len(a))))
            a_start, b_start = a_end + 1, b_end + 1
        joined = blocks[:1]
        for block in blocks[1:]:
            line, other, size = joined[-1]
            if size and block[:2] == (line + size, other + size):
                joined[-1] = difflib.Match(line, other, size + block.size)
            else:
                joined.append(block)
        return joined

    def _anchors(self) -> list[tuple[int, int]]:
        """The longest chain of lines that both files have equally often, in the order of both."""
        counts, others = Counter(self._before), Counter(self._after)
        places: dict[str, list[int]] = {line: [] for line, count in counts.items() if others[line] == count}
        # Backwards, so that `pop` takes the first place of a line.
        for place in range(len(self._after) - 1, -1, -1):
            if self._after[place] in places:
                places[self._after[place]].append(place)
        pairs = [(place, places[line].pop()) for place, line in enumerate(self._before) if line in places]
        # The longest increasing chain: for each length, the pair with the first line at which one so long can end.
        ends: list[int] = []
        last: list[int] = []
        before: list[int] = []
        for number, (_, place) in enumerate(pairs):
            length = bisect_left(ends, place)
            before.append(last[length - 1] if length else -1)
            ends[length : length + 1] = [place]
            last[length : length + 1] = [number]
        chain: list[tuple[int, int]] = []
        number = last[-1] if last else -1
        while number >= 0:
            chain.append(pairs[number])
            number = before[number]
        return chain[::-1]


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
