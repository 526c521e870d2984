"""Writes trails into a store: verified on the way, and so that equal records count once.

Everything that is a line is stored, also when a chain is broken: the report names the places, and the column `proof`
says of each row what its hash proves. A load that fails in the middle needs no repair: the same load again completes
it.
"""

from __future__ import annotations

import glob
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from mcpcore.audit.chain import GENESIS, KEY_VARIABLE, MAX_LINE, AuditError, Link, Signer, read_link
from mcpcore.audit.diagnosis import MAX_PROBLEMS, Problem, ProblemList
from mcpcore.audit.reading import Record, lines, parse_line
from mcpcore.audit.verification import verify
from mcpcore.fleet.address import StoreError
from mcpcore.fleet.rows import Foreign, Line, encode, looks_exported, parse, proof_of, read_export

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from mcpcore.fleet.store import Store
    from mcpcore.values.jsonable import JSON


_ROTATED: Final = re.compile(r"\.\d{12}\Z")
_BESIDE: Final = (".head", ".lock")
"""The endings of the files next to a trail, which a pattern such as `audit.jsonl*` names too."""


class Source(NamedTuple):
    """One file to load, or one trail with its rotated files."""

    path: Path
    exported: bool = False
    """It is an export of a collector."""
    whole: bool = False
    """It is a trail with all its files, which can be verified from end to end."""


def find(paths: Sequence[Path]) -> list[Source]:
    """The sources in `paths`, each once.

    Raises:
        StoreError: If a file is neither a trail nor an export.
        OSError: If a file cannot be read.
    """
    sources: dict[Path, Source] = {}
    bases = {path.resolve() for path in paths}
    for path in paths:
        where = path.resolve()
        if path.suffix in _BESIDE and path.with_suffix("").resolve() in bases:
            continue
        if _ROTATED.search(path.name) and path.with_name(_ROTATED.sub("", path.name)).resolve() in bases:
            continue
        sources.setdefault(where, _examined(path))
    return list(sources.values())


def _examined(path: Path) -> Source:
    if not path.exists() and any(path.parent.glob(f"{glob.escape(path.name)}.{'[0-9]' * 12}")):
        return Source(path, whole=True)  # just rotated
    with path.open("rb") as file:
        first = file.readline(MAX_LINE + 1)
        second = file.readline(MAX_LINE + 1)
    if looks_exported(first):
        return Source(path, exported=True)
    signer = Signer(None)
    # A damaged first line does not make it a file of another kind.
    if first.strip() and not any(read_link(line, signer) or parse_line(line) for line in (first, second)):
        raise StoreError(
            f"{path}: neither a trail nor logs that a collector exported as JSON: its first lines are not records"
        )
    return Source(path, whole=_ROTATED.search(path.name) is None)


MOST: Final = 20_000
"""The most open pieces of chains that are remembered; forged lines could make as many as there are lines."""


class Piece(NamedTuple):
    """The first line of a connected part of a chain."""

    label: str
    link: Link
    file: str
    line: int


@dataclass(slots=True)
class Chains:
    """Connects lines by their hashes, in memory that grows with the number of chains."""

    ordered: bool
    """Whether the lines after a gap still belong to the chain before it."""

    complete: bool = True
    """Whether no piece had to be forgotten."""

    _label: str = ""
    _by_end: dict[str, Piece] = field(default_factory=dict)
    """Each piece by the hash of its last line."""

    _by_start: dict[str, tuple[Piece, str]] = field(default_factory=dict)
    """Each piece that does not begin a chain by the hash before its first line, with the hash of its last line."""

    def add(self, link: Link, file: str, line: int) -> str:
        """Connect a line; returns the label of its chain."""
        # All chains have the same hash before their first line, so it connects nothing.
        piece = self._by_end.pop(link.prev, None) if link.prev != GENESIS else None
        if piece is None:
            label = (link.hash if link.prev == GENESIS else link.prev)[:32]
            if self.ordered and link.prev != GENESIS:
                label = self._label or label
            piece = Piece(label, link, file, line)
        self._label = piece.label
        end = link.hash
        follower = self._by_start.pop(end, None)
        if follower is not None:
            end = follower[1]
        if len(self._by_end) >= MOST or len(self._by_start) >= MOST:
            self.complete = False
        else:
            self._by_end[end] = piece
            if piece.link.prev != GENESIS:
                self._by_start[piece.link.prev] = piece, end
        return piece.label

    def loose(self) -> Iterator[Piece]:
        """The pieces whose line before is not among the lines."""
        for piece, _ in self._by_start.values():
            yield piece


