"""Reads a trail from end to end, and reports its facts and what was changed."""

from __future__ import annotations

import contextlib
import os
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from mcpcore.audit.chain import (
    GENESIS,
    HEAD_SIZE,
    KEY_VARIABLE,
    PLAIN,
    AuditError,
    Head,
    Link,
    Signer,
    begins_trail,
    event_of,
)
from mcpcore.audit.diagnosis import MAX_PROBLEMS, Diagnosis, Problem, Report, Row, Source, rows
from mcpcore.audit.files import head_path, rotated_files
from mcpcore.values.untrusted import json_object

_ATTEMPTS: Final = 200
_LONGEST_PAUSE: Final = 0.01


@dataclass(frozen=True, slots=True)
class KnownHead:
    """A head that was kept elsewhere: the hash of a record, and its number if known."""

    hash: str
    seq: int | None = None

    @classmethod
    def parse(cls, text: str, signer: Signer) -> KnownHead:
        """Read `SEQ:HASH`, `HASH`, or the line of a head file.

        Raises:
            AuditError: If it has another form, or was changed.
        """
        text = text.strip()
        if text.startswith("{"):
            head = Head.read(text.encode("utf-8", "replace"), signer)
            if head is None:
                raise AuditError("the head given is damaged, or signed with another key")
            return cls(head.hash, head.seq)
        seq, colon, digest = text.rpartition(":")
        digest = digest.lower()
        # `isdigit` below also admits digits such as `²`, which `int` refuses, so the number has to be ASCII.
        if len(digest) != 64 or set(digest) - set("0123456789abcdef") or (colon and not seq.isascii()):
            raise AuditError(f"not a head: {text[:80]!r}; give a head file, SEQ:HASH or HASH (64 hexadecimal digits)")
        if colon and not seq.isdigit():
            raise AuditError(f"not the number of a record: {seq[:20]!r}")
        return cls(digest, int(seq) if colon else None)


def verify(
    path: str | os.PathLike[str],
    *,
    key: str | bytes | None = None,
    head: Head | KnownHead | str | None = None,
    no_head: bool = False,
    unsigned: KnownHead | str | None = None,
) -> Report:
    """Read the trail at `path`, with its full files, and find out what was changed.

    With a key, the end of the trail must be confirmed by its head file or by `head`. A missing confirmation is a
    problem, and so is a head that was lost while no server had the trail open. If a trail got its key later, `unsigned`
    must confirm the records from before the key.

    ```python
    report = verify(path, key=key)
    for problem in report.problems:
        print(problem.line, problem.detail)
    ```

    Args:
        path: The trail, as `Server(audit=...)` named it.
        key: The key of a signed trail.
        head: A head that was kept elsewhere. The head file of the trail is read in any case.
        no_head: Accept that the end is not confirmed, as in an export from a log store.
        unsigned: The head of the trail from before it got its key, which names its last unsigned record.

    Raises:
        AuditError: If the trail is signed with a key and none is given, or there is no trail.
        OSError: If a file cannot be read.
    """
    where = Path(path)
    signer = Signer((key.encode("utf-8", "surrogateescape") if isinstance(key, str) else key) or None)
    known = KnownHead.parse(head, signer) if isinstance(head, str) else head
    earlier = KnownHead.parse(unsigned, Signer(None)) if isinstance(unsigned, str) else unsigned
    for _ in range(_ATTEMPTS):
        # A server may prune a file during the check. The next attempt reads its record about that.
        with contextlib.suppress(FileNotFoundError):
            return _verify(where, signer, known, earlier, no_head=no_head)
    return _verify(
        where, signer, known, earlier, no_head=no_head
    )  # pragma: no cover - files that vanish in every attempt


