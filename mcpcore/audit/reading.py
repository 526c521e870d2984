"""Reads a trail for people: its records in order, filtered, and followed as they are added."""

from __future__ import annotations

import os
import re
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO, Final

from mcpcore.audit.chain import MAX_LINE, AuditError
from mcpcore.audit.files import rotated_files
from mcpcore.values.untrusted import json_object

Record = Mapping[str, Any]

_AGO = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\s*(s|min|m|h|d|w)(?:\s+ago)?\Z")
_PLAIN_WORD = re.compile(r"[A-Za-z0-9_.-]+", re.ASCII)
_UNITS: Final = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400, "w": 604800}
_POLL: Final = 0.2


def parse_time(text: str, *, now: datetime | None = None) -> datetime:
    """A moment: ISO 8601 (`2026-11-21`, `2026-11-21T08:15Z`), in UTC without a zone; or `30m`, `2h`, `7d` ago.

    Raises:
        ValueError: If `text` is neither.
    """
    text = text.strip()
    if match := _AGO.fullmatch(text):
        try:
            return (now or datetime.now(UTC)) - timedelta(seconds=float(match[1]) * _UNITS[match[2]])
        except OverflowError:
            return datetime.min.replace(tzinfo=UTC)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(
            f"{text!r} is not a time; give 2026-11-21, 2026-11-21T08:15Z, or 30m, 2h or 7d for a time before now"
        ) from None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def moment_of(record: Record) -> datetime | None:
    """The time of a record in UTC, or None if it has none."""
    stamp = record.get("timestamp")
    if not isinstance(stamp, str):
        return None
    try:
        moment = datetime.fromisoformat(stamp)
        # At either end of the calendar, a forged time has no equivalent in UTC, which is an OverflowError.
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


_SURFACES: Final = ("tool", "resource", "prompt", "completion", "http")


def what_failed(record: Record) -> str:
    """The tool of a record, or the resource, the prompt or the completion."""
    for kind in _SURFACES:
        value = record.get(kind)
        if isinstance(value, str):
            return value if kind == "tool" else f"{kind} {value}"
    return "-"


def surfaces_of(record: Record) -> list[str]:
    """The names of a record that `--tool` matches."""
    # As text: a forged line may have a value of any type.
    return [str(value) for kind in _SURFACES if (value := record.get(kind)) is not None]


