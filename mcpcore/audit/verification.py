"""Reading a trail from end to end, and saying what was done to it."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from bisect import bisect_left
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, Literal, NamedTuple

from mcpcore.audit.chain import (
    GENESIS,
    HEAD_SIZE,
    KEY_VARIABLE,
    MAX_LINE,
    PLAIN,
    Head,
    Link,
    Signer,
    event_of,
    read_link,
)
from mcpcore.audit.errors import AuditError
from mcpcore.audit.files import head_path, lock, rotated_files, unlock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore.jsonable import JSON

Kind = Literal["changed", "removed", "inserted", "forged", "reordered", "duplicated", "cut", "head"]
"""What was done: a record's bytes were changed; records are missing; a line that is no record of the chain was put in;
a record was replaced, or signed by somebody else; a record stands elsewhere than it did; a record stands twice;
records at the end are missing; the head is damaged or of another trail."""

MAX_PROBLEMS: Final = 1000
"""Where more is wrong than this, the rest is counted and not listed."""

_LOCK_TIMEOUT: Final = 2.0
_ATTEMPTS: Final = 20
_ROTATIONS: Final = 100
_LISTED: Final = 100_000  # of one gap; what a forged number makes larger is told as one range


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that was done to a trail, and where."""

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
        """The problem as JSON, without what is not known."""
        facts: dict[str, JSON] = {
            "kind": self.kind,
            "detail": self.detail,
            "file": self.file,
            "line": self.line,
            "seq": self.seq,
            "correlationId": self.correlation_id,
        }
        return {key: value for key, value in facts.items() if value is not None}


@dataclass(slots=True)
class Report:
    """What a trail turned out to be."""

    path: str
    files: list[str] = field(default_factory=list)
    records: int = 0
    first: int | None = None
    last: int | None = None
    last_hash: str | None = None
    keyed: bool = False
    head: Head | None = None
    head_source: str | None = None
    problems: list[Problem] = field(default_factory=list)
    unlisted: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether nothing was done to the trail that can be found out."""
        return not self.problems

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


@dataclass(frozen=True, slots=True)
class KnownHead:
    """A head that was kept elsewhere: the hash of a record, and its number where that is known."""

    hash: str
    seq: int | None = None

    @classmethod
    def parse(cls, text: str, signer: Signer) -> KnownHead:
        """Read `SEQ:HASH`, `HASH`, or the line of a head file.

        Raises:
            AuditError: If it is none of these, or was changed.
        """
        text = text.strip()
        if text.startswith("{"):
            head = Head.read(text.encode("utf-8", "replace"), signer)
            if head is None:
                raise AuditError("the head given is damaged, or signed with another key")
            return cls(head.hash, head.seq)
        seq, colon, digest = text.rpartition(":")
        digest = digest.lower()
        if len(digest) != 64 or set(digest) - set("0123456789abcdef") or (colon and not seq.isascii()):
            raise AuditError(f"not a head: {text[:80]!r}; give a head file, SEQ:HASH or HASH (64 hexadecimal digits)")
        if colon and not seq.isdigit():
            raise AuditError(f"not the number of a record: {seq[:20]!r}")
        return cls(digest, int(seq) if colon else None)


class _Source(NamedTuple):
    """One file of the trail, and how much of it there was when the check began.

    Only the newest file is held open, as it may be rotated meanwhile; a trail can have more full files than a process
    may have open.
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
        with open(self.name, "rb") as file:  # noqa: PTH123 - kept as the text that reports name it by
            file.seek(offset)
            yield file


class _Row(NamedTuple):
    """One line of the trail, as far as the judgement needs it."""

    at: int
    source: int
    line: int
    offset: int
    length: int
    link: Link | None


