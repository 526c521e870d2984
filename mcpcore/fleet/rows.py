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
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

from mcpcore.audit.diagnosis import Problem
from mcpcore.audit.kinds import REFUSED, breach_count_of, breach_kinds_of, count_of, is_lost, missing_of
from mcpcore.audit.reading import Record, moment_of, surfaces_of, text_of, what_failed
from mcpcore.audit.stats import EPOCH
from mcpcore.values.untrusted import json_object, list_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mcpcore.audit.chain import Link

    Proof: TypeAlias = Literal["signed", "hashed", "unchecked", "broken"]
    from pathlib import Path


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
    value = json_object(raw)
    return value if value is not None and (not chained or isinstance(value.get("seq"), int)) else None


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
        record, kind, moment_of_record = {}, "damaged", None
    else:
        moment_of_record = moment_of(record)
        kind = _kind(record)
    at = None if moment_of_record is None else microseconds(moment_of_record)
    event = kind in {"event", "damaged"}
    broken = () if event else breach_kinds_of(record)
    return b"".join(
        (
            sha256(line.raw).digest(),
            _INT64(key_time(at)),
            _NULL if at is None else b"\0" + _INT64(at),
            _name(trail),
            # A forged number may be of any size.
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
    # The first byte says that there is a value, which such a column does not ask.
    return _nullable(value)[1:]


def _list(values: Sequence[str]) -> bytes:
    return _length(len(values)) + b"".join(map(_name, values))


def _map(values: Mapping[str, str]) -> bytes:
    return _length(len(values)) + b"".join(_name(key) + _name(value) for key, value in values.items())


SCOPE: Final = "mcpcore"
MAX_BATCH: Final = 64 << 20
"""The longest line of an export, in bytes; a longer one is reported and skipped."""

_MAX_ATTRIBUTES: Final = 64
_MAX_ATTRIBUTE: Final = 1_000
_DEPTH: Final = 40


class Foreign(NamedTuple):
    """Records of other programs in a line."""

    records: int


def looks_exported(start: bytes) -> bool:
    """Whether a file that begins with `start` is an export of a collector."""
    squeezed = b"".join(start[:200].split())
    return squeezed.startswith((b'{"resourceLogs"', b'{"resourceSpans"', b'{"resourceMetrics"', b'{"resourceProfiles"'))


def read_export(path: Path) -> Iterator[Line | Problem | Foreign]:
    """The records of mcpcore in an export, with the attributes of their processes, and the lines that cannot be read.

    Raises:
        OSError: If the file cannot be read.
    """
    name = str(path)
    with path.open("rb") as file:
        number = 0
        while raw := file.readline(MAX_BATCH):
            number += 1
            if len(raw) == MAX_BATCH and not raw.endswith(b"\n"):
                while (rest := file.readline(MAX_BATCH)) and not rest.endswith(b"\n"):
                    pass
                yield Problem(
                    "changed", f"the line is longer than {MAX_BATCH >> 20} MiB, and was skipped", name, number
                )
                continue
            if not raw.strip():
                continue
            try:
                batch = json.loads(raw)
            except (ValueError, RecursionError):
                unfinished = "the last line is unfinished: load the file again when it is whole"
                detail = "the line is not JSON" if raw.endswith(b"\n") else unfinished
                yield Problem("changed", detail, name, number)
                continue
            yield from _records(batch, name, number)


def _records(batch: Any, name: str, number: int) -> Iterator[Line | Foreign]:
    foreign = 0
    for resource_logs in _objects(batch, "resourceLogs"):
        resource = _attributes(resource_logs.get("resource"))
        for scope_logs in _objects(resource_logs, "scopeLogs"):
            scope = scope_logs.get("scope")
            ours = isinstance(scope, dict) and scope.get("name") == SCOPE
            for record in _objects(scope_logs, "logRecords"):
                if ours:
                    yield Line(_body(record.get("body")), name, number, resource)
                else:
                    foreign += 1
    if foreign:
        yield Foreign(foreign)


def _objects(value: Any, key: str) -> Iterator[Mapping[str, Any]]:
    return (item for item in list_in(value, key) if isinstance(item, dict))


def _body(body: Any) -> bytes:
    """The line of the record; a body with a structure is written as one."""
    value = _value(body, 0)
    # An exporter may have added the newline of a file.
    text = value.rstrip("\r\n") if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
    return text.replace("\n", " ").encode("utf-8", "surrogatepass")


def _value(value: Any, depth: int) -> Any:
    """The value of an `AnyValue` (opentelemetry/proto/common/v1/common.proto)."""
    if not isinstance(value, dict) or depth > _DEPTH:
        return None
    match next(iter(value.items()), None):
        case ("stringValue" | "boolValue" | "doubleValue" | "bytesValue", plain):
            return plain
        case ("intValue", number):  # 64-bit integers are texts in the JSON of protobuf
            try:
                return int(number)
            except (TypeError, ValueError):
                return None
        case ("arrayValue", array):
            return [_value(item, depth + 1) for item in _objects(array, "values")]
        case ("kvlistValue", pairs):
            return {str(pair.get("key")): _value(pair.get("value"), depth + 1) for pair in _objects(pairs, "values")}
    return None


def _attributes(resource: Any) -> dict[str, str]:
    attributes: dict[str, str] = {}
    for pair in _objects(resource, "attributes"):
        if len(attributes) >= _MAX_ATTRIBUTES:
            break
        value = _value(pair.get("value"), 0)
        if value is not None:
            text = value if isinstance(value, str) else json.dumps(value)
            attributes[str(pair.get("key"))[:_MAX_ATTRIBUTE]] = text[:_MAX_ATTRIBUTE]
    return attributes
