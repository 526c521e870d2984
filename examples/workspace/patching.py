"""Changes to a text: exact replacements and unified diffs, each applied as a whole or not at all."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

Problem = Literal["malformed", "not_found", "ambiguous"]

_HUNK: Final = re.compile(r"@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@")


class PatchError(Exception):
    """A change that cannot be applied.

    Attributes:
        problem: "malformed" if the change cannot be read, "not_found" if the text lacks the expected lines, "ambiguous"
            if the text has them several times.
        index: Which edit or hunk, from 1.
        line: The line of the text where it was expected, from 1; None where it has no place.
        expected: The first line that was expected and is not there.
        found: The line that is there instead.
    """

    def __init__(
        self,
        problem: Problem,
        message: str,
        *,
        index: int = 1,
        line: int | None = None,
        expected: str | None = None,
        found: str | None = None,
    ) -> None:
        """Tell what does not fit, and where."""
        super().__init__(message)
        self.problem = problem
        self.index = index
        self.line = line
        self.expected = expected
        self.found = found


def apply_edits(text: str, edits: Sequence[tuple[str, str, bool]]) -> str:
    """`text` with each `(old, new, everywhere)` replaced, one after the other.

    Raises:
        PatchError: If an old text is not there, or there more than once and not meant everywhere.
    """
    for index, (old, new, everywhere) in enumerate(edits, 1):
        if not old:
            raise PatchError("malformed", f"Edit {index} replaces nothing: its old text is empty.", index=index)
        count = text.count(old)
        if not count:
            line = _first_line(old)
            raise PatchError(
                "not_found",
                f"Edit {index} does not apply: the file does not have its old text.",
                index=index,
                line=_line_of(text, line),
                expected=line,
                found=_nearest(text, line),
            )
        if count > 1 and not everywhere:
            raise PatchError(
                "ambiguous",
                f"Edit {index} does not apply: the file has its old text {count} times.",
                index=index,
                line=text[: text.index(old)].count("\n") + 1,
                expected=_first_line(old),
            )
        text = text.replace(old, new)
    return text


@dataclass(slots=True)
class _Hunk:
    start: int
    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    old_ends_open: bool = False
    new_ends_open: bool = False


def apply_diff(text: str, diff: str) -> str:
    """`text` with a unified diff of one file applied.

    Its line numbers are a hint: a hunk goes to the nearest place that has its lines. Its counts are not read, since
    those who write diffs by hand get them wrong. Line ends are those of the text.

    Raises:
        PatchError: If the diff cannot be read, or the lines of a hunk are missing.
    """
    hunks = _hunks(diff)
    end = "\r\n" if "\r\n" in text and text.count("\r\n") == text.count("\n") else "\n"
    lines = text.split(end)
    ends_open = lines[-1] != ""
    if not ends_open:
        lines.pop()
    done: list[str] = []
    at = 0
    for index, hunk in enumerate(hunks, 1):
        position = _position(lines, hunk, at, index)
        done += lines[at:position]
        done += hunk.new
        at = position + len(hunk.old)
        if at == len(lines) and hunk.new_ends_open != hunk.old_ends_open:
            ends_open = hunk.new_ends_open
    done += lines[at:]
    return end.join(done) + ("" if ends_open or not done else end)


def _hunks(diff: str) -> list[_Hunk]:
    hunks: list[_Hunk] = []
    files = 0
    last = ""
    lines = diff.replace("\r\n", "\n").split("\n")
    if lines and not lines[-1]:
        lines.pop()
    for number, line in enumerate(lines, 1):
        header = _HUNK.match(line)
        if header:
            hunks.append(_Hunk(int(header[1])))
        elif _is_header(lines[number - 1 : number + 2]):
            files += 1
        elif not hunks or _is_header(lines[number - 2 : number + 1]):
            continue  # what git and mail write above a diff
        elif line.startswith("\\"):
            hunks[-1].old_ends_open |= last in " -"
            hunks[-1].new_ends_open |= last in " +"
        elif line[:1] in ("", " ", "-", "+"):
            last = line[:1] or " "
            if last in " -":
                hunks[-1].old.append(line[1:])
            if last in " +":
                hunks[-1].new.append(line[1:])
        elif line.startswith(("diff ", "index ")):
            files += 1
        else:
            raise PatchError(
                "malformed",
                f"Line {number} of the diff begins with none of ' ', '-', '+', '@@'.",
                index=max(len(hunks), 1),
                found=line[:200],
            )
    if files > 1:
        raise PatchError("malformed", "The diff changes several files; send one call for each.")
    if not hunks:
        raise PatchError("malformed", "The diff has no hunk; a hunk begins with '@@ -1,3 +1,4 @@'.")
    return hunks


def _is_header(lines: Sequence[str]) -> bool:
    """Whether three lines begin the diff of a file; the last tells them from a line removed and a line added."""
    return len(lines) == 3 and all(map(str.startswith, lines, ("--- ", "+++ ", "@@ ")))


def _position(lines: Sequence[str], hunk: _Hunk, earliest: int, index: int) -> int:
    """Where the hunk's old lines stand: nearest to where it says, not before the hunk above it."""
    size = len(hunk.old)
    meant = max(hunk.start - 1 if size else hunk.start, earliest)
    if not size:
        return min(meant, len(lines))
    fits = [at for at in range(earliest, len(lines) - size + 1) if lines[at : at + size] == hunk.old]
    if fits:
        best = min(abs(at - meant) for at in fits)
        nearest = [at for at in fits if abs(at - meant) == best]
        if len(nearest) == 1:
            return nearest[0]
        raise PatchError(
            "ambiguous",
            f"Hunk {index} does not apply: its lines stand as near above line {hunk.start} as below.",
            index=index,
            line=hunk.start,
            expected=hunk.old[0],
        )
    at = min(meant, len(lines))
    for offset, expected in enumerate(hunk.old):
        found = lines[at + offset] if at + offset < len(lines) else None
        if found != expected:
            raise PatchError(
                "not_found",
                f"Hunk {index} does not apply: the file does not have its lines.",
                index=index,
                line=at + offset + 1,
                expected=expected,
                found=found,
            )
    raise AssertionError("the lines fit where they were meant to be")  # pragma: no cover - `fits` would have had it


def _first_line(text: str) -> str:
    return next((line for line in text.splitlines() if line.strip()), text[:200])


def _line_of(text: str, line: str) -> int | None:
    at = text.find(line.strip()) if line.strip() else -1
    return None if at < 0 else text[:at].count("\n") + 1


def _nearest(text: str, line: str) -> str | None:
    """The line of `text` that has the words of `line`, spaces aside."""
    wanted = line.split()
    return next((found for found in text.splitlines() if found.split() == wanted), None) if wanted else None
