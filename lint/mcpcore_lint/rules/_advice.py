"""The retry advice of an entry: its own, or the default of its code, which the runtime may withhold."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from mcpcore_lint.dataclasses import light
from mcpcore_lint.model import CallValue, Const, is_left_out

if TYPE_CHECKING:
    from mcpcore_lint.model import CodeValue, Value

CHANGED_BY_HINTS: Final = frozenset({"SERVICE_UNAVAILABLE", "TIMEOUT"})
"""The codes whose default advice depends on the annotations.

The failed call may have taken effect, so the runtime withholds the advice if the tool is annotated as neither read-only
nor idempotent. A rate limit rejects the call before it does anything."""


@light
class Advice:
    """The effective advice: the seconds to wait (0 is immediately, None is never) and its source."""

    seconds: float | None
    explicit: bool

    @property
    def words(self) -> str:
        """The advice in a message."""
        if self.seconds is None:
            return "not retryable"
        return "retryable immediately" if self.seconds == 0 else f"retryable after {self.seconds:g} seconds"


def advice_of(value: Value, code: CodeValue | None) -> Advice | None:
    """The effective advice; None if it is not known."""
    if isinstance(value, CallValue):
        match value.func.name:
            case "mcpcore.Retry.never":
                return Advice(None, explicit=True)
            case "mcpcore.Retry.now":
                return Advice(0.0, explicit=True)
            case "mcpcore.Retry.after":
                seconds = value.argument("seconds")
                if isinstance(seconds, Const) and isinstance(seconds.value, (int, float)):
                    return Advice(float(seconds.value), explicit=True)
        return None
    if not is_left_out(value) or code is None or code.custom or not code.exists:
        return None
    return advice_of_codes().get(code.name)


@cache
def advice_of_codes() -> dict[str, Advice]:
    """The default advice of each code."""
    from mcpcore.codes import ErrorCode

    return {name: Advice(code.retry.seconds, explicit=False) for name, code in ErrorCode.__members__.items()}
