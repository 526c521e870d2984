"""Regular expressions that are compiled on first use, similar names, and the words of returned failures."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, AnyStr, Final, cast


class _Lazy:
    """A pattern that gets its methods when one of them is first used."""

    def __init__(self, text: str | bytes, flags: int) -> None:
        self._text = text
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        value = getattr(re.compile(self._text, self._flags), name)  # re keeps compiled patterns
        setattr(self, name, value)
        return value


def regex(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """A pattern that is compiled on first use. A run needs few of the patterns; compiling all would slow its start."""
    return cast("re.Pattern[AnyStr]", _Lazy(text, flags))


ERROR_DOING: Final = (
    r"(?!(?:handling|reporting|logging|tracking|monitoring|mapping|messaging|checking|correcting|counting|tracing|rating"
    r"|recovering|budgeting|testing)\s+\w+\s*:)(?!string\b|bring\b)[a-z]+ing\b"
)
"""What follows "error " in "Error loading x: ...", and not in "Error handling guide: ...", which is about errors."""


# The keys and signs of failures that are returned like results. Keys are compared in lower case.
SUCCESS_KEYS: Final = frozenset({"ok", "success", "succeeded", "successful"})
FAILURE_KEYS: Final = frozenset({"iserror", "is_error", "failed"})
STATUS_KEYS: Final = frozenset({"status", "state", "result"})
FAILED_STATUS: Final = frozenset({"error", "failed", "failure", "fail"})
VERDICT_KEYS: Final = frozenset(
    {"valid", "is_valid", "passed", "healthy", "is_healthy", "compliant", "connected", "reachable", "alive", "online",
     "requires_confirmation", "confirmation_required", "needs_confirmation", "confirm"}
)  # fmt: skip
"""Keys of a verdict or a question, which are results: an `error` next to them describes the thing that was checked."""
SIGNS: Final = "[\u274c\u26a0\ufe0f\U0001f6ab\u26d4\u2717]"
"""Crosses, warning signs and no-entry signs that people put before a failure."""


def closest(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """The known name that is most similar to a misspelt one, if any is close."""
    import difflib

    matches = difflib.get_close_matches(name, list(known), n=1, cutoff=cutoff)
    return matches[0] if matches else None


def hint(name: str, known: Iterable[str], otherwise: str = "", *, cutoff: float = 0.6) -> str:
    """The end of a message about an unknown name: the closest known name, if any is close."""
    close = closest(name, known, cutoff=cutoff)
    return f"; did you mean {close!r}?" if close else otherwise
