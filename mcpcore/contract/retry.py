"""Retry advice: the union that every failure carries, as data on the wire and as a value in code."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, Literal, final

RetryKind = Literal["not_retryable", "retryable_immediate", "retryable_after_ms"]

NEVER: Final = "not_retryable"
NOW: Final = "retryable_immediate"
LATER: Final = "retryable_after_ms"
"""The kinds, for whoever reads or writes them."""

MAX_AFTER_MS: Final = 2**53 - 1
"""The longest wait that every JSON reader keeps exactly (RFC 8259, section 6)."""


@final
class Retry:
    """Whether, and when, the same call is worth making again.

    Made by `Retry.never()`, `Retry.now()` and `Retry.after(seconds=...)`; frozen, comparable and hashable.

    ```python
    advice = Retry.after(seconds=1.5)
    assert advice.retryable
    assert advice.to_json() == {"kind": "retryable_after_ms", "afterMs": 1500}
    assert Retry.never().seconds is None
    ```

    Attributes:
        kind: The name on the wire: "not_retryable", "retryable_immediate" or "retryable_after_ms".
        after_ms: The time to wait in milliseconds, or None.
        retryable: Whether the same call is worth making again at all.
    """

    __slots__ = ("after_ms", "kind", "retryable")

    kind: RetryKind
    after_ms: int | None
    retryable: bool

    def __init__(self, kind: RetryKind, after_ms: int | None = None) -> None:
        """Use the constructors instead.

        Raises:
            ValueError: If the wait and the kind do not belong together.
        """
        if kind not in KINDS:
            raise ValueError(f"retry kind {kind!r} is not one of {', '.join(KINDS)}")
        if (kind == LATER) != (after_ms is not None):
            raise ValueError(f"after_ms goes with the kind {LATER!r}, and only with it")
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "after_ms", after_ms)
        object.__setattr__(self, "retryable", kind != NEVER)

    @classmethod
    def never(cls) -> Retry:
        """The same call fails the same way again."""
        return _NEVER

    @classmethod
    def now(cls) -> Retry:
        """The same call may succeed immediately."""
        return _NOW

    @classmethod
    def after(cls, *, seconds: float) -> Retry:
        """The same call may succeed after `seconds`, kept to the millisecond.

        Args:
            seconds: The time to wait in seconds.

        Raises:
            TypeError: If `seconds` is not a number.
            ValueError: If `seconds` is negative, not finite, or beyond what JSON keeps exactly.
        """
        if isinstance(seconds, bool) or not isinstance(seconds, int | float):
            raise TypeError(f"Retry.after(seconds=...) takes a number of seconds, not {type(seconds).__name__}")
        if not math.isfinite(seconds) or seconds < 0 or seconds * 1000 > MAX_AFTER_MS:
            raise ValueError(f"Retry.after(seconds=...) takes a finite number from 0 up, not {seconds!r}")
        # As floats, 2.007 s are 2007.0000000000002 ms, which must not become 2008.
        return cls(LATER, math.ceil(round(seconds * 1000, 6)))

    @property
    def seconds(self) -> float | None:
        """How long to wait first, in seconds; None where it is not worth it."""
        if self.after_ms is not None:
            return self.after_ms / 1000
        return 0.0 if self.retryable else None

    @property
    def phrase(self) -> str:
        """The advice in the words of the text surface."""
        return KINDS[self.kind] if self.after_ms is None else f"retry after {_seconds(self.after_ms)} s"

    def to_json(self) -> dict[str, Any]:
        """The advice as it is sent."""
        if self.after_ms is not None:
            return {"kind": self.kind, "afterMs": self.after_ms}
        return {"kind": self.kind}

    @classmethod
    def from_json(cls, value: Mapping[str, object]) -> Retry:
        """Read the wire form.

        Args:
            value: The object under `retry` in an envelope.

        Raises:
            ValueError: If `value` is not one of the three forms.
        """
        kind = value.get("kind")
        if kind == NEVER:
            return _NEVER
        if kind == NOW:
            return _NOW
        after_ms = value.get("afterMs")
        if isinstance(after_ms, bool) or not isinstance(after_ms, int | float):
            after_ms = math.nan
        # A NaN is between no bounds.
        if kind == LATER and 0 <= after_ms <= MAX_AFTER_MS:
            # Up, so that a call is not made too early.
            return cls(LATER, math.ceil(after_ms))
        raise ValueError(f"not a retry advice: {value!r}")

    @property
    def caution(self) -> tuple[int, int]:
        """A key that sorts the most cautious advice first: never, then the longest wait, then now."""
        return list(KINDS).index(self.kind), -(self.after_ms or 0)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Retry is frozen: {name} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"Retry is frozen: {name} cannot be deleted")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Retry):
            return NotImplemented
        return (self.kind, self.after_ms) == (other.kind, other.after_ms)

    def __hash__(self) -> int:
        return hash((self.kind, self.after_ms))

    def __reduce__(self) -> tuple[type[Retry], tuple[RetryKind, int | None]]:
        return Retry, (self.kind, self.after_ms)

    def __repr__(self) -> str:
        if self.after_ms is not None:
            return f"Retry.after(seconds={_seconds(self.after_ms)})"
        return "Retry.now()" if self.retryable else "Retry.never()"


def _seconds(after_ms: int) -> str:
    whole, rest = divmod(after_ms, 1000)
    return f"{whole}.{rest:03}".rstrip("0") if rest else str(whole)


KINDS: Final[dict[RetryKind, str]] = {
    NEVER: "not retryable",
    LATER: "retry later",
    NOW: "retry now",
}
"""Every kind with its phrase in texts, the most cautious first."""
_NEVER: Final = Retry(NEVER)
_NOW: Final = Retry(NOW)


def stated_advice(value: object) -> Retry | None:
    """The advice that `value` is on the wire; None for anything else."""
    from mcpcore.values.untrusted import quietly

    return quietly(lambda: Retry.from_json(value), None) if isinstance(value, Mapping) else None
