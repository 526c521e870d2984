"""What the fields of a failed answer say, whatever its shape: one table of names for all servers and drafts.

A field counts where it is about the whole failure: at the root, in an object such as `error` or `details`, or in an
object that is the only field. A prohibition of another call counts wherever it stands. The values are as hostile as
any text of another server: they are bounded and escaped, and a value of a wrong type is ignored.

`docs/reference/specification.md` names the specification of each shape.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final, NamedTuple, TypeVar, cast

from mcpcore.classification.code_tables import GRPC, SERVICE_CODES, Fact
from mcpcore.classification.status import MAX_SECONDS, STATUS_RETRY, as_retry, code_for_status, parse_retry_after
from mcpcore.contract.checks import MAX_REASON
from mcpcore.contract.codes import NEVER, Code, Effects, ErrorCode, Retry, code_named
from mcpcore.contract.effects import CHANGED, as_effects
from mcpcore.values.bounds import HINT, MESSAGE
from mcpcore.values.jsonable import clean_cut
from mcpcore.wire.tool_failure import CLASSES, CODES, TOOL_FAILURE

T = TypeVar("T")

NAMES: Final[Mapping[str, Sequence[str]]] = {
    "code": ("code", "error_code", "error_class"),
    "reason": ("reason", "code", "error_code", "error_class", "type", "category", "error"),
    "status": ("status", "status_code"),
    "message": ("message", "detail", "error_description", "error", "title"),
    "hint": ("agent_guidance", "hint", "suggestion", "recovery", "remediation", "suggestions"),
    "fallback_tool": ("fallback_tool", "suggested_tool"),
    "effects": ("effects", "effect_disposition"),
    "correlation_id": ("correlation_id", "request_id"),
    "retryable": ("retryable", "is_retryable", "can_retry", "should_retry"),
    "not retryable": ("do_not_retry", "no_retry"),
    "repeatable": ("replay_safe",),
    "seconds": ("retry_after", "retry_after_seconds", "retry_after_s", "retry_delay"),
    "milliseconds": ("retry_after_ms", "after_ms"),
    "not before": ("retry_not_before",),
    "protobuf": ("@type",),
}
"""The names of fields for each fact, the most telling first; case, hyphens and underscores do not count."""

WORDS: Final[Mapping[str, Mapping[object, tuple[bool, ErrorCode | None]]]] = {
    "recovery": {
        "transient": (True, ErrorCode.SERVICE_UNAVAILABLE),
        "correctable": (False, ErrorCode.VALIDATION_ERROR),
        "terminal": (False, None),
    },
    "advice_code": {"do_not_try_again": (False, None), "confirm_card_data": (False, None)},
    "recoverable": {"reauth": (False, ErrorCode.UNAUTHORIZED), False: (False, None)},
}
"""Words in fields of these names: whether they allow the same call again, and the code of a failure without another."""

CONTAINERS: Final = (
    "error",
    "errors",
    "data",
    "details",
    "detail",
    "retry",
    "result",
    "recovery",
    "adcp_error",
    "error_verdict",
    "recovery_feedback",
    TOOL_FAILURE,
)
"""Fields whose objects are about the failure itself; in a foreign failure, so is an object that is the only field."""


def _plain(name: object) -> str:
    return str(name).replace("_", "").replace("-", "").lower()


_BY_NAME: Final[dict[str, dict[str, int]]] = {}
for _fact, _names in NAMES.items():
    for _rank, _name in enumerate(_names):
        _BY_NAME.setdefault(_plain(_name), {})[_fact] = _rank
_ABOUT: Final = frozenset(map(_plain, CONTAINERS))
_WORDS: Final = {_plain(name): words for name, words in WORDS.items()}

_NO: Final = frozenset({"false", "no", "never", "none", "0", NEVER})
_YES: Final = frozenset({"true", "yes", "1"})
_MAX_OBJECTS: Final = 1_000
_MAX_STEPS: Final = 5
"""Suggestions of a list that become one hint."""

_ID: Final = re.compile(r"[!-~]{1,128}")
_KEYWORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")
_URI: Final = re.compile(r"(?:[a-z][a-z0-9+.-]*://|urn:).*?([^/#:?]+)/?(?:\?.*)?", re.ASCII)
_STATUS: Final = re.compile(r"[1-5][0-9]{2}", re.ASCII)
_TOOL: Final = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_VAGUE: Final = frozenset({"error", "errors", "exception", "fail", "failed", "failure", "none", "null", "unknown"})
"""Words that some servers send as a reason, and that say nothing."""

_GRPC_CODES: Final = tuple(GRPC)
"""The names of the gRPC status codes from 1 up (`google/rpc/code.proto`)."""

_RPC: Final = "type.googleapis.com/google.rpc."


class Fields(NamedTuple):
    """What the fields of a failure say about it; None where they say nothing.

    Attributes:
        code: The code, by a name, a status or a word that is known.
        native: The code as it was sent.
        reason: A name for what went wrong; names of codes of this framework are left out.
        message: What went wrong, as a text.
        hint: The next step, as a text.
        fallback_tool: Another tool to call.
        effects: Whether the call may have changed anything. A foreign server that says "none" is not believed, since a
            client may repeat the call because of it.
        correlation_id: The id in the server's log.
    """

    code: Code | None
    native: str | int | None
    reason: str | None
    message: str | None
    hint: str | None
    fallback_tool: str | None
    effects: Effects | None
    correlation_id: str | None


def fields_of(roots: Iterable[object]) -> Fields:
    """What the fields of a failure say about it.

    Args:
        roots: The objects of the answer; the first one that states a fact counts.
    """
    ranked: dict[str, list[tuple[int, int, object]]] = {fact: [] for fact in NAMES}
    implied: list[ErrorCode | None] = []
    for number, root in enumerate(roots):
        for item, is_about in _objects([root], own=False):
            for key, value in item.items() if is_about else ():
                for fact, rank in _BY_NAME.get(_plain(key), {}).items():
                    ranked[fact].append((number, rank, value))
                implied.append(_class_code(value) if key == TOOL_FAILURE else _word(key, value)[1])
    # The key leaves the values out, which may be of types that cannot be compared.
    said = {fact: [value for *_, value in sorted(values, key=itemgetter(0, 1))] for fact, values in ranked.items()}
    is_rpc = any(isinstance(kind, str) and kind.startswith(_RPC) for kind in said["protobuf"])
    codes = [value for value in (*said["reason"], *said["status"]) if fact_of(value, is_rpc=is_rpc) is not None]
    known = fact_of(codes[0], is_rpc=is_rpc) if codes else None
    native = [value for value in (*said["code"], *codes) if isinstance(value, str | int) and value is not True]

    def first(fact: str, read: Callable[[object], T | None]) -> T | None:
        return next((value for value in map(read, said[fact]) if value is not None), None)

    return Fields(
        code=next(filter(None, implied), None) if known is None else known.code,
        native=native[0] if native else None,
        reason=first("reason", _reason),
        message=first("message", lambda value: _sentence(value, MESSAGE)),
        hint=first("hint", _hint),
        fallback_tool=first("fallback_tool", lambda value: _matching(_TOOL, value)),
        effects=first("effects", lambda value: effects if (effects := as_effects(value)) in CHANGED else None),
        correlation_id=first("correlation_id", lambda value: _matching(_ID, value)),
    )


def fact_of(value: object, *, is_rpc: bool = False) -> Fact | None:
    """What a code of another server means: a name that is known, or an HTTP status.

    Args:
        value: The code.
        is_rpc: Whether small numbers are those of gRPC.
    """
    if isinstance(value, str):
        if _STATUS.fullmatch(value):
            return fact_of(int(value))
        if value.lower() in CODES:
            return Fact(CODES[value.lower()][1])
        code = code_named(value.upper())
        if code is not None:
            return Fact(cast("ErrorCode", code))
        return SERVICE_CODES.get(value) or (None if value.lower() in _VAGUE else GRPC.get(value))
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    if is_rpc and 0 < value <= len(_GRPC_CODES):
        return GRPC[_GRPC_CODES[value - 1]]
    return Fact(cast("ErrorCode", code_for_status(value)), STATUS_RETRY.get(value)) if 400 <= value <= 599 else None


def _matching(pattern: re.Pattern[str], value: object) -> str | None:
    return value if isinstance(value, str) and pattern.fullmatch(value) is not None else None


def _sentence(value: object, limit: int) -> str | None:
    return (clean_cut(value, limit) or None) if isinstance(value, str) else None


def _reason(value: object) -> str | None:
    """A name for what went wrong: a keyword, or the last part of a URI; no sentence, and no name of a code."""
    if not isinstance(value, str) or len(value) > MESSAGE:
        return None
    uri = _URI.fullmatch(value)
    name = value if uri is None else uri[1]
    if len(name) > MAX_REASON or not _KEYWORD.fullmatch(name) or name.lower() in _VAGUE:
        return None
    return None if name.upper() in ErrorCode.__members__ else name


def _hint(value: object) -> str | None:
    """The next step, as a text and not a keyword; for a list, the texts and the actions of its objects."""
    if isinstance(value, list | tuple):
        steps = [text for step in value[:_MAX_STEPS] if (text := _step(step)) is not None]
        return clean_cut("; ".join(steps), HINT) or None
    return _sentence(value, HINT) if _matching(_KEYWORD, value) is None else None


def _step(value: object) -> str | None:
    """An item of a list of suggestions: a text, or an object that says what to do with a field."""
    if not isinstance(value, Mapping):
        return _sentence(value, HINT)
    field, action = _sentence(value.get("field"), MAX_REASON), _sentence(value.get("action"), HINT)
    return action if field is None or action is None else f"{field}: {action}"


def _word(name: object, value: object) -> tuple[bool | None, ErrorCode | None]:
    """Whether a word allows the same call again, and the code that it implies; None where it says nothing."""
    words = _WORDS.get(_plain(name))
    if words is None or not isinstance(value, str | bool):
        return None, None
    return words.get(value.lower() if isinstance(value, str) else value, (None, None))


def _class_code(failure: object) -> ErrorCode | None:
    """The code of the class of a draft `ToolFailure`."""
    kind = failure.get("class") if isinstance(failure, Mapping) else None
    return CLASSES.get(kind) if isinstance(kind, str) else None  # type: ignore[call-overload]


def _forbids(failure: object) -> bool:
    """Whether a draft `ToolFailure` forbids another call: only a "reliability" that says `retryable` allows it."""
    return isinstance(failure, Mapping) and not (
        failure.get("class") == "reliability" and failure.get("retryable") is True
    )


class Word(NamedTuple):
    """What the fields of a failure say about repeating the call.

    Attributes:
        forbidden: Whether any field forbids it.
        allowed: Whether a field about the whole failure allows it.
        seconds: The longest wait that such a field asks for, or None.
    """

    forbidden: bool
    allowed: bool
    seconds: float | None

    def retry(self, default: Retry) -> Retry | None:
        """The advice, or None where the fields say nothing.

        Args:
            default: The advice of the code, which says how long to wait where the fields do not.
        """
        if self.forbidden or (self.seconds is not None and self.seconds > MAX_SECONDS):
            return Retry.never()
        if self.seconds is not None and (self.seconds or self.allowed):
            return as_retry(self.seconds)
        if self.allowed:
            return default if default.retryable else Retry.now()
        return None


def word_of(values: Iterable[object], *, own: bool = False) -> Word:
    """What the JSON of a failure says about repeating the call.

    Args:
        values: The structured content, the JSON in texts, `_meta`, the error of the protocol.
        own: Whether the failure has been read from fields that mcpcore wrote. Then objects deep inside, which may be
            an author's facts about something else, forbid nothing.
    """
    forbidden = allowed = False
    waits: list[float] = []
    for item, is_about in _objects(values, own=own):
        for key, value in item.items():
            name = _plain(key)
            facts = _BY_NAME.get(name, {})
            if is_about or not own:
                forbidden |= "not retryable" in facts and _said(value) is True
                forbidden |= not facts.keys().isdisjoint(("retryable", "repeatable")) and _said(value) is False
            if not is_about:
                continue
            allowed |= "retryable" in facts and _said(value) is True
            if name == "retry" and not _is_number(value):  # a number may be that of the attempts
                forbidden |= _said(value) is False
                allowed |= _said(value) is True
            forbidden |= (key == "kind" and value == NEVER) or (key == TOOL_FAILURE and _forbids(value))
            if not own:
                permits = _word(key, value)[0]
                forbidden |= permits is False
                allowed |= permits is True
            waits += [seconds for fact in facts if (seconds := _seconds(value, fact)) is not None]
    return Word(forbidden, allowed, max(waits, default=None))


def _said(value: object) -> bool | None:
    """A boolean in any of its spellings; None for any other value."""
    if isinstance(value, str):
        word = value.strip().lower()
        return True if word in _YES else False if word in _NO else None
    return bool(value) if isinstance(value, bool) or (_is_number(value) and value in (0, 1)) else None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _objects(values: Iterable[object], *, own: bool) -> Iterator[tuple[Mapping[str, Any], bool]]:
    """The objects in some JSON, up to a limit, and whether each is about the failure itself."""
    pending: list[tuple[object, bool]] = [(value, True) for value in values]
    for value, is_about in pending:  # which grows
        if isinstance(value, Mapping):
            yield value, is_about
            inner = [
                (part, is_about and (_plain(key) in _ABOUT or (len(value) == 1 and not own)))
                for key, part in value.items()
            ]
        else:
            parts = value if isinstance(value, list | tuple) else ()
            # The details of google.rpc are a list of typed objects; other items may be about other calls.
            inner = [
                (part, is_about and not own and (len(parts) == 1 or (isinstance(part, Mapping) and "@type" in part)))
                for part in parts
            ]
        if len(pending) < _MAX_OBJECTS:
            pending += [item for item in inner if isinstance(item[0], Mapping | list | tuple)]


def _seconds(value: object, fact: str) -> float | None:
    """A time to wait in seconds; infinite if it is too long for any wait, None if it is no time."""
    if fact not in _UNITS or isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str):
        # A duration of protobuf ends in "s"; so does no other form.
        seconds = parse_retry_after(value.removesuffix("s") if fact == "seconds" else value)
        return None if seconds is None or fact == "not before" else seconds * _UNITS[fact]
    # Python cannot turn a huge integer into a float, and raises instead.
    if isinstance(value, int) and value.bit_length() > 64:
        return math.inf if value > 0 else None
    if not value >= 0:  # a NaN fails the comparison
        return None
    return max(0, value * _UNITS[fact] - time.time()) if fact == "not before" else value * _UNITS[fact]


_UNITS: Final = {"seconds": 1, "milliseconds": 0.001, "not before": 0.001}
"""The seconds of one unit, for the facts that are times; "not before" is one since 1970."""