BATCH_ROWS: Final = 100_000
BATCH_BYTES: Final = 64 << 20
"""Rows are added in batches of at most this many rows or bytes, whichever is reached first."""

# The pieces whose beginnings are looked up in one query.
_ASKED: Final = 500

_NEW: Final = (
    "SELECT toUInt32(countIf(first >= fromUnixTimestamp64Milli({began:Int64}))) FROM ("
    "SELECT min(loaded) AS first FROM {table:Identifier} WHERE kind != 'damaged'"
    " AND time >= (SELECT min(time) FROM {table:Identifier} WHERE loaded >= fromUnixTimestamp64Milli({began:Int64}))"
    " AND time <= (SELECT max(time) FROM {table:Identifier} WHERE loaded >= fromUnixTimestamp64Milli({began:Int64}))"
    " GROUP BY time, id)"
)
"""Counts the records whose first row was added since a moment, within the times of the rows added since then."""


@dataclass(slots=True)
class LoadReport(ProblemList):
    """What was loaded, and what was wrong with it."""

    records: int = 0
    new: int = 0
    """The records that were not in the store before, also those that another process loads at the same time."""
    damaged: int = 0
    """Lines that are no records; they are stored with kind `damaged`."""
    foreign: int = 0
    """Records of other programs in exports, which are left out."""
    notes: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, JSON]:
        """The report as JSON."""
        return {
            "ok": self.ok,
            "records": self.records,
            "new": self.new,
            "damaged": self.damaged,
            "foreign": self.foreign,
            "problems": [problem.to_json() for problem in self.problems],
            "unlisted": self.unlisted,
            "notes": [*self.notes],
        }


