"""The record of a failure as JSON: without secrets, bounded, and valid for any input."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from pydantic_core import to_json

from mcpcore.audit.chain import RESERVED
from mcpcore.values.jsonable import to_json_object
from mcpcore.wire.envelope_builder import now
from mcpcore.wire.redaction import MAX_KEY, Clean, Searched, is_clean_json, redact, redact_cut, redact_json

MAX_RECORD: Final = 256 * 1024
"""The longest record, in bytes of JSON; a longer one loses its largest parts and lists them."""

_DEPTH: Final = 40
_SEARCHED: Final = frozenset({"exception", "traceback"})
_SHED: Final = ("traceback", "exception", "arguments", "data", "context")
_SUMMARY: Final = ("timestamp", "server", "tool", "resource", "prompt", "surface", "code", "name", "reason",
                   "message", "correlationId", "outcome", "count")  # fmt: skip
_SHORT: Final = 2000


dumps: Final = json.JSONEncoder(separators=(",", ":"), allow_nan=False, check_circular=True).encode


def encode(record: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """The record without secrets, and its JSON: one line of ASCII, at most `MAX_RECORD` long.

    Never raises because of a value in the record: a value that JSON cannot express is described in words.
    """
    value = dict(record)
    if not RESERVED.isdisjoint(value):
        value = {f"{key}_" if key in RESERVED else key: item for key, item in value.items()}
    if "timestamp" not in value:
        value["timestamp"] = now()
    clean = redact_json(value, MAX_RECORD)
    if clean is None:
        # Shortened before the search for secrets, which takes as long as the record is.
        clean = redact(_json(value))
    for key in _SEARCHED.intersection(clean):
        if (kind := type(clean[key])) is Clean:
            clean[key] = str.__str__(clean[key])
        elif kind is Searched:
            clean[key] = dict(clean[key])
    try:
        line = to_json(clean)
        text = (line if line.isascii() else to_json(clean, ensure_ascii=True)).decode("ascii")
    except ValueError:
        # Half of a surrogate pair, or nested too deep.
        clean = _json(clean)
        text = dumps(clean)
    return (clean, text) if len(text) <= MAX_RECORD else _shortened(clean, text)


def encode_failure(record: Mapping[str, Any], details: str) -> str | None:
    """The same JSON of a record that has only the parts of an envelope; None if all of it has to be searched.

    `details` is the data as JSON without escapes. The parts that all failures of a reason have in common are searched
    and written once.
    """
    message, context, surface, retry = record["message"], record.get("context"), record["surface"], record["retry"]
    own = f'"message":"{message}"'
    if context:
        own += f',"context":{dumps(context)}'
    if details:
        own += f',"data":{details}'
    target, reason = record[surface], record["reason"]
    if (
        not own.isascii()
        or not own.isprintable()
        or "\\" in own
        or '"' in message
        or not is_clean_json(own)
        or len(target or "") + len(reason or "") > MAX_KEY  # long ones must not stay in memory
    ):
        return None
    facts = record["code"], record["name"], (*retry.items(),), record["server"], record.get("effects")
    common = _common(surface, target, reason, *facts)
    if common is None or len(own) > MAX_RECORD // 2:
        return None
    time, ident = record["timestamp"], record["correlationId"]
    return f'{{"timestamp":"{time}",{common[0]},"correlationId":"{ident}",{common[1]},{own}}}'


@lru_cache(maxsize=1_000)
def _common(
    surface: str,
    target: str | None,
    reason: str | None,
    code: int,
    name: str,
    retry: tuple[tuple[str, Any], ...],
    server: str,
    effects: str | None,
) -> tuple[str, str] | None:
    """The JSON before the id of a record and after it, up to the message; None if it may hold a secret."""
    known = {} if effects is None else {"effects": effects}
    parts = (
        {"surface": surface, "code": code, "name": name, "retry": dict(retry)},
        {"server": server, **known, surface: target, "reason": reason},
    )
    before, after = (dumps(part)[1:-1] for part in parts)
    return (before, after) if "\\" not in before + after and is_clean_json(f"{before},{after}") else None


def _json(value: dict[str, Any]) -> dict[str, Any]:
    """Any record as plain JSON that is not too long."""
    try:
        text = dumps(value)
    except (TypeError, ValueError, RecursionError):
        value = to_json_object(value, depth=_DEPTH)
        text = dumps(value)
    return value if len(text) <= MAX_RECORD else _shortened(value, text)[0]


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
