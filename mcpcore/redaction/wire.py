"""Removes secrets from messages to clients, but only those whose shape alone shows a secret.

In a log, a harmless word after the name of a secret may be hidden. A client must get it: `{"password": "too short"}` is
the advice that it needs. Therefore rows of the table that rely on a name are not used here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mcpcore.jsonable import Cut, Note, to_json
from mcpcore.redaction.search import redact_shapes, shape_hits

_LONGEST_WORD: Final = 1_400
"""The longest text without a blank that a pattern needs: a URL up to the end of its password."""

_SHORTEST: Final = 14
"""The shortest token: a JSON web token of `eyJ` and two times five characters, with a dot."""

_BETWEEN: Final = "\0"
"""Separates texts that are searched together. JSON texts are escaped before and do not hold it."""

_TOGETHER: Final = 4_096
"""Characters and items that are searched together. Larger values are searched part by part."""


def may_hold_secret(*parts: Any) -> bool:
    """Whether a text or a key in these JSON values may contain an unmistakable secret.

    All parts of a failure are searched together, which is three times as fast as searching each. Large values and
    values that are not JSON are not searched: for them the answer is True.
    """
    texts: list[str] = []
    left = _TOGETHER
    stack = [*parts]
    for part in stack:  # which grows meanwhile
        kind = part.__class__
        if kind is str:
            texts.append(part)
            left -= len(part) + 1
        elif part is None or kind is bool or kind is int or kind is float:
            continue
        elif kind is dict:
            left -= len(part) + 1
            stack += part
            stack += part.values()
        elif kind is list:
            left -= len(part) + 1
            stack += part
        else:
            return True
        if left < 0:
            return True
    return bool(shape_hits(_BETWEEN.join(texts)))


def redact_message(text: str, limit: int) -> str:
    """`text` without unmistakable secrets, for a reader who gets `limit` characters of it.

    A longer text is searched up to the limit and a little further, so that a secret at the cut is hidden. A text
    without a secret is returned unchanged, at any length.
    """
    if len(text) < _SHORTEST and "://" not in text:
        return text
    if len(text) <= limit + _LONGEST_WORD:
        return redact_shapes(text)
    seen = text[: limit + _LONGEST_WORD]
    clean = redact_shapes(seen)
    if clean == seen:
        return text
    whole = text.whole if isinstance(text, Cut) else len(text)
    return f"{clean[:limit]}… (cut: {whole} characters in all)"


def redact_value(value: Any, limit: int) -> Any:
    """A JSON value without unmistakable secrets in its texts and keys; `value` itself if it contains none.

    `limit` is the number of bytes that the reader gets. Parts far after that are withheld without a search.
    """
    texts: list[str] = []
    if _gather(value, texts, limit + _LONGEST_WORD, _READ * limit) >= 0:
        whole = _BETWEEN.join(texts)
        if redact_shapes(whole) is whole:
            return value
    return _clean(value, limit, [_READ * limit])


def redact_recovery(recovery: Mapping[str, Any], declared: Mapping[str, Any], limit: int) -> Mapping[str, Any]:
    """A recovery without unmistakable secrets; the parts of the `declared` recovery stay unchanged."""
    if recovery == declared:
        return recovery
    return {
        key: part if key in declared and declared[key] == part else redact_value(to_json(part, room=limit), limit)
        for key, part in recovery.items()
    }


_READ: Final = 16
"""A value is searched up to this multiple of its limit. The first long text gets half of the room, the next a quarter,
and so on, so that later texts are never shown."""
_WITHHELD: Final = "…"


def _gather(value: Any, texts: list[str], longest: int, left: int) -> int:
    """Add the texts in `value`, each up to `longest` characters; returns what remains of `left`."""
    if isinstance(value, str):
        texts.append(value[:longest])
        return left - min(len(value), longest)
    if isinstance(value, Mapping):
        for key, item in value.items():
            texts.append(key[:longest])
            left = _gather(item, texts, longest, left - len(key))
            if left < 0:
                break
    elif isinstance(value, list | tuple):
        for item in value:
            left = _gather(item, texts, longest, left)
            if left < 0:
                break
    return left


def _clean(value: Any, limit: int, left: list[int]) -> Any:
    if isinstance(value, str):
        if isinstance(value, Note):
            return value
        if left[0] < 0:
            return _WITHHELD
        left[0] -= min(len(value), limit + _LONGEST_WORD)
        return redact_message(value, limit)
    if isinstance(value, Mapping):
        clean: dict[str, Any] = {}
        for key, item in value.items():
            name = shown = _clean(key, limit, left)
            number = 1
            while shown in clean:  # two keys that were secrets, or withheld
                number += 1
                shown = f"{name} ({number})"
            clean[shown] = _clean(item, limit, left)
        return clean
    if isinstance(value, list | tuple):
        return [_clean(item, limit, left) for item in value]
    return value