def verify(
    path: str | os.PathLike[str],
    *,
    key: str | bytes | None = None,
    head: Head | KnownHead | str | None = None,
) -> Report:
    """Read the trail at `path`, with its full files, and find what was done to it.

    Args:
        path: The trail, as `Server(audit=...)` named it.
        key: The key that it was signed with, where it was.
        head: A head that was kept elsewhere. The one beside the trail is read in any case.

    Raises:
        AuditError: If the trail is signed with a key and none is given, or there is no trail.
        OSError: If a file cannot be read.
    """
    where = Path(path)
    signer = Signer((key.encode("utf-8", "surrogateescape") if isinstance(key, str) else key) or None)
    known = KnownHead.parse(head, signer) if isinstance(head, str) else head
    for _ in range(_ATTEMPTS):
        # Deleted meanwhile by a server that keeps so many: what it noted of that is in the files as they are then.
        with contextlib.suppress(FileNotFoundError):
            return _verify(where, signer, known)
    return _verify(where, signer, known)  # pragma: no cover - files that vanish in every attempt


def _verify(where: Path, signer: Signer, known: Head | KnownHead | None) -> Report:
    with contextlib.ExitStack() as stack:
        sources, raw = _open_all(where, stack)
        report = Report(path=str(where), files=[source.name for source in sources])
        beside = _judge_head_file(raw, signer, report)
        scan = _Scan(signer, sources)
        fine = scan.clean()
        if scan.unkeyed_alg is not None:
            raise AuditError(
                f"the trail is signed with the key {scan.unkeyed_alg.partition(':')[2]}; set {KEY_VARIABLE} or give "
                "the key's file: without the key nothing can be said about it"
            )
        head_alg = Head.alg_of(raw) if raw is not None else None
        if not signer.keyed and head_alg not in (None, PLAIN):
            # Whoever has no key can make plain records, and cannot make this head.
            raise AuditError(
                f"the head beside the trail is signed with the key {str(head_alg).partition(':')[2]}, and its records "
                f"are not; set {KEY_VARIABLE} or give the key's file: without the key nothing can be said about it"
            )
        if not fine:
            _Judge(signer, sources, report, beside).run(scan)
        report.records, report.first, report.last = scan.records, scan.first, scan.last
        report.last_hash = scan.last_hash
        report.keyed = scan.keyed
        report.notes.extend(scan.notes)
        if signer.keyed and not scan.keyed and scan.records:
            _add(report, Problem("forged", "no record is signed with the key: the trail was made without it"))
        _compare_head(scan, beside, known, report)
    return report


def _open_all(where: Path, stack: contextlib.ExitStack) -> tuple[list[_Source], bytes | None]:
    """Every file of the trail and the head, as of one moment: no writer is at work between the first and the last."""
    for _ in range(_ATTEMPTS):
        current, locked = _open_current(where, stack)
        if current is not None:
            break
        # A full file was put aside, and the next not begun; without a file there is no lock that would keep it so.
        full, raw = rotated_files(where), _raw_head(where)
        if not where.exists() and (rotated_files(where), _raw_head(where)) == (full, raw):
            if not full:
                raise AuditError(f"there is no trail at {where}")
            return [_Source(str(path), path.stat().st_size) for path in full], raw
    else:
        raise _too_fast(where)
    try:
        sources = [_Source(str(path), path.stat().st_size) for path in rotated_files(where)]
        sources.append(_Source(str(where), os.fstat(current.fileno()).st_size, current))
        return sources, _raw_head(where)
    finally:
        if locked:
            unlock(current.fileno())


def _too_fast(where: Path) -> AuditError:
    return AuditError(
        f"the trail at {where} is rotated faster than it can be read; check it when less is written, or write larger "
        "files (max_bytes)"
    )


def _raw_head(where: Path) -> bytes | None:
    with contextlib.suppress(FileNotFoundError):
        return head_path(where).read_bytes()[: HEAD_SIZE * 2]
    return None


