"""What a failed answer itself says about repeating the call, whatever its form: its fields, and words that forbid it.

A prohibition counts wherever it stands. Permission and a time to wait count where they are about the whole failure, and
only where the dialect does not say it itself.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mcpcore.classification.retry_after import MAX_SECONDS, as_retry, parse_retry_after
from mcpcore.contract.retry import NEVER, Retry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_FLAGS: Final = frozenset({"retryable", "isretryable", "canretry", "shouldretry"})
"""Fields that say whether the call may be repeated, without case, hyphens and underscores."""

_BANS: Final = frozenset({"donotretry", "noretry"})
"""Fields that say that it may not."""

_WAITS: Final[dict[str, float]] = {
    "retryafter": 1,
    "retryafterseconds": 1,
    "retryafters": 1,
    "retryafterms": 0.001,
    "afterms": 0.001,
}
"""Fields that say how long to wait, with the seconds of one unit."""

_ABOUT: Final = frozenset({"error", "errors", "data", "details", "detail", "_meta", "retry", "result"})
"""Fields whose objects are about the failure itself; in a foreign failure, so is an object that is the only field."""

_NO: Final = frozenset({"false", "no", "never", "none", "0", NEVER})
_YES: Final = frozenset({"true", "yes", "1"})
_MAX_OBJECTS: Final = 1_000

_FORBIDS: Final = re.compile(
    r"\b(?:do not|don'?t|never|must not|should not|shouldn't|cannot|can't|not safe to|unsafe to|not to|avoid) "
    r"(?:(?:be|attempt to|try to|(?!immediate|quick|rapid|frequent|repeated|constant|continuous)\w{1,20}ly) ){0,2}"
    r"(?:re-?(?:try|tried|trying|submit|submitted|send|sent|run)\b|repeat(?:ed|ing)?\b"
    r"|(?:repeat|call|submit|send|try)\b[^.\n]{0,40}?\b(?:again|twice)\b)"
    r"(?![^.\n;:,]{0,40}?\b(?:(?:for|before|within|in|until) (?:at least |about |another |the next )?\d"
    r"|more than|immediately|right away|yet\b|too (?:often|soon|quickly|fast)))"
    r"|\b(?:not|non)[-_ ]?re-?(?:try-?able|triable|peatable)|\bretry(?:able)?[\"']?\s?[:=]\s?(?:false|no|never)\b"
    r"|\bretry(?:ing)? (?:will not|won't|does not|doesn't|cannot|can't) "
    r"|\bretr(?:y|ying|ies) (?:is |are )?(?:not|never|pointless|useless|unsafe)\b"
    r"|\bno retr(?:y|ies)(?: (?:is |are )?(?:allowed|possible|permitted)|[.!]?$)",
    re.IGNORECASE | re.MULTILINE,
)
"""Words with which a server forbids another call, and not only one too soon."""

_MAX_SEARCHED: Final = 20_000
"""Characters of a text that are searched."""

_BETWEEN: Final = re.compile(r"(?:[^\S\n]|[*_`~])+|(?<=[a-z])\n(?=[a-z])")
"""What may be between two words of a sentence: space, the marks of Markdown, and the end of a wrapped line."""


def forbids_retry(text: str) -> bool:
    """Whether a text says that the call must not be made again; one that says for how long does not."""
    return _FORBIDS.search(_BETWEEN.sub(" ", text[:_MAX_SEARCHED].replace("\u2019", "'"))) is not None


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
        values: The structured content, the JSON in texts, the error of the protocol.
        own: Whether the failure has been read from fields that mcpcore wrote. Then objects deep inside, which may be
            an author's facts about something else, forbid nothing.
    """
    forbidden = allowed = False
    waits: list[float] = []
    for item, is_about in _objects(values, own=own):
        for key, value in item.items():
            name = str(key).replace("_", "").replace("-", "").lower()
            if (name in _FLAGS and (is_about or not own)) or (name == "retry" and is_about):
                said = _said(value) if name in _FLAGS or not _is_number(value) else None
                forbidden |= said is False
                allowed |= is_about and said is True
            elif name in _BANS and (is_about or not own):
                forbidden |= _said(value) is True
            elif is_about and name in _WAITS and (seconds := _seconds(value, _WAITS[name])) is not None:
                waits.append(seconds)
            elif is_about and key == "kind" and value == NEVER:
                forbidden = True
    return Word(forbidden, allowed, max(waits, default=None))


def _said(value: object) -> bool | None:
    """A boolean in any of its spellings; None for any other value."""
    if isinstance(value, str):
        word = value.strip().lower()
        return True if word in _YES else False if word in _NO else None
    return bool(value) if isinstance(value, bool) or (_is_number(value) and value in (0, 1)) else None


def _is_number(value: object) -> bool:
    """Whether a value is a number; under `retry`, it may be the number of attempts."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _objects(values: Iterable[object], *, own: bool) -> Iterator[tuple[Mapping[str, Any], bool]]:
    """The objects in some JSON, up to a limit, and whether each is about the failure itself."""
    pending: list[tuple[object, bool]] = [(value, True) for value in values]
    for value, is_about in pending:  # which grows
        if isinstance(value, Mapping):
            yield value, is_about
            inner = [
                (part, is_about and (key in _ABOUT or (len(value) == 1 and not own))) for key, part in value.items()
            ]
        else:
            inner = [(part, False) for part in value] if isinstance(value, list | tuple) else []
        if len(pending) < _MAX_OBJECTS:
            pending += [item for item in inner if isinstance(item[0], Mapping | list | tuple)]


def _seconds(value: object, scale: float) -> float | None:
    """A time to wait in seconds; infinite if it is too long for any wait, None if it is no time."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str):
        seconds = parse_retry_after(value)
        return None if seconds is None else seconds * scale
    if isinstance(value, int) and value.bit_length() > 64:
        return math.inf if value > 0 else None
    return value * scale if value >= 0 else None  # a NaN fails the comparison