def load(
    store: Store,
    paths: Sequence[Path],
    *,
    key: bytes | None = None,
    no_head: bool = False,
    no_verify: bool = False,
    resource: Mapping[str, str] | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> LoadReport:
    """Load trails and exports into a store.

    Args:
        store: Where to.
        paths: Trails, single rotated files, and logs that a collector exported as JSON.
        key: The key of signed trails.
        no_head: Accept a signed trail without its head.
        no_verify: Do not check any hash.
        resource: Attributes of the process that wrote the trails, such as `service.version`; an export has its own.
        progress: Called with the number of records so far, after each batch.

    Raises:
        StoreError: If the store fails, or a file is neither a trail nor an export.
        AuditError: If a trail is signed and there is no key, or there is no trail.
        OSError: If a file cannot be read.
    """
    loading = _Loading(store, Signer(key), no_verify=no_verify, progress=progress)
    sources = find(paths)
    if not no_verify:
        for source in sources:
            if source.whole and not source.exported:
                loading.verify(source, key, no_head=no_head)
    # By the clock of the store, which also says when each row was loaded.
    ((began,),) = store.rows("SELECT toString(toUnixTimestamp64Milli(now64(3)))")
    for source in sources:
        loading.load(source, dict(resource or {}))
    ((new,),) = store.rows(_NEW, {"began": int(began)})
    # Another process may have added records meanwhile.
    loading.report.new = min(new, loading.report.records)
    return loading.report


@dataclass(slots=True)
class _Loading:
    """One load: its open batch, and the chains that it follows."""

    store: Store
    signer: Signer
    no_verify: bool
    progress: Callable[[int], None]
    report: LoadReport = field(default_factory=LoadReport)
    _batch: list[bytes] = field(default_factory=list)
    _size: int = 0

    def verify(self, source: Source, key: bytes | None, *, no_head: bool) -> None:
        """Check a whole trail as `mcpcore audit verify` does."""
        checked = verify(source.path, key=key, no_head=no_head)
        for problem in checked.problems:
            self.report.add(problem)
        self.report.unlisted += checked.unlisted
        self.report.notes += checked.notes[: MAX_PROBLEMS - len(self.report.notes)]

    def load(self, source: Source, resource: dict[str, str]) -> None:
        """Write the lines of a source."""
        chains = Chains(ordered=not source.exported)
        # The check of a whole trail has already named each line that is wrong.
        is_judged = source.whole or self.no_verify
        unhashed = 0
        for line in self._lines(source, resource):
            link = read_link(line.raw + b"\n", self.signer)
            record = parse(line.raw, chained=not source.exported)
            unhashed += link is None and record is not None
            if not is_judged:
                self._judge(line, link, record)
            self._add(line, link, record, chains)
        if unhashed and source.exported and not self.signer.keyed:
            self.report.notes.append(f"{source.path}: {unhashed} without a hash: their servers write no trail file")
        self._flush()
        if not is_judged:
            self._judge_beginnings(chains)

    def _lines(self, source: Source, resource: dict[str, str]) -> Iterator[Line]:
        if not source.exported:
            for file, number, raw in lines(source.path, rotated=source.whole):
                yield Line(raw, file, number, resource)
            return
        for item in read_export(source.path):
            if isinstance(item, Line):
                yield item
            elif isinstance(item, Foreign):
                self.report.foreign += item.records
            else:
                self.report.add(item)

    def _add(self, line: Line, link: Link | None, record: Record | None, chains: Chains) -> None:
        trail, seq = "", 0
        if link is not None:
            trail = chains.add(link, line.file, line.number)
            seq = link.seq
        elif record is not None and type(number := record.get("seq")) is int:
            seq = number
        if record is None:
            self.report.damaged += 1
        else:
            self.report.records += 1
        row = encode(line, record, trail=trail, seq=seq, proof="unchecked" if self.no_verify else proof_of(link))
        self._batch.append(row)
        self._size += len(row)
        if len(self._batch) >= BATCH_ROWS or self._size >= BATCH_BYTES:
            self._flush()

    def _flush(self) -> None:
        if self._batch:
            rows = b"".join(self._batch)
            self._batch, self._size = [], 0
            self.store.insert(rows)
            self.progress(self.report.records)

    def _judge(self, line: Line, link: Link | None, record: Record | None) -> None:
        """Report a line of an export or of a single rotated file that is not as it was written."""
        place = (line.file, line.number, link.seq if link is not None else None, _ident(record))
        if len(line.raw) > MAX_LINE:
            self.report.add(Problem("inserted", "the line is longer than any record", *place))
        elif record is None:
            self.report.add(Problem("inserted", "the line is not a record", *place))
        elif link is None:
            if "hash" in record or "prev" in record:
                self.report.add(Problem("changed", "the line is not written as a record of a chain", *place))
            elif self.signer.keyed:
                self.report.add(Problem("forged", "the record is not signed", *place))
        elif link.sound is None:
            if not self.signer.keyed:
                raise AuditError(
                    f"{line.file}: the records are signed with the key {link.alg.partition(':')[2]}; set "
                    f"{KEY_VARIABLE} or give the key's file, or load them without a check (--no-verify)"
                )
            self.report.add(Problem("forged", "the record is signed with another key, not with the key given", *place))
        elif not link.sound:
            self.report.add(Problem("changed", "its content does not match its hash", *place))
        elif self.signer.keyed and not link.keyed:
            self.report.add(Problem("unsigned", "the record is not signed", *place))

    def _judge_beginnings(self, chains: Chains) -> None:
        """Report each piece of a chain whose record before is neither in the file nor in the store."""
        if not chains.complete:
            self.report.notes.append("the lines belong to too many chains to look for missing records")
            return
        loose = [piece for piece in chains.loose() if piece.link.prev != GENESIS]
        for start in range(0, len(loose), _ASKED):
            pieces = loose[start : start + _ASKED]
            stored = self._stored(pieces)
            for piece in pieces:
                if piece.link.prev not in stored:
                    detail = "missing before this line, and not in the store"
                    self.report.add(Problem("removed", detail, piece.file, piece.line, piece.link.seq - 1))

    def _stored(self, pieces: Sequence[Piece]) -> set[str]:
        """The hashes before `pieces` that are in the store."""
        rows = self.store.rows(
            # A line ends in its hash, a quotation mark and a brace.
            "SELECT DISTINCT substring(line, length(line) - 65, 64) AS hash FROM {table:Identifier} "
            "WHERE seq IN ({seqs:Array(Int64)}) AND has({hashes:Array(String)}, hash)",
            {
                "seqs": [piece.link.seq - 1 for piece in pieces],
                "hashes": [piece.link.prev for piece in pieces],
            },
        )
        return {str(digest) for (digest,) in rows}


def _ident(record: Record | None) -> str | None:
    ident = None if record is None else record.get("correlationId")
    return ident if isinstance(ident, str) else None
