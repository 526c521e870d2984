"""Removes secrets from messages to clients, but only those whose shape alone shows a secret.

In a log, a harmless word after the name of a secret may be hidden. A client must get it: `{"password": "too short"}` is
the advice that it needs. Therefore rows of the table that rely on a name are not used here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mcpcore.values.jsonable import Cut, Note, to_json, unused
from mcpcore.wire.redaction.structures import LONGEST_WORD, may_hold_shape, redact_shapes, texts_of

_SHORTEST: Final = 14
"""The shortest token: a JSON web token of `eyJ` and two times five characters, with a dot."""

_TOGETHER: Final = 100_000
"""Characters that are searched together. Larger values are searched part by part, up to the limit of the reader."""


def may_hold_secret(*parts: Any) -> bool:
    """Whether a text or a key in these JSON values may contain an unmistakable secret.

    All parts of a failure are searched together, which is three times as fast as searching each. Large values and
    values that are not JSON are not searched: for them the answer is True.
    """
    if _TEXT_OR_NONE.issuperset(map(type, parts)):  # as nearly all are
        text = "\0".join(filter(None, parts))
        return len(text) > _TOGETHER or may_hold_shape(text)
    texts_and_keys = texts_of([*parts], _TOGETHER)
    if texts_and_keys is None:
        return True
    texts, keys = texts_and_keys
    return may_hold_shape("\0".join((*texts, *keys)))


_TEXT_OR_NONE: Final = frozenset({str, type(None)})


def redact_message(text: str, limit: int) -> str:
    """`text` without unmistakable secrets, for a reader who gets `limit` characters of it.

    A longer text is searched up to the limit and a little further, so that a secret at the cut is hidden. A text
    without a secret is returned unchanged, at any length.
    """
    if len(text) < _SHORTEST and "://" not in text:
        return text
    if len(text) <= limit + LONGEST_WORD:
        return redact_shapes(text)
    seen = text[: limit + LONGEST_WORD]
    clean = redact_shapes(seen)
    if clean == seen:
        return text
    whole = text.whole if isinstance(text, Cut) else len(text)
    return f"{clean[:limit]}… (cut: {whole} characters in all)"


def redact_value(value: Any, limit: int) -> Any:
    """A JSON value without unmistakable secrets in its texts and keys; `value` itself if it contains none.

    `limit` is the number of bytes that the reader gets. Parts far after that are withheld without a search.
    """
    return _clean(value, limit, [_READ * limit]) if may_hold_secret(value) else value


def redact_recovery(recovery: Mapping[str, Any], declared: Mapping[str, Any], limit: int) -> Mapping[str, Any]:
    """A recovery without unmistakable secrets; the parts of the `declared` recovery stay unchanged."""
    if recovery == declared:
        return recovery
    clean = {
        key: part if key in declared and declared[key] == part else redact_value(to_json(part, room=limit), limit)
        for key, part in recovery.items()
    }
    if (arguments := clean.get("fallbackArguments")) != recovery.get("fallbackArguments"):
        # With a hidden value, it would be another call.
        return {key: part for key, part in clean.items() if part is not arguments}
    return clean


_READ: Final = 16
"""A value is searched up to this multiple of its limit. The first long text gets half of the room, the next a quarter,
and so on, so that later texts are never shown."""
_WITHHELD: Final = "…"


def _clean(value: Any, limit: int, left: list[int]) -> Any:
    if isinstance(value, str):
        if isinstance(value, Note):
            return value
        if left[0] < 0:
            return _WITHHELD
        left[0] -= min(len(value), limit + LONGEST_WORD)
        return redact_message(value, limit)
    if isinstance(value, Mapping):
        clean: dict[str, Any] = {}
        again: dict[str, int] = {}
        for key, item in value.items():
            # Two keys may have been secrets, or withheld.
            name = unused(_clean(key, limit, left), clean, again)
            clean[name] = _clean(item, limit, left)
        return clean
    if isinstance(value, list | tuple):
        return [_clean(item, limit, left) for item in value]
    return value
