"""Reads logs that an OpenTelemetry collector exported as JSON.

The `file` exporter writes one object a line, in the JSON encoding of OTLP: `{"resourceLogs": [{"resource": …,
"scopeLogs": [{"scope": …, "logRecords": […]}]}]}`. Records of other programs in the same file are counted and left out.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mcpcore.fleet.rows import Line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

SCOPE: Final = "mcpcore"
MAX_BATCH: Final = 64 << 20
"""The longest line of an export, in bytes; a longer one is reported and skipped."""

_MAX_ATTRIBUTES: Final = 64
_MAX_ATTRIBUTE: Final = 1_000
_DEPTH: Final = 40


class Unreadable(NamedTuple):
    """A line of an export that cannot be read."""

    file: str
    number: int
    detail: str


class Foreign(NamedTuple):
    """Records of other programs in a line."""

    records: int


def looks_exported(start: bytes) -> bool:
    """Whether a file that begins with `start` is an export of a collector."""
    squeezed = b"".join(start[:200].split())
    return squeezed.startswith((b'{"resourceLogs"', b'{"resourceSpans"', b'{"resourceMetrics"', b'{"resourceProfiles"'))


def read(path: Path) -> Iterator[Line | Unreadable | Foreign]:
    """The records of mcpcore in an export, with the attributes of their processes.

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
                yield Unreadable(name, number, f"the line is longer than {MAX_BATCH >> 20} MiB, and was skipped")
                continue
            if not raw.strip():
                continue
            try:
                batch = json.loads(raw)
            except (ValueError, RecursionError):
                if raw.endswith(b"\n"):
                    yield Unreadable(name, number, "the line is not JSON")
                else:
                    yield Unreadable(name, number, "the last line is unfinished: load the file again when it is whole")
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
    items = value.get(key) if isinstance(value, dict) else None
    for item in items if isinstance(items, list) else ():
        if isinstance(item, dict):
            yield item


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
