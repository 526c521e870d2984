"""Building an envelope of anything: converted to JSON, without secrets, and cut to the limits of the server."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from functools import cache
from types import ModuleType
from typing import Any, Final, NamedTuple, cast

from mcpcore.contract.checks import MAX_REASON
from mcpcore.contract.codes import STRATEGIES, Code, Effects, Retry
from mcpcore.contract.failure_modes import WRITTEN_DATA_KEYS, FailureMode
from mcpcore.contract.limits import DEFAULT_LIMITS, Limits
from mcpcore.contract.recovery import PARTS
from mcpcore.values.jsonable import JSON, WIDEST, clean_cut, fit_object, plain_json, size, to_json, to_json_object
from mcpcore.wire.envelope import Envelope
from mcpcore.wire.envelope_text import Parts, advice_and_facts


def build_envelope(
    code: Code,
    message: str,
    *,
    retry: Retry,
    tool: str | None,
    effects: Effects | None = None,
    repeatable: bool = False,
    data: object = None,
    dropped: Collection[str] = (),
    masked: bool = False,
    reason: str | None = None,
    recovery: Mapping[str, Any] | None = None,
    context: Mapping[str, Any] | None = None,
    correlation_id: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
    entry: FailureMode[Any] | None = None,
    lines: tuple[str, str] | None = None,
    is_clean: bool = False,
) -> Envelope:
    """Make an envelope of anything: converted to JSON and cut to `limits`; never raises.

    With `masked`, the envelope has no `data` at all; the keys in `dropped` are left out of it. The texts that `entry`
    declares are sent as they are. With `lines`, which `advice_and_facts` makes, the reason and the recovery are the
    server's own words, and the recovery stands. With `is_clean`, all but `context` was searched for secrets before.
    """
    bound = to_json_object(context) if context else None
    own = None
    if data is not None and not masked:
        own = data if type(data) is Facts else facts_of(data, limits)
        if dropped or not WRITTEN_DATA_KEYS.isdisjoint(own.json):
            own = Facts({key: part for key, part in own.json.items() if key not in WRITTEN_DATA_KEYS.union(dropped)})
    # A declared reason is a declared text; any other may come from a caller or an upstream.
    is_free = lines is None and reason is not None and (entry is None or reason != entry.reason)
    if limits.redact_secrets and (bound or not is_clean):
        wire = _wire()
        is_declared = message == code.sentence or (entry is not None and message == entry.when)
        # Nearly all failures end their search here, so the declared texts are left out of it where that is cheap.
        searched: object = None
        if recovery is not None and lines is None:
            searched = recovery.get("hint") if len(recovery) == 1 else None
            if type(searched) is not str or len(searched) > limits.data:
                # As JSON first: what a `raise` statement gave may hold objects whose own code raises.
                searched = recovery = to_json_object(recovery, depth=limits.depth - 1, room=limits.data)
            elif entry is not None and searched is entry.recovery:
                searched = None
        if wire.may_hold_secret(
            None if is_declared else message,
            tool,
            None if own is None else own.text or own.json,
            bound,
            searched,
            reason if is_free else None,
        ):
            if not is_declared:
                message = wire.redact_message(message, limits.message)
            if is_free and reason is not None:
                reason = wire.redact_message(reason, MAX_REASON)
            tool = None if tool is None else wire.redact_message(tool, limits.message)
            own = None if own is None else Facts(wire.redact_value(own.json, limits.data))
            bound = None if bound is None else wire.redact_value(bound, _MAX_CONTEXT)
            if recovery is not None:
                recovery = wire.redact_recovery(recovery, {} if entry is None else entry.recovery_json(), limits.data)
    sent, name = None, code.name
    parts: Parts | None = None
    if masked:
        parts = None, "", advice_and_facts(None, name, retry, effects, None, repeatable=repeatable)
    else:
        if is_free and reason is not None:
            reason = clean_cut(reason, MAX_REASON) or None
        is_bounded = lines is not None or recovery is None or stands(recovery, limits)
        if recovery is not None and not is_bounded:
            recovery = bounded_recovery(recovery, limits)
        sent = _data(own, retry=retry, reason=reason, recovery=recovery, limits=limits)
        if is_bounded:
            parts = (
                recovery,
                "" if own is None or not own.json else own.text,
                lines or advice_and_facts(reason, name, retry, effects, recovery, repeatable=repeatable),
            )
    values = {
        "code": int(code),
        "name": name,
        "message": clean_cut(message, limits.message) or code.sentence,
        "retry": retry,
        "effects": effects,
        "tool": tool,
        "correlation_id": correlation_id or new_correlation_id(),
        "timestamp": now(),
        "data": sent,
        "context": fit_object(bound, _MAX_CONTEXT) if bound else None,
        "repeatable": repeatable,
    }
    return Envelope.of(values, parts)


@cache
def _wire() -> ModuleType:
    # Loaded with the first failure, and once: an import within a function takes longer than the search.
    from mcpcore.wire.redaction import wire

    return wire


_ARGUMENTS: Final = "fallbackArguments"
_MAX_CONTEXT: Final = 4 * 1024
"""Bytes of the fields that the server or the call had bound."""


def new_correlation_id() -> str:
    """16 hex digits, new for each failure."""
    try:
        return _ids.pop()
    except IndexError:
        # Asking the system for each takes longer than the rest.
        drawn = os.urandom(512).hex()
        _ids.extend(drawn[start : start + 16] for start in range(16, len(drawn), 16))
        return drawn[:16]


_ids: Final[list[str]] = []

if hasattr(os, "register_at_fork"):  # pragma: no branch - Windows cannot fork
    os.register_at_fork(after_in_child=_ids.clear)  # two processes must not use the same


def now() -> str:
    """The time in UTC, ISO 8601 with milliseconds."""
    global _second  # noqa: PLW0603 - a pair that is replaced as one
    milliseconds = str(time.time_ns() // 1_000_000)
    second = milliseconds[:-3]
    known, text = _second
    if known != second:
        text = datetime.fromtimestamp(int(second), UTC).strftime("%Y-%m-%dT%H:%M:%S")
        _second = second, text
    return f"{text}.{milliseconds[-3:]}Z"


_second: tuple[str, str] = ("", "")
"""The last second that was asked for, as text: failures come in bursts."""


def bounded_recovery(recovery: Mapping[str, Any], limits: Limits) -> dict[str, JSON]:
    """`recovery` as JSON, its sentences cut and its parts of the types that the wire has."""
    room = limits.data // 4
    bounded = to_json_object(recovery, depth=limits.depth - 1, room=room)
    # The hint first, since `fit_object` cuts from the end.
    bounded = {"hint": bounded.get("hint"), **bounded}
    for key, kind in PARTS.items():
        part = bounded.get(key)
        if part is None or not isinstance(part, kind) or (key == "strategy" and part not in STRATEGIES):
            bounded.pop(key, None)
        elif key in ("hint", "userMessage"):
            bounded[key] = cut = clean_cut(cast("str", part), limits.hint)
            if not cut:
                del bounded[key]  # it was blank up to the limit
        elif key == "actions":
            bounded[key] = [action for action in cast("list[JSON]", part) if isinstance(action, str)]
    # A quarter of the room at most: the author's data must not be cut for its recovery's sake.
    fitted = fit_object(bounded, room)
    if _ARGUMENTS in recovery and fitted.get(_ARGUMENTS) != to_json(recovery[_ARGUMENTS]):
        # With arguments that are cut, it would be another call.
        return bounded_recovery({key: part for key, part in recovery.items() if key != _ARGUMENTS}, limits)
    return fitted


def stands(recovery: Mapping[str, Any], limits: Limits) -> bool:
    """Whether nothing of `recovery` has to be converted or cut, as is so for nearly all that is declared."""
    left = limits.data // 4
    for key, part in recovery.items():
        if type(part) is not str or PARTS.get(key) is not str or len(part) > limits.hint:
            return False
        if not part.isprintable() or part != part.strip() or (key == "strategy" and part not in STRATEGIES):
            return False
        left -= WIDEST * len(part) + 24
    return left >= 0


class Facts(NamedTuple):
    """The data of a failure, converted to JSON already."""

    json: dict[str, JSON]
    text: str | None = None
    """The same as compact JSON, if none of it has to be escaped."""


def facts_of(data: object, limits: Limits) -> Facts:
    """`data` as JSON, of which a client sees at most what `limits` say."""
    plain = plain_json(data, depth=limits.depth, room=limits.data)
    return Facts(to_json_object(data, depth=limits.depth, room=limits.data)) if plain is None else Facts(*plain)


def _data(
    own: Facts | None, *, retry: Retry, reason: str | None, recovery: Mapping[str, Any] | None, limits: Limits
) -> dict[str, JSON]:
    """The data that is sent."""
    reserved: dict[str, JSON] = {}
    if recovery:
        reserved["recovery"] = dict(recovery)
    if reason is not None:
        reserved["reason"] = reason
    # The contract's words come first, and what only programs read comes last.
    if own is None or not own.json:
        reserved["retryable"] = retry.retryable
        return reserved
    whole = {**reserved, **own.json, "retryable": retry.retryable}
    # The recovery takes a quarter of the room at most, and the rest less than another.
    if (own.text is not None and len(own.text) <= limits.data // (2 * WIDEST)) or size(whole) <= limits.data:
        return whole
    room = limits.data - size({**reserved, "retryable": retry.retryable})
    return {**reserved, **fit_object(own.json, room), "retryable": retry.retryable}
