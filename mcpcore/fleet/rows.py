"""Turns the line of a record into a row of the table, in the format RowBinary.

The columns that filters and counts need are computed here by the functions that read files, so that both agree about
any line, forged ones included.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import sha256
from struct import Struct
from typing import TYPE_CHECKING, Final, NamedTuple

from mcpcore.audit.kinds import REFUSED, breach_count_of, breach_kinds_of, count_of, is_lost, missing_of
from mcpcore.audit.reading import moment_of, surfaces_of, text_of, what_failed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Literal, TypeAlias

    from mcpcore.audit.chain import Link
    from mcpcore.audit.reading import Record

    Proof: TypeAlias = Literal["signed", "hashed", "unchecked", "broken"]

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_LATEST: Final = (datetime(2106, 1, 1, tzinfo=UTC) - EPOCH) // _MICROSECOND
_MAX_INT: Final = 2**63 - 1
_SHORT: Final = 64
_INT64: Final = Struct("<q").pack
_UINT32: Final = Struct("<I").pack
_COUNTS: Final = Struct("<IQ").pack
_EMPTY: Final = b"\0"
_NULL: Final = b"\1"


class Line(NamedTuple):
    """One line of a trail or of an export, without its newline, and its place."""

    raw: bytes
    file: str
    number: int
    resource: Mapping[str, str] = {}
    """Attributes of the process that made it."""


def parse(raw: bytes, *, chained: bool) -> Record | None:
    """The record of a line, as `reading` parses it; one that is not `chained` needs no number."""
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and (not chained or isinstance(value.get("seq"), int)) else None


def proof_of(link: Link | None) -> Proof:
    """What the hash of a line proves."""
    if link is None or link.sound is None:
        return "unchecked"
    if not link.sound:
        return "broken"
    return "signed" if link.keyed else "hashed"


def microseconds(moment: datetime) -> int:
    """The microseconds from 1970 to `moment`."""
    return (moment - EPOCH) // _MICROSECOND


def moment(at: int | None) -> datetime | None:
    """The moment that `microseconds` turned into a number."""
    return None if at is None else EPOCH + timedelta(microseconds=at)


def key_time(at: int | None) -> int:
    """The time in the key of the table, in microseconds: within the years that every ClickHouse type can express."""
    return 0 if at is None else min(max(at, 0), _LATEST)


def encode(line: Line, record: Record | None, *, trail: str, seq: int, proof: Proof) -> bytes:
    """The row of a line; of a damaged line, which has no record, the row keeps only the text."""
    if record is None:
        record, kind, found = {}, "damaged", None
    else:
        found = moment_of(record)
        kind = _kind(record)
    at = None if found is None else microseconds(found)
    event = kind in {"event", "damaged"}
    broken = () if event else breach_kinds_of(record)
    return b"".join(
        (
            sha256(line.raw).digest(),
            _INT64(key_time(at)),
            _NULL if at is None else b"\0" + _INT64(at),
            _name(trail),
            _INT64(min(max(seq, -_MAX_INT), _MAX_INT)),
            _name(kind),
            _name(what_failed(record)),
            _list(surfaces_of(record)),
            _nullable(text_of(record, "reason")),
            _nullable(text_of(record, "name") or None),
            _nullable(text_of(record, "code")),
            _text(text_of(record, "correlationId") or ""),
            _name(text_of(record, "server") or ""),
            _COUNTS(0 if event else count_of(record), missing_of(record)),
            _list(broken) if broken else _EMPTY,
            _UINT32(breach_count_of(record) if broken else 0),
            _name(proof),
            _map(line.resource) if line.resource else _EMPTY,
            _bytes(line.raw),
        )
    )


def _kind(record: Record) -> str:
    if "event" in record:
        return "event"
    if is_lost(record):
        return "lost"
    return "refused" if record.get("outcome") == REFUSED else "failure"


def _length(number: int) -> bytes:
    """LEB128, as the format has the length of a text or a list."""
    parts = bytearray()
    while number >= 0x80:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    parts.append(number)
    return bytes(parts)


def _bytes(value: bytes) -> bytes:
    return _length(len(value)) + value


def _text(value: str) -> bytes:
    # Half of a surrogate pair, which a line may contain as an escape, comes back as it is.
    return _bytes(value.encode("utf-8", "surrogatepass"))


@lru_cache(maxsize=4096)
def _short(value: str | None) -> bytes:
    return _NULL if value is None else b"\0" + _text(value)


def _nullable(value: str | None) -> bytes:
    # Most records share their texts, and a long one is not worth keeping.
    return _short(value) if value is None or len(value) <= _SHORT else b"\0" + _text(value)


def _name(value: str) -> bytes:
    return _nullable(value)[1:]


def _list(values: Sequence[str]) -> bytes:
    return _length(len(values)) + b"".join(map(_name, values))


def _map(values: Mapping[str, str]) -> bytes:
    return _length(len(values)) + b"".join(_name(key) + _name(value) for key, value in values.items())