def _open_current(where: Path, stack: contextlib.ExitStack) -> tuple[BinaryIO | None, bool]:
    """The newest file, and whether its lock was had; a writer that hangs with the lock must not stop a check."""
    for _ in range(_ROTATIONS):
        try:
            current = stack.enter_context(where.open("rb"))
            locked = lock(current.fileno(), _LOCK_TIMEOUT, shared=True)
            if os.path.samestat(os.fstat(current.fileno()), where.stat()):
                return current, locked
        except FileNotFoundError:
            return None, False
        # Rotated between the opening and the lock: it is one of the full files now.
        current.close()
    raise _too_fast(where)


def _judge_head_file(raw: bytes | None, signer: Signer, report: Report) -> Head | None:
    if raw is None:
        report.notes.append(
            "there is no head file beside the trail: records cut off the end can only be found with --head"
        )
        return None
    head = Head.read(raw, signer)
    report.head, report.head_source = head, "file" if head else None
    if head is None:
        alg = Head.alg_of(raw)
        # A head signed with a key that was not given is judged with the trail itself, which is signed with it too.
        if alg in (None, signer.alg) or signer.keyed:
            why = "it is damaged" if alg in (None, signer.alg) else f"it is signed as {alg}, the key given is another"
            _add(report, Problem("head", f"the head file cannot be believed: {why}", file=report.path + ".head"))
    return head


class _Scan:
    """The trail read once, without keeping anything: all that is needed where all is well."""

    def __init__(self, signer: Signer, sources: list[_Source]) -> None:
        self.signer = signer
        self.sources = sources
        self.records = 0
        self.first: int | None = None
        self.last: int | None = None
        self.last_hash: str | None = None
        self.changed_last = 0
        """The last record that is there and cannot be read as what it was."""
        self.keyed = False
        self.unkeyed_alg: str | None = None
        self.notes: list[str] = []

    def clean(self) -> bool:
        """Whether every line is a sound link to the one before."""
        fine = True
        prev: Link | None = None
        pruned: list[tuple[object, object]] = []
        first: Link | None = None
        plain = 0
        for row, line in _rows(self.signer, self.sources):
            link = row.link
            if link is None:
                fine = False
                continue
            if link.sound is None and not self.signer.keyed:
                self.unkeyed_alg = link.alg
            self.records += 1
            self.keyed = self.keyed or (link.keyed and link.sound is True)
            if prev is None:
                first = link
            elif link.seq != prev.seq + 1 or link.prev != prev.hash:
                fine = False
            if not link.sound or (self.signer.keyed and not link.keyed and self.keyed):
                fine = False
            plain += self.signer.keyed and not link.keyed
            if link.sound and (self.last is None or link.seq > self.last):
                self.last, self.last_hash = link.seq, link.hash
            if b'"event":' in line and link.sound and (event := event_of(line)) is not None:
                self._note(event, link.seq)
                if event["event"] == "pruned":
                    pruned.append((event.get("last"), event.get("last_hash")))
            prev = link
        if first is not None:
            self.first = first.seq
            begins = first.seq == 1 and first.prev == GENESIS
            if not begins and (first.seq - 1, first.prev) not in pruned:
                fine = False
            elif not begins:
                self.notes.append(f"records 1 to {first.seq - 1} were pruned by the server, as configured")
        if plain and self.keyed:
            self.notes.append(
                f"{plain} record(s) were written before there was a key; the first signed one vouches for them"
            )
        return fine

    def _note(self, event: dict[str, object], seq: int) -> None:
        text = {
            "sealed": "an unfinished line of {bytes} bytes was sealed off: a writer had died in the middle of it",
            "lost": "{records} record(s) could not be written before this one, and are not in the trail",
            "missing": "records {first} to {last} were gone when a writer came back",
            "replaced": "record {record} was not the one that had been written",
            "head_lost": "the head file was missing or damaged here: the end before this record is not vouched for",
            "beyond_head": "records {first} to {last} were in the file and not in the head when a writer came back",
        }.get(str(event["event"]))
        if text is not None and len(self.notes) < MAX_PROBLEMS:
            with contextlib.suppress(KeyError, IndexError, ValueError):
                self.notes.append(f"record {seq}: {text.format(**event)}")