def _verify(
    where: Path, signer: Signer, known: Head | KnownHead | None, earlier: KnownHead | None, *, no_head: bool
) -> Report:
    with contextlib.ExitStack() as stack:
        sources, raw = _open_all(where, stack)
        report = Report(path=str(where), files=[source.name for source in sources])
        beside = _judge_head_file(raw, signer, report)
        scan = _Scan(signer, sources, report, [head for head in (beside, known) if head is not None])
        fine = scan.clean()
        if scan.unkeyed_alg is not None:
            raise AuditError(
                f"the trail is signed with the key {scan.unkeyed_alg.partition(':')[2]}; set {KEY_VARIABLE} or give "
                "the key's file: the trail cannot be checked without it"
            )
        head_alg = Head.alg_of(raw) if raw is not None else None
        if not signer.keyed and head_alg not in (None, PLAIN):
            # Without the key, one can make plain records but not this head.
            raise AuditError(
                f"the head file of the trail is signed with the key {str(head_alg).partition(':')[2]}, and its records "
                f"are not; set {KEY_VARIABLE} or give the key's file: the trail cannot be checked without it"
            )
        if not fine:
            scan.changed_last = Diagnosis(signer, sources, report, beside).run()
        report.notes.extend(scan.notes)
        if signer.keyed and not report.keyed and report.records:
            report.add(Problem("forged", "no record is signed with the key: the trail was made without it"))
        confirmed = _confirm_unsigned(scan, earlier, report)
        _compare_head(scan, beside, known, report)
        if signer.keyed and not no_head:
            _require_head(scan, raw, known, confirmed, report)
    return report


def _open_all(where: Path, stack: contextlib.ExitStack) -> tuple[list[Source], bytes | None]:
    """Every file of the trail and the head, at one moment.

    No lock is taken, since a process that may only read the trail must not delay its writers. The files are consistent
    if the head is the same before and after their sizes are read, since each record changes it.
    """
    for attempt in range(_ATTEMPTS):
        if attempt:
            # Random, so as not to run in step with a busy writer.
            time.sleep(random.uniform(0, _LONGEST_PAUSE))  # noqa: S311 - no secret
        full, before = rotated_files(where), _raw_head(where)
        try:
            current = where.open("rb")
        except FileNotFoundError:
            # A full file was renamed, and the next one does not exist yet.
            if (rotated_files(where), _raw_head(where), where.exists()) != (full, before, False):
                continue
            if not full:
                raise AuditError(f"there is no trail at {where}") from None
            return [Source(str(path), path.stat().st_size) for path in full], before
        # The file that is open now may be newer than the head that was read first.
        before = _raw_head(where)
        size = os.fstat(current.fileno()).st_size
        if _raw_head(where) == before and _is_there(current, where) and rotated_files(where) == full:
            stack.enter_context(current)
            return [
                *(Source(str(path), path.stat().st_size) for path in full),
                Source(str(where), size, current),
            ], before
        current.close()
    raise AuditError(
        f"the trail at {where} is rotated faster than it can be read; check it when less is written, or write larger "
        "files (max_bytes)"
    )


def _is_there(file: BinaryIO, where: Path) -> bool:
    with contextlib.suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(file.fileno()), where.stat())
    return False


def _raw_head(where: Path) -> bytes | None:
    with contextlib.suppress(FileNotFoundError):
        # More than a head may have, so that a longer file is not read as one.
        return head_path(where).read_bytes()[: HEAD_SIZE * 2]
    return None


def _judge_head_file(raw: bytes | None, signer: Signer, report: Report) -> Head | None:
    if raw is None:
        report.notes.append("the trail has no head file: records cut off the end can only be found with --head")
        return None
    head = Head.read(raw, signer)
    report.head, report.head_source = head, "file" if head else None
    if head is None:
        alg = Head.alg_of(raw)
        # A head with a key that was not given is handled with the trail, which is signed with it too.
        if alg in (None, signer.alg) or signer.keyed:
            why = "it is damaged" if alg in (None, signer.alg) else f"it is signed as {alg}, the key given is another"
            report.add(Problem("head", f"the head file cannot be trusted: {why}", file=report.path + ".head"))
    return head