def text_of(record: Record, key: str) -> str | None:
    """A field of a record as text, or None without it."""
    value = record.get(key)
    return None if value is None else str(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """Filters for records; a record must match all of them."""

    tools: frozenset[str] = frozenset()
    reasons: frozenset[str] = frozenset()
    codes: frozenset[str] = frozenset()
    ident: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    def wants(self, record: Record) -> bool:
        """Whether the record matches."""
        if self.tools and self.tools.isdisjoint(surfaces_of(record)):
            return False
        if self.reasons and text_of(record, "reason") not in self.reasons:
            return False
        if self.codes and self.codes.isdisjoint((text_of(record, "name"), text_of(record, "code"))):
            return False
        if self.ident is not None and not (text_of(record, "correlationId") or "").startswith(self.ident):
            return False
        if self.since is None and self.until is None:
            return True
        moment = moment_of(record)
        if moment is None:
            return False
        return (self.since is None or moment >= self.since) and (self.until is None or moment < self.until)

    @property
    def needle(self) -> bytes:
        """Bytes that each matching line contains: finding them is much faster than parsing the line as JSON."""
        for words in ((self.ident or "",), self.tools, self.reasons):
            # A word that JSON never escapes.
            if len(words) == 1 and _PLAIN_WORD.fullmatch(word := next(iter(words))):
                return word.encode("ascii")
        return b""


def parse_line(line: bytes) -> Record | None:
    """The record of a line; None if it is unfinished or not a record."""
    if not line.endswith(b"\n"):
        return None
    value = json_object(line)
    return value if value is not None and isinstance(value.get("seq"), int) else None


def read(path: Path, query: Query | None = None) -> Iterator[Record]:
    """Every record of the trail at `path`, oldest first; lines that are not records are left out.

    A file that is rotated during the reading is read once; one that is deleted is left out.

    Raises:
        AuditError: If there is no trail.
        OSError: If it cannot be read.
    """
    for _, file in _open_files(path):
        yield from _wanted(file, query)


def require_records(path: Path) -> None:
    """Check that the file at `path` can be a trail, which is empty or has a record.

    Raises:
        AuditError: If it has lines, and none of them is a record.
        OSError: If it cannot be read.
    """
    empty = True
    for _, _, line in lines(path):
        if parse_line(line + b"\n") is not None:
            return
        empty = False
    if not empty:
        raise AuditError(f"{path} is no audit trail: none of its lines is a record")


def lines(path: Path, *, rotated: bool = True) -> Iterator[tuple[str, int, bytes]]:
    """Every finished line of the trail at `path`, oldest first, with its file and number, and without its newline.

    A line that is longer than any writer makes it is cut. Without `rotated`, only this one file is read.

    Raises:
        AuditError: If there is no trail.
        OSError: If it cannot be read.
    """
    for name, file in _open_files(path, rotated=rotated):
        yield from _lines(file, str(name))


def _open_files(path: Path, *, rotated: bool = True) -> Iterator[tuple[Path, BinaryIO]]:
    """Each file of the trail at `path`, open, oldest first; without `rotated`, this one alone."""
    current, full = _files(path)
    try:
        for name in full if rotated else ():
            file = _opened(name)
            if file is not None:
                with file:
                    yield name, file
        if current is not None:
            yield path, current
    finally:
        if current is not None:
            current.close()


def _lines(file: BinaryIO, name: str) -> Iterator[tuple[str, int, bytes]]:
    number = 0
    while line := file.readline(MAX_LINE + 1):
        number += 1
        piece = line
        while len(piece) > MAX_LINE and not piece.endswith(b"\n"):
            piece = file.readline(MAX_LINE + 1)
        if not piece.endswith(b"\n"):
            return  # perhaps it is just being written
        yield name, number, line.rstrip(b"\r\n")


def last(path: Path, query: Query, count: int) -> list[Record]:
    """The last `count` records that match, oldest first.

    Raises:
        AuditError: If there is no trail.
        OSError: If it cannot be read.
    """
    current, full = _files(path)
    newest: list[Record] = []
    if current is not None:
        with current:
            newest = _last_of(current, query, count)
    return _with_older(newest, full, query, count)


def follow(path: Path, query: Query, *, count: int = 0, idle: Callable[[], bool] = lambda: True) -> Iterator[Record]:
    """The last `count` records that match, then new ones, through rotation, as long as `idle` returns True.

    Raises:
        OSError: If the trail cannot be read.
    """
    file: BinaryIO | None = None
    try:
        file, full = _files(path, must_exist=False)
        seen = max((int(old.name[-12:]) for old in full), default=0)
        newest: deque[Record] = deque(maxlen=count)
        # The same open file is read on from its end, so no record is missed.
        for record in _records(file) if file is not None else ():
            seen = max(seen, record["seq"])
            if query.wants(record):
                newest.append(record)
        yield from _with_older([*newest], full, query, count)
        while True:
            if file is None or not _still_there(file, path):
                # Rotated, perhaps more than once: read the rest of this file, then the full files after it.
                for record in _missed(file, path, seen):
                    seen = record["seq"]
                    if query.wants(record):
                        yield record
                if file is not None:
                    file.close()
                file = _opened(path)
                if file is not None and any(int(old.name[-12:]) > seen for old in rotated_files(path)):
                    # Rotated again in between: the full files come before this one.
                    file.close()
                    file = None
                    continue
            if file is not None:
                for record in _records(file):
                    seen = max(seen, record["seq"])
                    if query.wants(record):
                        yield record
            if not idle():
                return
            time.sleep(_POLL)
    finally:
        if file is not None:
            file.close()


def _files(path: Path, *, must_exist: bool = True) -> tuple[BinaryIO | None, list[Path]]:
    """The newest file, open, and the full ones before it."""
    current, full = _opened(path), rotated_files(path)
    while current is None and path.exists():
        # Rotated since the check: the next file exists by now.
        current, full = _opened(path), rotated_files(path)
    if current is None:
        if not full and must_exist:
            raise AuditError(f"there is no trail at {path}")
        return None, full
    here = os.fstat(current.fileno())
    for at, old in enumerate(full):
        with suppress(FileNotFoundError):
            if os.path.samestat(old.stat(), here):
                # Rotated in between; the files after it are not needed.
                return current, full[:at]
    return current, full


def _wanted(file: BinaryIO, query: Query | None) -> Iterator[Record]:
    for record in _records(file, needle=b"" if query is None else query.needle):
        if query is None or query.wants(record):
            yield record


def _with_older(newest: list[Record], full: list[Path], query: Query, count: int) -> list[Record]:
    """`newest`, preceded by the last records of full files, up to `count`."""
    records = newest
    for old in reversed(full):
        if len(records) >= count:
            break
        file = _opened(old)
        if file is not None:
            with file:
                records = [*_last_of(file, query, count - len(records)), *records]
    return records


def _last_of(file: BinaryIO, query: Query, count: int) -> list[Record]:
    """The last `count` matching records of a file."""
    return list(deque(_wanted(file, query), maxlen=count))


def _missed(file: BinaryIO | None, path: Path, seen: int) -> Iterator[Record]:
    """The records after number `seen` in files that are no longer written."""
    if file is not None:
        for record in _records(file):
            seen = record["seq"]
            yield record
    for old in rotated_files(path):
        full = _opened(old) if int(old.name[-12:]) > seen else None
        if full is not None:
            with full:
                for record in _records(full):
                    seen = record["seq"]
                    yield record


def _opened(path: Path) -> BinaryIO | None:
    """The open file, or None if it does not exist: it may be rotated or deleted at any moment."""
    try:
        return path.open("rb")
    except FileNotFoundError:
        return None


def _still_there(file: BinaryIO, path: Path) -> bool:
    """Whether the open file is the one that the path names, or there is no other yet."""
    here = os.fstat(file.fileno())
    if here.st_size < file.tell():
        # Cut, so that what was read is no longer there: go on at its end.
        file.seek(0, 2)
    try:
        there = path.stat()
    except FileNotFoundError:
        return True
    return (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)


def _records(file: BinaryIO, *, needle: bytes = b"") -> Iterator[Record]:
    while True:
        start = file.tell()
        line = file.readline(MAX_LINE + 1)
        if not line.endswith(b"\n") and len(line) <= MAX_LINE:  # also at the end
            # Unfinished: perhaps it is just being written.
            file.seek(start)
            return
        record = parse_line(line) if needle in line else None
        if record is not None:
            yield record
