"""A failure's record as JSON: redacted, bounded, and whole whatever it was given."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final

from mcpcore.audit.chain import RESERVED
from mcpcore.redaction import Clean, Searched, are_known, may_hold_secret, redact, redact_cut, redact_plain

MAX_RECORD: Final = 256 * 1024
"""The longest record (bytes of JSON); a longer one loses its bulkiest parts and says which."""

_DEPTH: Final = 40
_WIDTH: Final = 10_000
_SEARCHED: Final = ("exception", "traceback")
_SEARCHED_FROM: Final = b'"server":'
_SHED: Final = ("traceback", "exception", "arguments", "data", "context")
_SUMMARY: Final = ("timestamp", "server", "tool", "resource", "prompt", "surface", "code", "name", "reason",
                   "message", "correlationId", "outcome", "count")  # fmt: skip
_SHORT: Final = 2000


class JsonRecord(dict[str, Any]):
    """A record of JSON alone, its numbers finite and such that a double can hold them, and no key of it reserved.

    What comes before `server` can hold no secret, and `exception` and `traceback` were searched as they were made.
    """

    __slots__ = ()


dumps: Final = json.JSONEncoder(separators=(",", ":"), allow_nan=False, check_circular=True).encode


def now() -> str:
    """The time in UTC, ISO 8601 with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def encode(record: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """The record without secrets, and its JSON: one line of ASCII, at most `MAX_RECORD` long.

    Never raises for what the record holds: what JSON cannot say is said in words.
    """
    if type(record) is JsonRecord and (made := _encoded_at_once(record)) is not None:
        return made
    value = dict(record)
    if not RESERVED.isdisjoint(value):
        value = {f"{key}_" if key in RESERVED else key: item for key, item in value.items()}
    if "timestamp" not in value:
        value["timestamp"] = now()
    clean = redact_plain(value)
    if clean is None:
        return _encoded(value)
    for key in _SEARCHED:
        # A text and a mapping like any other from here on: JSON takes longer over kinds of their own.
        if (kind := type(clean.get(key))) is Clean:
            clean[key] = str.__str__(clean[key])
        elif kind is Searched:
            clean[key] = dict(clean[key])
    to_json = get_ready()
    try:
        line = to_json(clean)
        text = (line if line.isascii() else to_json(clean, ensure_ascii=True)).decode("ascii")
    except (ValueError, TypeError):
        # Half of a surrogate pair; or a pydantic that cannot write ASCII.
        text = dumps(clean)
    return (clean, text) if len(text) <= MAX_RECORD else _shortened(clean, text)


def _encoded_at_once(record: JsonRecord) -> tuple[dict[str, Any], str] | None:
    """`encode` for a record that holds no secret, as nearly all; None where that takes a closer look.

    It is searched as JSON, all of it at once: to search its texts one by one takes longer than to encode them.
    """
    data = record.get("data")
    if data is not None and not are_known(data):
        return None
    clean = dict(record)
    trace, exposed = clean.pop("traceback", None), clean.pop("exception", None)
    to_json = get_ready()
    try:
        line = to_json(clean)
        if may_hold_secret(line[line.index(_SEARCHED_FROM) :]):
            return None
        if not line.isascii():
            line = to_json(clean, ensure_ascii=True)
        if exposed is not None:
            clean["exception"] = exposed = dict(exposed)
            line = b'%b,"exception":%b}' % (line[:-1], _ascii(exposed, to_json))
        if trace is not None:
            clean["traceback"] = trace = str.__str__(trace)
            line = b'%b,"traceback":%b}' % (line[:-1], _ascii(trace, to_json))
    except (ValueError, TypeError):
        return None
    return (clean, line.decode("ascii")) if len(line) <= MAX_RECORD else None


def _ascii(value: object, to_json: Callable[..., bytes]) -> bytes:
    text = to_json(value)
    return text if text.isascii() else to_json(value, ensure_ascii=True)


@cache
def get_ready() -> Callable[..., bytes]:
    """Load what writes JSON quickly: a server has it anyway, and whoever only reads trails can do without."""
    from pydantic_core import to_json

    return to_json


def _encoded(value: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """`encode` for a value of any kind and length."""
    try:
        text = dumps(value)
    except (TypeError, ValueError, RecursionError):
        value = _plain(value, _DEPTH)
        text = dumps(value)
    # Shortened before it is searched for secrets, which would take as long as the record is.
    if len(text) > MAX_RECORD:
        value, text = _shortened(value, text)
    value = redact(value)
    text = dumps(value)
    return (value, text) if len(text) <= MAX_RECORD else _shortened(value, text)


def encode_event(event: str, **facts: object) -> str:
    """What the trail itself has to note, as the JSON of a record."""
    return dumps({"event": event, "timestamp": now(), **facts})


def _shortened(value: dict[str, Any], text: str) -> tuple[dict[str, Any], str]:
    """Without its bulkiest parts, one after the other until it fits."""
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
    """`value` as JSON can say it; what it cannot is named."""
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
    except Exception as exc:  # noqa: BLE001 - whatever an object's own methods raise, its record must be made
        return f"<{type(value).__name__}, unreadable: {type(exc).__name__}>"


def _key(key: Any) -> str:
    if isinstance(key, str):
        return str.__str__(key)
    plain = _plain(key, 1)
    return plain if isinstance(plain, str) else dumps(plain)