class _Scan:
    """One pass over the trail in constant memory, which is enough for a sound trail."""

    def __init__(
        self, signer: Signer, sources: list[Source], report: Report, heads: Sequence[Head | KnownHead]
    ) -> None:
        self.signer = signer
        self.sources = sources
        self.report = report
        self.hashes = {head.hash for head in heads}
        self.numbers = {head.seq for head in heads}
        self.of_heads: set[tuple[int, str]] = set()
        """The number and the hash of each record with a hash or a number of these heads."""
        self.begun: str | None = None
        """The time of the first record, if that says that it begins a trail."""
        self.lost_heads: list[Row] = []
        """The events that say that the head was missing when a writer opened the trail."""
        self.changed_last = 0
        """The number of the last changed record."""
        self.last_unsigned: Link | None = None
        """The last record before the first signed one, if there is a key."""
        self.unkeyed_alg: str | None = None
        self.notes: list[str] = []

    def clean(self) -> bool:
        """Whether every line is a sound link to the one before."""
        report, fine = self.report, True
        prev: Link | None = None
        pruned: list[tuple[object, object]] = []
        first: Link | None = None
        for row, line in rows(self.signer, self.sources):
            link = row.link
            if link is None:
                fine = False
                continue
            if link.sound is None and not self.signer.keyed:
                self.unkeyed_alg = link.alg
            report.records += 1
            report.keyed = report.keyed or (link.keyed and link.sound is True)
            if prev is None:
                first = link
                if begins_trail(line):
                    record = json_object(line)
                    self.begun = None if record is None else str(record.get("timestamp"))[:40]
            elif link.seq != prev.seq + 1 or link.prev != prev.hash:
                fine = False
            if not link.sound or (self.signer.keyed and not link.keyed and report.keyed):
                fine = False
            if self.signer.keyed and not link.keyed and not report.keyed:
                self.last_unsigned = link
            if link.sound and (report.last is None or link.seq > report.last):
                report.last, report.last_hash = link.seq, link.hash
            if link.hash in self.hashes or link.seq in self.numbers:
                self.of_heads.add((link.seq, link.hash))
            if b'"event":' in line and link.sound and (event := event_of(line)) is not None:
                self._note(event, link.seq)
                if event["event"] == "head_lost":
                    self.lost_heads.append(row)
                if event["event"] == "pruned":
                    pruned.append((event.get("last"), event.get("last_hash")))
            prev = link
        if first is not None:
            report.first = first.seq
            begins = first.seq == 1 and first.prev == GENESIS
            if not begins and (first.seq - 1, first.prev) not in pruned:
                fine = False
            elif not begins:
                self.notes.append(f"records 1 to {first.seq - 1} were pruned by the server, as configured")
        return fine

    def _note(self, event: dict[str, object], seq: int) -> None:
        text = {
            "sealed": "an unfinished line of {bytes} bytes was sealed off: a writer died in the middle of it",
            "lost": "{records} record(s) could not be written before this one, and are not in the trail",
            "missing": "records {first} to {last} were gone when a writer came back",
            "key_added": "the trail got its key here: records up to {last} (hash {last_hash}) are not signed",
            "replaced": "record {record} was not the one that had been written",
            "head_lost": "the head file was missing or damaged here: the end before this record is not vouched for",
            "head_restored": "the head file was missing or damaged here; the running server knew the end",
            "beyond_head": "records {first} to {last} were in the file and not in the head when a writer came back",
        }.get(str(event["event"]))
        if text is not None and len(self.notes) < MAX_PROBLEMS:
            with contextlib.suppress(KeyError, IndexError, ValueError):
                self.notes.append(f"record {seq}: {text.format(**event)}")


def _compare_head(scan: _Scan, beside: Head | None, known: Head | KnownHead | None, report: Report) -> None:
    """Compare the end of the trail with the heads."""
    last = max(report.last or 0, scan.changed_last)
    if beside is not None:
        _against(scan, beside.seq, beside.hash, "the head file", report)
        beyond = last - beside.seq
        name = scan.sources[-1].name
        if beyond > 0 and not (beside.writing and beyond == 1):
            detail = (
                f"records {beside.seq + 1} to {last} are not covered by the head: something else added them, or "
                "the head could not be written"
            )
            report.add(Problem("inserted", detail, file=name, seq=beside.seq + 1))
        elif beyond > 0:
            report.notes.append(f"a writer died right after it wrote record {last}: the record is whole")
        elif len(scan.sources) > 1 and (scan.sources[-1].size, beside.size) == (0, scan.sources[-2].size):
            # The chain ends at the head, in the file before: this one is still empty.
            report.notes.append("a writer died right after it renamed a full file: the next one is still empty")
        elif not beside.writing and not report.problems and beside.size != scan.sources[-1].size:
            detail = f"the file is {scan.sources[-1].size} bytes long, and was {beside.size} when it was last written"
            report.add(Problem("changed", detail, file=name))
    if known is not None:
        report.head = Head(known.seq or 0, known.hash, 0)
        report.head_source = "given"
        _against(scan, known.seq, known.hash, "the head given", report)


