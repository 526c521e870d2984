"""Values that are empty: an empty list, no text, a result without rows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from mcpcore_lint.model import CallValue, Const, Items, Mapping, Text, Unknown, string
from mcpcore_lint.patterns import regex
from mcpcore_lint.rules._bodies import short, text_start, unpacked
from mcpcore_lint.rules.handler._failures import ERROR_KEYS, FAILURE_KEYS, SUCCESS_KEYS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpcore_lint.model import Value

_NOTHING_FOUND: Final = regex(
    r"\s*(?:no|nothing)\b.{0,60}\b(?:found|available|results?|matches|data|items?|records?)\b", re.IGNORECASE
)
EXPLAINING_KEYS: Final = ERROR_KEYS | FAILURE_KEYS | {
    "message", "detail", "details", "status", "warning", "warnings", "reason", "note", "hint", "msg", "failures",
}  # fmt: skip
"""Keys of a result that may say why it is empty."""
_CONSTANTS: Final = {
    "None": "None",
    "''": "an empty string",
    "False": "False",
    "0": "0",
    "0.0": "0.0",
    "b''": "empty bytes",
}


def describe_empty(value: Value) -> str | None:
    """How a value is empty, such as "an empty list"; None if it is not empty or not known."""
    value = unpacked(value)
    if isinstance(value, Const) and repr(value.value) in _CONSTANTS:
        return _CONSTANTS[repr(value.value)]
    if isinstance(value, (Const, Text)):
        start = text_start(value) or ""
        text = start.strip()[:30] + ("..." if isinstance(value, Text) else "")
        return f'"{text}"' if _NOTHING_FOUND.match(start) else None
    if isinstance(value, Items) and value.complete:
        is_content = len(value.items) == 1 and isinstance(value.items[0], CallValue)
        return describe_empty(value.items[0]) if is_content else None if value.items else f"an empty {value.kind}"
    if isinstance(value, Mapping) and value.complete:
        if not value.items:
            return "an empty dict"
        return "an empty result" if _has_only_empty([(string(key), item) for key, item in value.items]) else None
    if isinstance(value, CallValue):
        name = short(value.func.name)
        if value.func.name == "mcp.TextContent":
            return describe_empty(value.argument("text", 1))
        if name[:1].isupper() and not value.args and value.complete and _has_only_empty(value.keywords):
            return f"an empty {name}"
    return None


def _has_only_empty(pairs: Sequence[tuple[str | None, Value]]) -> bool:
    """Whether a result holds an empty collection and else only empty constants, names and `success: True`."""
    collections = 0
    for key, value in pairs:
        word = (key or "").lower()
        if not word or word in EXPLAINING_KEYS:
            return False
        if word in SUCCESS_KEYS:
            if not (isinstance(value, Const) and value.value is True):
                return False
        elif isinstance(value, (Items, Mapping)):
            if value.items or not value.complete:
                return False
            collections += 1
        elif isinstance(value, Const):
            if value.value not in {None, "", 0}:
                return False
        elif not (isinstance(value, Unknown) and type(value.node).__name__ in {"Name", "arg"}):
            return False
    return collections > 0
