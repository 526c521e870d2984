"""A recovery as it is sent: read from a `raise` statement, a declaration or an envelope, which may hold anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mcpcore.contract.checks import MAX_ARGUMENTS, Templates
from mcpcore.contract.failure_modes import FailureMode, is_todo
from mcpcore.contract.limits import DEFAULT_LIMITS
from mcpcore.values.jsonable import JSON, Cut, Note, size, to_json, to_json_object
from mcpcore.values.templates import filled
from mcpcore.values.untrusted import quietly

_MAX_RECOVERY: Final = 32 * 1024
"""Bytes of a recovery that is not a dict; an envelope has less room for it."""

_MAX_PARTS: Final = 100
"""The most parts of a recovery that is read uncut."""

PARTS: Final[Mapping[str, type]] = {
    "hint": str,
    "strategy": str,
    "actions": list,
    "fallbackTool": str,
    "fallbackArguments": dict,
    "correctiveParams": dict,
    "userMessage": str,
}
"""The types of the parts of a recovery, by their names on the wire."""


def recovery_of(value: object) -> dict[str, Any] | None:
    """`value` as a recovery for the wire, or None if it is invalid or still to be written."""
    if value is None or value is ...:
        return None
    if type(value) is dict and len(value) == 1 and type(hint := value.get("hint")) is str and _is_written(hint):
        return {"hint": hint}  # as most are
    if type(value) is str:
        return {"hint": value} if _is_written(value) else None
    return quietly(lambda: _whole(value), None)


def sent_recovery(value: object) -> dict[str, Any] | None:
    """A recovery as it was sent or declared, which may have no hint; None if it says nothing."""
    recovery = recovery_of(value)
    if recovery is None and value is not None:
        recovery = quietly(lambda: partial_recovery(value), None)
    return recovery if recovery and not PARTS.keys().isdisjoint(recovery) else None


class DeclaredRecovery(dict[str, Any]):
    """A recovery that `ctx.recovery_for` took from a contract; a mapping with a caller's words is never one."""

    __slots__ = ("entry",)

    def __init__(self, entry: FailureMode[Any]) -> None:
        """Take the recovery of `entry`; its templates are filled from the data that it is put into."""
        super().__init__(entry.recovery_json())
        self.entry = entry


def facts_for(entry: FailureMode[Any], data: object, *, dumped: bool = False) -> dict[str, JSON] | None:
    """The values for the templates of `entry`: the JSON of `data`; None if it is missing or does not fit the model.

    With `dumped`, the model itself wrote `data`.
    """
    facts = to_json_object(data, room=DEFAULT_LIMITS.data)
    fits = data is not None and quietly(lambda: entry.check_data(data, sent=facts, dumped=dumped), "") is None
    return facts if fits else None


def filled_recovery(recovery: dict[str, Any], templates: Templates, facts: Mapping[str, JSON] | None) -> dict[str, Any]:
    """A declared recovery with its templates filled; a text that cannot be filled is left out.

    A text that is not that of the declaration is one of the `raise` statement, which may hold a caller's words.
    """
    sent = dict(recovery)
    for key, template in (("hint", templates.recovery), ("userMessage", templates.user_message)):
        if template is not None and sent.get(key) == template.text:
            text = template.filled(facts)
            if text is None:
                del sent[key]
            else:
                sent[key] = text
    return sent


def filled_arguments(
    entry: FailureMode[Any], arguments: Mapping[str, Any] | None, data: object, *, dumped: bool = False
) -> dict[str, JSON] | None:
    """The declared `fallback_arguments`, filled from the `arguments` of the failed call, then from its `data`.

    None if a value is missing, if `data` has only a part of it, if characters of it have to be escaped in an envelope,
    or if they get too long: a call with other arguments would be another call.
    """

    def filling() -> dict[str, JSON] | None:
        facts = {**(facts_for(entry, data, dumped=dumped) or {}), **(arguments or {})}
        sent: dict[str, JSON] = filled(entry.fallback_arguments, facts)
        return sent if _is_whole(sent) and size(sent) <= MAX_ARGUMENTS and to_json(sent) == sent else None

    return quietly(filling, None)


def _is_whole(value: JSON) -> bool:
    if isinstance(value, dict):
        return all(map(_is_whole, (*value, *value.values())))
    return all(map(_is_whole, value)) if isinstance(value, list) else not isinstance(value, Cut | Note)


def _is_written(hint: str) -> bool:
    return bool(hint) and not hint.isspace() and not is_todo(hint)


def _whole(value: object) -> dict[str, Any] | None:
    if isinstance(value, str):
        return {"hint": value} if _is_written(value) else None
    if not isinstance(value, Mapping):
        return None
    parts: Any = value if _is_small_dict(value) else to_json(value, room=_MAX_RECOVERY)
    source: Any = value if type(value) is dict else parts
    hint = source.get("hint") if isinstance(source, dict) else None
    if not isinstance(hint, str) or not _is_written(hint):
        return None
    return {"hint": hint, **_parts_of(parts)}


def partial_recovery(value: object) -> dict[str, Any] | None:
    """The parts of `value` without its hint, by their names on the wire; None if it is no mapping."""
    return _parts_of(value) if isinstance(value, Mapping) else None


def _is_small_dict(value: Any) -> bool:
    return type(value) is dict and len(value) <= _MAX_PARTS


def _parts_of(recovery: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of a recovery except the hint, by their names on the wire."""
    parts: Any = recovery if _is_small_dict(recovery) else to_json(recovery, room=_MAX_RECOVERY)
    renamed: dict[str, Any] = {}
    if isinstance(parts, dict):
        renamed = {_WIRE_NAMES.get(str(key), str(key)): part for key, part in parts.items() if key != "hint"}
    strategy = renamed.get("strategy")
    if isinstance(strategy, str):
        renamed["strategy"] = strategy.lower()  # other envelopes write RETRY_LATER
    return renamed


_WIRE_NAMES: Final = {
    "fallback_tool": "fallbackTool",
    "fallback_arguments": "fallbackArguments",
    "corrective_params": "correctiveParams",
    "user_message": "userMessage",
}
"""The names of parts in `FailureMode` and on the wire."""