def _confirm_unsigned(scan: _Scan, earlier: KnownHead | None, report: Report) -> int:
    """Report the records from before the key unless `earlier` names the last of them; the number of that one, or -1.

    The next server with the key goes on with whatever trail it finds, so the signed records after them prove nothing.
    """
    last = scan.last_unsigned
    if last is None or not report.keyed:
        return -1
    span = f"record {last.seq} is" if last.seq == report.first else f"records {report.first} to {last.seq} are"
    if earlier is not None and earlier.hash == last.hash and earlier.seq in (None, last.seq):
        report.notes.append(f"{span} from before the trail got its key, and confirmed by the head given for them")
        return last.seq
    if earlier is None:
        detail = (
            f"{span} not signed, so anybody who may write the file can have made them; if you added the key after "
            f"record {last.seq} with the hash {last.hash}, confirm that with --unsigned {last.seq}:{last.hash}"
        )
    else:
        detail = f"{span} not signed, and the head given for them is not that of record {last.seq}, {last.hash}"
    report.add(Problem("unsigned", detail, seq=last.seq))
    return -1


def _require_head(
    scan: _Scan, raw: bytes | None, known: Head | KnownHead | None, confirmed: int, report: Report
) -> None:
    """Report each place where records could have been cut off the end of a signed trail without a trace.

    Records up to number `confirmed` are known to be complete.
    """
    covered = confirmed
    if known is not None:
        covered = max(covered, next((seq for seq, digest in scan.of_heads if digest == known.hash), known.seq or 0))
    accept = "give a head that was kept elsewhere and covers that record (--head), or accept it (--no-head)"
    last = report.last or 0
    if raw is None and covered < last:
        report.add(
            Problem(
                "head",
                f"the signed trail has no head: records after {last or 'its beginning'} may have been cut "
                f"off; {accept}",
                file=scan.sources[-1].name,
                seq=last or None,
            )
        )
    for row in scan.lost_heads:
        before = (row.link.seq if row.link is not None else 0) - 1
        if covered < before:
            report.add(
                Problem(
                    "head",
                    f"the head was lost while no server had the trail open: records after {before} may have been cut "
                    f"off then; {accept}",
                    file=scan.sources[row.source].name,
                    line=row.line,
                    seq=before,
                )
            )


def _against(scan: _Scan, seq: int | None, digest: str, name: str, report: Report) -> None:
    last = max(report.last or 0, scan.changed_last)
    anew = "" if scan.begun is None else f"; this trail says that it began {scan.begun}"
    if seq == 0:
        if digest != GENESIS:
            report.add(Problem("head", f"{name} belongs to another trail"))
        return
    if seq is not None and seq > last:
        what = f"record {seq} is" if seq == last + 1 else f"records {last + 1} to {seq} are"
        detail = f"{what} missing from the end: {name} lists them{anew}"
        report.add(Problem("cut", detail, scan.sources[-1].name, None, last + 1))
        return
    if seq == report.last and digest == report.last_hash:
        return
    if any(hashed == digest and seq in (None, number) for number, hashed in scan.of_heads):
        return
    is_there = any(number == seq for number, _ in scan.of_heads)
    if seq is None:
        report.add(Problem("cut", f"no record has the hash of {name}: it was cut off the end, or replaced{anew}"))
    elif not is_there:
        if report.first is None or seq >= report.first:
            report.add(Problem("removed", f"{name} lists record {seq}, which is missing", seq=seq))
        else:
            report.notes.append(f"{name} is older than the first record that is kept")
    elif not any(problem.seq == seq for problem in report.problems):
        detail = f"{name} lists another record {seq}: it and the records after it were replaced{anew}"
        report.add(Problem("forged", detail, seq=seq))
