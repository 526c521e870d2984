"""The record of a failure as JSON: without secrets, bounded, and valid for any input."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from mcpcore.audit.chain import RESERVED
from mcpcore.redaction import Clean, Searched, is_clean, redact, redact_cut

MAX_RECORD: Final = 256 * 1024
"""The longest record, in bytes of JSON; a longer one loses its largest parts and lists them."""

_DEPTH: Final = 40
_WIDTH: Final = 10_000
_SEARCHED: Final = ("exception", "traceback")
_SHED: Final = ("traceback", "exception", "arguments", "data", "context")
_SUMMARY: Final = ("timestamp", "server", "tool", "resource", "prompt", "surface", "code", "name", "reason",
                   "message", "correlationId", "outcome", "count")  # fmt: skip
_SHORT: Final = 2000


dumps: Final = json.JSONEncoder(separators=(",", ":"), allow_nan=False, check_circular=True).encode


def now() -> str:
    """The time in UTC, ISO 8601 with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def encode(record: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """The record without secrets, and its JSON: one line of ASCII, at most `MAX_RECORD` long.

    Never raises because of a value in the record: a value that JSON cannot express is described in words.
    """
    value = dict(record)
    if not RESERVED.isdisjoint(value):
        value = {f"{key}_" if key in RESERVED else key: item for key, item in value.items()}
    if "timestamp" not in value:
        value["timestamp"] = now()
    try:
        text = dumps(value)
    except (TypeError, ValueError, RecursionError):
        value = _plain(value, _DEPTH)
        text = dumps(value)
    # Shortened before the search for secrets, which takes as long as the record is.
    if len(text) > MAX_RECORD:
        value, text = _shortened(value, text)
    clean = is_clean(value)
    if not clean:
        value = redact(value)
    for key in _SEARCHED:
        if (kind := type(value.get(key))) is Clean:
            value[key] = str.__str__(value[key])
        elif kind is Searched:
            value[key] = dict(value[key])
    if not clean:
        text = dumps(value)
    return (value, text) if len(text) <= MAX_RECORD else _shortened(value, text)


def encode_event(event: str, **facts: object) -> str:
    """An event of the trail itself, as the JSON of a record."""
    return dumps({"event": event, "timestamp": now(), **facts})


def _shortened(value: dict[str, Any], text: str) -> tuple[dict[str, Any], str]:
    """The record without its largest parts, removed one by one until it fits."""
    value = dict(value)
    dropped: list[str] = []
    for part in _SHED:
        if len(text) <= MAX_RECORD:
            break
        if part in value:
            item = value.pop(part)
            if part == "exception" and isinstance(item, dict):
                value[part] = {key: _cut(item[key]) for key in ("type", "message") if isinstance(item.get(key), str)}
            dropped.append(part)
            value["dropped"] = dropped
            text = dumps(value)
    if len(text) > MAX_RECORD:
        rest = sorted(set(value) - set(_SUMMARY) - {"dropped"})
        value = {key: _cut(item) for key, item in value.items() if key in _SUMMARY}
        value["dropped"] = [_cut(part) for part in (*dropped, *rest)][:32]
        text = dumps(value)
    return value, text


def _cut(item: Any) -> Any:
    if isinstance(item, str):
        return item if len(item) <= _SHORT else redact_cut(item, _SHORT)
    if item is None or isinstance(item, bool | float) or (isinstance(item, int) and abs(item) < 2**63):
        return item
    return "..."


def _plain(value: Any, depth: int) -> Any:
    """`value` as JSON; values that JSON cannot express are described."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int(value) if abs(value) < 2**63 else hex(value)[:_SHORT]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(float(value))
    if depth == 0:
        return "... (nested too deep, or within itself)"
    try:
        if isinstance(value, Mapping):
            return {_key(key): _plain(item, depth - 1) for key, item in list(value.items())[:_WIDTH]}
        if isinstance(value, list | tuple | set | frozenset):
            return [_plain(item, depth - 1) for item in list(value)[:_WIDTH]]
        return str(value)
    except Exception as exc:  # noqa: BLE001 - an object's methods may raise anything, and the record must be made
        return f"<{type(value).__name__}, unreadable: {type(exc).__name__}>"


def _key(key: Any) -> str:
    if isinstance(key, str):
        return str.__str__(key)
    plain = _plain(key, 1)
    return plain if isinstance(plain, str) else dumps(plain)
