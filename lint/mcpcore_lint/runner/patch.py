"""The difference between two texts as a patch, in a time that grows with the texts.

What `difflib` takes grows with the square of a long text in which lines repeat, as `try:` does. So lines that stand
once in both texts divide them first (a patience diff), and only what lies between is left to it.
"""

from __future__ import annotations

import difflib
import re
from bisect import bisect_left
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Opcode: TypeAlias = tuple[str, int, int, int, int]
"""As `difflib` has them: what is done, and which lines of both texts it is done to."""

_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+\Z")
"""A line as those see it who apply patches: a carriage return alone ends none."""
_CONTEXT: Final = 3
_BYTES: Final = {
    **{byte: f"\\{byte:03o}" for byte in (*range(0x20), *range(0x7F, 0x100))},
    **{ord(char): f"\\{letter}" for char, letter in zip('\a\b\t\n\v\f\r"\\', 'abtnvfr"\\', strict=True)},
}
"""The bytes of a file's name that are escaped in a patch, as C escapes them in a string."""


def quoted(name: str) -> str:
    """The name of a file as git writes it in a patch: in quotes, its bytes escaped, where it has odd characters."""
    if name.isprintable() and '"' not in name and "\\" not in name:
        return name
    raw = name.encode("utf-8", "surrogateescape")
    return '"' + "".join(_BYTES.get(byte) or chr(byte) for byte in raw) + '"'


def unified(before: str, after: str, old: str, new: str) -> str:
    """A unified diff; `old` and `new` are the names of the files."""
    left, right = _LINE.findall(before), _LINE.findall(after)
    found: list[str] = []
    for group in _Known(left, right).get_grouped_opcodes(_CONTEXT):
        if not found:
            found += [f"--- {old}\n", f"+++ {new}\n"]
        first, last = group[0], group[-1]
        found.append(f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@\n")
        for tag, start, end, begin, stop in group:
            if tag == "equal":
                found += (f" {line}" for line in left[start:end])
            else:
                found += (f"-{line}" for line in left[start:end])
                found += (f"+{line}" for line in right[begin:stop])
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in found)


class _Known(difflib.SequenceMatcher[str]):
    """Puts together what belongs to one hunk."""

    def __init__(self, left: Sequence[str], right: Sequence[str]) -> None:
        super().__init__(None, (), ())
        self._known = list(_opcodes(left, right))

    def get_opcodes(self) -> list[Any]:
        """What was found out otherwise."""
        return self._known


def _range(start: int, end: int) -> str:
    length = end - start
    # Lines count from 1; where there are none, the line before is named.
    return str(start + 1) if length == 1 else f"{start + 1 if length else start},{length}"


def _opcodes(left: Sequence[str], right: Sequence[str]) -> Iterator[Opcode]:
    """What makes the one text of the other; neighbours of a kind are put together."""
    pending: Opcode | None = None
    for each in _pieces(left, right):
        if pending is None:
            pending = each
        elif (pending[0] == "equal") == (each[0] == "equal"):
            pending = (pending[0] if pending[0] == each[0] else "replace", pending[1], each[2], pending[3], each[4])
        else:
            yield pending
            pending = each
    if pending is not None:
        yield pending


def _pieces(left: Sequence[str], right: Sequence[str]) -> Iterator[Opcode]:
    start = begin = 0
    for place, other in (*_anchors(left, right), (len(left), len(right))):
        matcher = difflib.SequenceMatcher(None, left[start:place], right[begin:other], autojunk=False)
        for tag, first, last, one, two in matcher.get_opcodes():
            yield (tag, start + first, start + last, begin + one, begin + two)
        if place < len(left):
            yield ("equal", place, place + 1, other, other + 1)
        start, begin = place + 1, other + 1


def _anchors(left: Sequence[str], right: Sequence[str]) -> list[tuple[int, int]]:
    """The places of lines that stand once in both texts, as many as have the same order in both."""
    there = _once(right)
    pairs = [(place, there[line]) for line, place in _once(left).items() if line in there]
    # The longest run that rises: each pair is put on the first pile whose top is not before it.
    tops: list[int] = []
    piles: list[int] = []
    below: list[int] = []
    for number, (_, other) in enumerate(pairs):
        pile = bisect_left(tops, other)
        below.append(piles[pile - 1] if pile else -1)
        if pile == len(tops):
            tops.append(other)
            piles.append(number)
        else:
            tops[pile] = other
            piles[pile] = number
    found: list[tuple[int, int]] = []
    number = piles[-1] if piles else -1
    while number >= 0:
        found.append(pairs[number])
        number = below[number]
    return found[::-1]


def _once(lines: Sequence[str]) -> dict[str, int]:
    """The lines that stand once, each with its place, in order."""
    places: dict[str, int] = {}
    again: set[str] = set()
    for place, line in enumerate(lines):
        if line in places:
            again.add(line)
        else:
            places[line] = place
    return {line: place for line, place in places.items() if line not in again}