def _rows(signer: Signer, sources: list[_Source]) -> Iterator[tuple[_Row, bytes]]:
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
                    # Longer than any writer makes a line: read on to its end, and do not keep it.
                    piece = file.readline(min(MAX_LINE + 1, source.size - offset - length))
                    length += len(piece)
                    line = b""
                number += 1
                yield _Row(at, index, number, offset, length, read_link(line, signer)), line
                offset += length
                at += 1


class _Judge:
    """What is wrong with a trail that is not clean, in terms of what somebody did to it."""

    def __init__(self, signer: Signer, sources: list[_Source], report: Report, head: Head | None) -> None:
        self.signer = signer
        self.sources = sources
        self.report = report
        self.head = head
        self.rows: list[_Row] = []
        self.events: dict[int, dict[str, object]] = {}

    def run(self, scan: _Scan) -> None:
        """Add every problem to the report, in the order of the trail, and tell the scan what it could not read."""
        for row, line in _rows(self.signer, self.sources):
            self.rows.append(row)
            if row.link is not None and row.link.sound and (event := event_of(line)) is not None:
                self.events[row.at] = event
        found: list[tuple[int, Problem]] = []
        sound = [row for row in self.rows if row.link is not None and row.link.sound]
        broken = [row for row in self.rows if row.link is None or not row.link.sound]
        broken = [row for row in broken if not self._accounted(row)]
        kept = _longest_run(sound)
        self._strays(sound, kept, found)
        self._gaps(kept, sound, broken, found)
        self._joints(kept, found)
        for _, problem in sorted(found, key=lambda item: item[0]):
            _add(self.report, problem)
            if problem.kind == "changed":
                scan.changed_last = max(scan.changed_last, problem.seq or 0)

    def _accounted(self, row: _Row) -> bool:
        """Whether a line that is no record is one that a dying writer left, and nothing else."""
        follower = self.events.get(row.at + 1)
        if follower is not None and follower.get("event") == "sealed":
            torn = self._bytes(row).removesuffix(b"\n")
            if (follower.get("bytes"), follower.get("sha256")) == (len(torn), hashlib.sha256(torn).hexdigest()):
                return True
        last = row.at == len(self.rows) - 1 and row.source == len(self.sources) - 1
        if last and not self._bytes(row).endswith(b"\n") and (self.head is None or self.head.writing):
            self.report.notes.append(
                f"{self.sources[row.source].name}:{row.line}: an unfinished line of {row.length} bytes at the end: a "
                "writer died in the middle of it; the next one seals it off"
            )
            return True
        return False

    def _strays(self, sound: list[_Row], kept: list[_Row], found: list[tuple[int, Problem]]) -> None:
        """Sound records that are not where they belong."""
        place = {_seq(row): row for row in kept}
        inside = {row.at for row in kept}
        for row in sound:
            if row.at in inside:
                continue
            link = _link(row)
            twin = place.get(link.seq)
            if twin is None:
                found.append((row.at, self._problem("reordered", row, "it was moved here from its place in the chain")))
            elif _link(twin).hash == link.hash:
                detail = f"it stands at {self._place(twin)} too"
                found.append((row.at, self._problem("duplicated", row, detail)))
            else:
                detail = f"another record of this number stands at {self._place(twin)}"
                found.append((row.at, self._problem("forged", row, detail)))

    def _gaps(self, kept: list[_Row], sound: list[_Row], broken: list[_Row], found: list[tuple[int, Problem]]) -> None:
        """Numbers that are missing, each explained by a broken line in that place or else by a removal."""
        elsewhere = {_seq(row) for row in sound}
        pruned = {(e.get("last"), e.get("last_hash")) for e in self.events.values() if e["event"] == "pruned"}
        edges: list[_Row | None] = [None, *kept, None]
        index = 0
        for before, after in pairwise(edges):
            low = _seq(before) if before is not None else 0
            if before is None and after is not None and (_seq(after) - 1, _link(after).prev) in pruned:
                low = _seq(after) - 1
            here: list[_Row] = []
            while index < len(broken) and (after is None or broken[index].at < after.at):
                here.append(broken[index])
                index += 1
            if after is not None:
                high = _seq(after)
            elif self.head is not None:
                high = self.head.seq + 1 + self.head.writing
            else:
                # Nobody knows how many there were; each broken line stands for one.
                high = low + 1 + len(here)
            end = min(high, low + 1 + _LISTED)
            missing = [n for n in range(low + 1, end) if n not in elsewhere]
            claims = {row.link.seq for row in here if row.link is not None} & set(missing)
            for row in here:
                claimed = row.link.seq if row.link is not None and row.link.seq in claims else None
                free = [n for n in missing if n not in claims]
                seq = claimed if claimed is not None else (free[0] if free else None)
                if seq is None:
                    found.append((row.at, self._problem("inserted", row, "it is no record of this chain")))
                    continue
                missing.remove(seq)
                claims.discard(seq)
                found.append((row.at, self._problem(*self._broken(row), seq=seq)))
            if after is not None:
                self._removed(missing, high - 1 if end < high else None, before, after, found)

    def _broken(self, row: _Row) -> tuple[Kind, _Row, str]:
        if row.link is None:
            return "changed", row, "the line can no longer be read as a record"
        if row.link.sound is None:
            return "forged", row, f"it is signed as {row.link.alg}, not with the key given"
        return "changed", row, "its content does not match its hash"

    def _removed(
        self, missing: list[int], final: int | None, before: _Row | None, after: _Row, found: list[tuple[int, Problem]]
    ) -> None:
        ranges = list(_ranges(missing))
        if final is not None and ranges:
            ranges[-1] = (ranges[-1][0], final)
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
            row = before or after
            name = self.sources[row.source].name
            problem = Problem("removed", f"{what} {where}", file=name, line=row.line, seq=first)
            found.append((row.at, problem))

    def _joints(self, kept: list[_Row], found: list[tuple[int, Problem]]) -> None:
        """Neighbours by number of which the later names another record than the one that stands there."""
        signed = False
        if kept and _seq(kept[0]) == 1 and _link(kept[0]).prev != GENESIS:
            found.append((kept[0].at, self._problem("forged", kept[0], "the first record names one before it")))
        for before, after in pairwise(kept):
            if _seq(after) == _seq(before) + 1 and _link(after).prev != _link(before).hash:
                detail = f"record {_seq(after)} names another record before it: this one was put in its place"
                found.append((before.at, self._problem("forged", before, detail)))
        if self.signer.keyed:
            for row in kept:
                signed = signed or _link(row).keyed
                if signed and not _link(row).keyed:
                    found.append((row.at, self._problem("forged", row, "it is not signed, and those before it are")))

    def _problem(self, kind: Kind, row: _Row, detail: str, *, seq: int | None = None) -> Problem:
        ident: str | None = None
        with contextlib.suppress(ValueError, RecursionError):
            value = json.loads(self._bytes(row))
            if isinstance(value, dict) and isinstance(value.get("correlationId"), str):
                ident = value["correlationId"][:64]
        number = seq if seq is not None else row.link.seq if row.link is not None and row.link.sound else None
        return Problem(kind, detail, self.sources[row.source].name, row.line, number, ident)

    def _place(self, row: _Row) -> str:
        return f"{Path(self.sources[row.source].name).name}:{row.line}"

    def _bytes(self, row: _Row) -> bytes:
        with self.sources[row.source].reading(row.offset) as file:
            return file.read(min(row.length, MAX_LINE))


