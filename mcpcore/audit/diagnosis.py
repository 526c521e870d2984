"""Finds out what was changed in a trail, and the report about it: each problem with its record.

The work grows linearly with the number of lines, even if every line was changed.
"""

from __future__ import annotations

import contextlib
import hashlib
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, Literal, NamedTuple

from mcpcore.audit.chain import GENESIS, MAX_LINE, PLAIN, Head, Link, Signer, event_of, read_link
from mcpcore.values.untrusted import json_object

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mcpcore.values.jsonable import JSON

Kind = Literal["changed", "removed", "inserted", "forged", "reordered", "duplicated", "cut", "head", "unsigned"]
"""In this order: the bytes of a record were changed; records are missing; a line that is not a record of the chain was
inserted; a record was replaced, or signed by another writer; a record was moved; a record appears twice; records at the
end are missing; the head is damaged or belongs to another trail; records from before the key are not confirmed."""

MAX_PROBLEMS: Final = 1000
"""The most problems that are listed; further ones are counted."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One change that was made to a trail, and its place.

    ```python
    from mcpcore.audit import verify

    for problem in verify(path).problems:
        print(f"{problem.file}:{problem.line}: {problem.kind}")
    ```

    Attributes:
        kind: The kind of change, one of a fixed list.
        detail: What was found, as a sentence.
        file: The file of the trail.
        line: The line in the file, from 1.
        seq: The number of the record.
        correlation_id: The id of the record.
    """

    kind: Kind
    detail: str
    file: str | None = None
    line: int | None = None
    seq: int | None = None
    correlation_id: str | None = None

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}: " if self.line is not None else f"{self.file}: " if self.file else ""
        what = "" if self.seq is None else f" record {self.seq}"
        ident = f" (id {self.correlation_id})" if self.correlation_id else ""
        return f"{place}{self.kind}{what}{ident}: {self.detail}"

    def to_json(self) -> dict[str, JSON]:
        """The problem as JSON, without unknown facts."""
        facts: dict[str, JSON] = {
            "kind": self.kind,
            "detail": self.detail,
            "file": self.file,
            "line": self.line,
            "seq": self.seq,
            "correlationId": self.correlation_id,
        }
        return {key: value for key, value in facts.items() if value is not None}


@dataclass(slots=True, kw_only=True)
class ProblemList:
    """A bounded list of problems, for the reports of a check and of a load."""

    problems: list[Problem] = field(default_factory=list)
    unlisted: int = 0

    @property
    def ok(self) -> bool:
        """Whether no problem was found."""
        return not self.problems

    def add(self, problem: Problem) -> None:
        """List `problem`, or only count it if `MAX_PROBLEMS` are listed already."""
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(problem)
        else:
            self.unlisted += 1


@dataclass(slots=True)
class Report(ProblemList):
    """The result of a check.

    ```python
    from mcpcore.audit import verify

    report = verify(path)
    if not report.ok:
        print(f"{len(report.problems)} problems in {report.records} records")
    ```

    Attributes:
        path: The file that was named.
        files: All files of the trail, the oldest first.
        records: The number of records.
        first: The number of the first record, or None.
        last: The number of the last record, or None.
        last_hash: The hash of the last record, or None.
        keyed: Whether the trail is signed with a key.
        head: The end that the head file names, or None.
        head_source: "file" for the head file, "given" for a head that the caller passed, or None.
        notes: What a reader of the report should know, and what is no problem.
        problems: The changes that were made to the trail.
        unlisted: The number of further problems.
    """

    path: str
    files: list[str] = field(default_factory=list)
    records: int = 0
    first: int | None = None
    last: int | None = None
    last_hash: str | None = None
    keyed: bool = False
    head: Head | None = None
    head_source: str | None = None
    notes: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, JSON]:
        """The report as JSON."""
        return {
            "path": self.path,
            "ok": self.ok,
            "files": [*self.files],
            "records": self.records,
            "first": self.first,
            "last": self.last,
            "lastHash": self.last_hash,
            "signed": "hmac-sha256" if self.keyed else PLAIN,
            "head": None if self.head is None else {"seq": self.head.seq, "hash": self.head.hash},
            "headSource": self.head_source,
            "problems": [problem.to_json() for problem in self.problems],
            "unlisted": self.unlisted,
            "notes": [*self.notes],
        }


class Source(NamedTuple):
    """One file of the trail, and its size when the check began.

    Only the newest file is held open, since it may be rotated during the check. A trail can have more full files than
    a process may open.
    """

    name: str
    size: int
    file: BinaryIO | None = None

    @contextlib.contextmanager
    def reading(self, offset: int = 0) -> Iterator[BinaryIO]:
        """The file, open and at `offset`."""
        if self.file is not None:
            self.file.seek(offset)
            yield self.file
            return
        with open(self.name, "rb") as file:  # noqa: PTH123 - reports show this text
            file.seek(offset)
            yield file


class Row(NamedTuple):
    """One line of the trail, without its bytes."""

    at: int
    source: int
    line: int
    offset: int
    length: int
    link: Link | None


def rows(signer: Signer, sources: list[Source]) -> Iterator[tuple[Row, bytes]]:
    """Every line of `sources`, oldest first, with its bytes; a line that is too long comes without bytes."""
    at = 0
    for index, source in enumerate(sources):
        with source.reading() as file:
            offset = number = 0
            while offset < source.size:
                line = file.readline(min(MAX_LINE + 1, source.size - offset))
                if not line:  # pragma: no cover - cut while it is read
                    break
                length = len(line)
                piece = line
                while len(piece) > MAX_LINE and not piece.endswith(b"\n") and offset + length < source.size:
                    # No writer makes such a line: read on to its end without keeping it.
                    piece = file.readline(min(MAX_LINE + 1, source.size - offset - length))
                    length += len(piece)
                    line = b""
                number += 1
                yield Row(at, index, number, offset, length, read_link(line, signer)), line
                offset += length
                at += 1


class _Finding(NamedTuple):
    """A problem without the id of its failure: its line is read for that only if the problem is listed."""

    row: Row
    kind: Kind
    detail: str
    seq: int | None
    is_about_row: bool = True


@dataclass(slots=True)
class Diagnosis:
    """Examines the lines of a trail that failed the first check, and adds the problems to its report."""

    signer: Signer
    sources: list[Source]
    report: Report
    head: Head | None
    rows: list[Row] = field(default_factory=list)
    events: dict[int, dict[str, object]] = field(default_factory=dict)
    findings: list[_Finding] = field(default_factory=list)

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
                # A writer that died may have left one record more than the head names.
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
            value = json_object(self._bytes(row))
            if value is not None and isinstance(value.get("correlationId"), str):
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
    # As in patience sorting: the least last number of a run of each length.
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
