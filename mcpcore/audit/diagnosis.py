"""Finds out what was changed in a trail: each problem with its record.

The work grows linearly with the number of lines, even if every line was changed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from bisect import bisect_left, bisect_right
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from mcpcore.audit.chain import GENESIS, MAX_LINE, Head, Link, Signer, event_of
from mcpcore.audit.lines import Row, Source, rows
from mcpcore.audit.report import MAX_PROBLEMS, Kind, Problem, Report

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class _Finding(NamedTuple):
    """A problem without the id of its failure: its line is read for that only if the problem is listed."""

    row: Row
    kind: Kind
    detail: str
    seq: int | None
    is_about_row: bool = True


class Diagnosis:
    """Examines a trail that failed the first check."""

    def __init__(self, signer: Signer, sources: list[Source], report: Report, head: Head | None) -> None:
        """Prepare to examine the lines of `sources` and to add the problems to `report`."""
        self.signer = signer
        self.sources = sources
        self.report = report
        self.head = head
        self.rows: list[Row] = []
        self.events: dict[int, dict[str, object]] = {}
        self.findings: list[_Finding] = []

    def run(self) -> int:
        """Add every problem to the report in order; returns the number of the last changed record, or 0."""
        for row, line in rows(self.signer, self.sources):
            self.rows.append(row)
            if row.link is not None and row.link.sound and (event := event_of(line)) is not None:
                self.events[row.at] = event
        sound = [row for row in self.rows if row.link is not None and row.link.sound]
        broken = [row for row in self.rows if row.link is None or not row.link.sound]
        broken = [row for row in broken if not self._accounted(row)]
        kept = _longest_run(sound)
        self._strays(sound, kept)
        self._gaps(kept, sound, broken)
        self._joints(kept)
        self.findings.sort(key=lambda finding: finding.row.at)
        room = MAX_PROBLEMS - len(self.report.problems)
        for finding in self.findings[:room]:
            self.report.add(self._problem(finding))
        self.report.unlisted += len(self.findings[room:])
        return max((finding.seq or 0 for finding in self.findings if finding.kind == "changed"), default=0)

    def _accounted(self, row: Row) -> bool:
        """Whether a line that is not a record was left by a dying writer."""
        follower = self.events.get(row.at + 1)
        if follower is not None and follower.get("event") == "sealed":
            torn = self._bytes(row).removesuffix(b"\n")
            if (follower.get("bytes"), follower.get("sha256")) == (len(torn), hashlib.sha256(torn).hexdigest()):
                return True
        last = row.at == len(self.rows) - 1 and row.source == len(self.sources) - 1
        # A writer leaves the beginning of a record; anything else is not of a trail.
        begun = last and self._bytes(row).startswith(b'{"'[: row.length]) and not self._bytes(row).endswith(b"\n")
        if begun and (self.head is None or self.head.writing):
            self.report.notes.append(
                f"{self.sources[row.source].name}:{row.line}: an unfinished line of {row.length} bytes at the end: a "
                "writer died in the middle of it; the next one seals it off"
            )
            return True
        return False

    def _strays(self, sound: list[Row], kept: list[Row]) -> None:
        """Find the sound records in a wrong place."""
        place = {_seq(row): row for row in kept}
        inside = {row.at for row in kept}
        for row in sound:
            if row.at in inside:
                continue
            link = _link(row)
            twin = place.get(link.seq)
            if twin is None:
                self._find(row, "reordered", "it was moved here from its place in the chain")
            elif _link(twin).hash == link.hash:
                self._find(row, "duplicated", f"it is also at {self._place(twin)}")
            else:
                self._find(row, "forged", f"another record of this number is at {self._place(twin)}")

    def _gaps(self, kept: list[Row], sound: list[Row], broken: list[Row]) -> None:
        """Find the missing numbers; each is explained by a broken line in its place, or by a removal."""
        strays = sorted({_seq(row) for row in sound} - {_seq(row) for row in kept})
        pruned = {(e.get("last"), e.get("last_hash")) for e in self.events.values() if e["event"] == "pruned"}
        edges: list[Row | None] = [None, *kept, None]
        index = 0
        for before, after in pairwise(edges):
            low = _seq(before) if before is not None else 0
            if before is None and after is not None and (_seq(after) - 1, _link(after).prev) in pruned:
                low = _seq(after) - 1
            start = index
            while index < len(broken) and (after is None or broken[index].at < after.at):
                index += 1
            here = broken[start:index]
            if after is not None:
                high = _seq(after)
            elif self.head is not None:
                high = self.head.seq + 1 + self.head.writing
            else:
                # The end is unknown, so each broken line counts as one record.
                high = low + 1 + len(here)
            # Each stray is in one gap, so all gaps together examine each of them once.
            elsewhere = strays[bisect_right(strays, low) : bisect_left(strays, high)]
            known = self._assign(here, low, high, elsewhere)
            if after is not None:
                self._removed(_intervals(low, high, known), before, after)

    def _assign(self, broken: list[Row], low: int, high: int, elsewhere: list[int]) -> set[int]:
        """Match broken lines with the numbers between `low` and `high`; returns all numbers that are explained."""
        known = set(elsewhere)
        claims = {row.link.seq for row in broken if row.link is not None and low < row.link.seq < high} - known
        reserved = known | claims
        free = (number for number in range(low + 1, high) if number not in reserved)
        for row in broken:
            seq: int | None
            if row.link is not None and row.link.seq in claims:
                seq = row.link.seq
                claims.discard(seq)
            else:
                seq = next(free, None)
            if seq is None:
                self._find(row, "inserted", "it is not a record of this chain")
                continue
            known.add(seq)
            kind, detail = _broken(row)
            self._find(row, kind, detail, seq=seq)
        return known

    def _removed(self, ranges: Iterable[tuple[int, int]], before: Row | None, after: Row) -> None:
        for first, last in ranges:
            what = f"record {first} is missing" if first == last else f"records {first} to {last} are missing"
            if before is None:
                where = "from the beginning"
            elif after.source != before.source:
                names = (
                    f"{Path(self.sources[before.source].name).name} and {Path(self.sources[after.source].name).name}"
                )
                where = f"between {names}: a whole file, perhaps"
            else:
                where = f"after line {before.line}"
            self.findings.append(_Finding(before or after, "removed", f"{what} {where}", first, is_about_row=False))

    def _joints(self, kept: list[Row]) -> None:
        """Find records with consecutive numbers of which the second does not name the first."""
        signed = False
        if kept and _seq(kept[0]) == 1 and _link(kept[0]).prev != GENESIS:
            self._find(kept[0], "forged", "the first record names one before it")
        for before, after in pairwise(kept):
            if _seq(after) == _seq(before) + 1 and _link(after).prev != _link(before).hash:
                detail = f"record {_seq(after)} names another record before it: this one was put in its place"
                self._find(before, "forged", detail)
        if self.signer.keyed:
            for row in kept:
                signed = signed or _link(row).keyed
                if signed and not _link(row).keyed:
                    self._find(row, "forged", "it is not signed, and those before it are")

    def _find(self, row: Row, kind: Kind, detail: str, *, seq: int | None = None) -> None:
        number = seq if seq is not None else row.link.seq if row.link is not None and row.link.sound else None
        self.findings.append(_Finding(row, kind, detail, number))

    def _problem(self, finding: _Finding) -> Problem:
        row = finding.row
        name = self.sources[row.source].name
        ident: str | None = None
        if finding.is_about_row:
            with contextlib.suppress(ValueError, RecursionError):
                value = json.loads(self._bytes(row))
                if isinstance(value, dict) and isinstance(value.get("correlationId"), str):
                    ident = value["correlationId"][:64]
        return Problem(finding.kind, finding.detail, name, row.line, finding.seq, ident)

    def _place(self, row: Row) -> str:
        return f"{Path(self.sources[row.source].name).name}:{row.line}"

    def _bytes(self, row: Row) -> bytes:
        with self.sources[row.source].reading(row.offset) as file:
            return file.read(min(row.length, MAX_LINE))


def _broken(row: Row) -> tuple[Kind, str]:
    if row.link is None:
        return "changed", "the line can no longer be read as a record"
    if row.link.sound is None:
        return "forged", f"it is signed as {row.link.alg}, not with the key given"
    return "changed", "its content does not match its hash"


def _link(row: Row) -> Link:
    assert row.link is not None
    return row.link


def _seq(row: Row) -> int:
    return _link(row).seq


def _longest_run(rows: list[Row]) -> list[Row]:
    """The longest run of rows with rising numbers; of two with the same number, the one that a neighbour names."""
    named = {_link(row).prev for row in rows}
    ends: list[int] = []
    at: list[int] = []
    back: list[int] = [-1] * len(rows)
    for index, row in enumerate(rows):
        seq = _seq(row)
        slot = bisect_left(ends, seq)
        back[index] = at[slot - 1] if slot else -1
        if slot == len(ends):
            ends.append(seq)
            at.append(index)
        elif ends[slot] > seq or (_link(row).hash in named and _link(rows[at[slot]]).hash not in named):
            ends[slot] = seq
            at[slot] = index
    kept: list[Row] = []
    index = at[-1] if at else -1
    while index >= 0:
        kept.append(rows[index])
        index = back[index]
    return kept[::-1]


def _intervals(low: int, high: int, known: set[int]) -> Iterator[tuple[int, int]]:
    """The ranges of numbers between `low` and `high`, both left out, that are not known."""
    for before, after in pairwise([low, *sorted(known), high]):
        if after > before + 1:
            yield before + 1, after - 1