def _compare_head(scan: _Scan, beside: Head | None, known: Head | KnownHead | None, report: Report) -> None:
    """Hold the end of the trail against what the heads say of it."""
    last = max(scan.last or 0, scan.changed_last)
    if beside is not None:
        _against(scan, beside.seq, beside.hash, "the head file", report)
        beyond = last - beside.seq
        name = scan.sources[-1].name
        if beyond > 0 and not (beside.writing and beyond == 1):
            detail = (
                f"records {beside.seq + 1} to {last} are not covered by the head: something else added them, or "
                "the head could not be written"
            )
            _add(report, Problem("inserted", detail, file=name, seq=beside.seq + 1))
        elif beyond > 0:
            report.notes.append(f"a writer died right after it wrote record {last}: the record is whole")
        elif len(scan.sources) > 1 and (scan.sources[-1].size, beside.size) == (0, scan.sources[-2].size):
            # The chain ends where the head says, in the file before: nothing was in this one yet.
            report.notes.append("a writer died right after it put a full file aside: the next one is still empty")
        elif not beside.writing and not report.problems and beside.size != scan.sources[-1].size:
            detail = f"the file is {scan.sources[-1].size} bytes long, and was {beside.size} when it was last written"
            _add(report, Problem("changed", detail, file=name))
    if known is not None:
        report.head = Head(known.seq or 0, known.hash, 0)
        report.head_source = "given"
        _against(scan, known.seq, known.hash, "the head given", report)


def _against(scan: _Scan, seq: int | None, digest: str, name: str, report: Report) -> None:
    last = max(scan.last or 0, scan.changed_last)
    if seq == 0:
        if digest != GENESIS:
            _add(report, Problem("head", f"{name} is that of another trail"))
        return
    if seq is not None and seq > last:
        what = f"record {seq} is" if seq == last + 1 else f"records {last + 1} to {seq} are"
        _add(
            report,
            Problem("cut", f"{what} missing from the end: {name} knows them", scan.sources[-1].name, None, last + 1),
        )
        return
    if seq == scan.last and digest == scan.last_hash:
        return
    found: Link | None = None
    for row, _ in _rows(scan.signer, scan.sources):
        if row.link is not None and (row.link.hash == digest if seq is None else row.link.seq == seq):
            found = row.link
            if row.link.hash == digest:
                return
    if found is None and seq is None:
        _add(report, Problem("cut", f"no record has the hash of {name}: it was cut off the end, or replaced"))
    elif found is None:
        if scan.first is None or (seq or 0) >= scan.first:
            _add(report, Problem("removed", f"{name} knows record {seq}, and it is not there", seq=seq))
        else:
            report.notes.append(f"{name} is older than the first record that was kept")
    elif not any(problem.seq == seq for problem in report.problems):
        _add(
            report,
            Problem("forged", f"{name} knows another record {seq}: it and what follows was written anew", seq=seq),
        )


def _add(report: Report, problem: Problem) -> None:
    if len(report.problems) < MAX_PROBLEMS:
        report.problems.append(problem)
    else:
        report.unlisted += 1


def _link(row: _Row) -> Link:
    assert row.link is not None
    return row.link


def _seq(row: _Row) -> int:
    return _link(row).seq


def _longest_run(rows: list[_Row]) -> list[_Row]:
    """The most rows that stand in the order of their numbers; of equals, those that the neighbours name."""
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
    kept: list[_Row] = []
    index = at[-1] if at else -1
    while index >= 0:
        kept.append(rows[index])
        index = back[index]
    return kept[::-1]


def _ranges(numbers: list[int]) -> Iterator[tuple[int, int]]:
    start = previous = None
    for number in numbers:
        if previous is None or start is None:
            start = previous = number
        elif number == previous + 1:
            previous = number
        else:
            yield start, previous
            start = previous = number
    if start is not None and previous is not None:
        yield start, previous
