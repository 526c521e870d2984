"""The retry advice of an entry: its own, or the default of its code, which the runtime may withhold."""

from functools import cache
from typing import Final

from mcpcore_lint.dataclasses import light
from mcpcore_lint.engine.registrations.hints import Hints, hints_of
from mcpcore_lint.model import CallValue, CodeValue, Const, ContractEntry, ToolDef, Value, is_left_out, strings

CHANGED_BY_HINTS: Final = frozenset({"SERVICE_UNAVAILABLE", "TIMEOUT"})
"""The codes whose default advice depends on the annotations.

The failed call may have taken effect, so the runtime withholds the advice unless the tool is annotated as read-only or
as idempotent. A rate limit rejects the call before it does anything."""


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


def sent_advice(entry: ContractEntry, tool: ToolDef) -> tuple[Advice | None, str | None]:
    """The advice and the effects that a failure of `tool` is sent with by default; None for what is not known."""
    code, declared = entry.code_value, entry.arguments["effects"].value
    advice, effects = advice_of(entry.arguments["retry"].value, code), strings(declared)
    if advice is None or code is None or code.custom or not code.exists:
        return advice, None
    if not is_left_out(declared) and (effects is None or len(effects) != 1):
        # One of several; as long as one of them may have changed something, only the author's own advice is certain.
        withheld = effects is not None and not {"partial", "unknown"}.isdisjoint(effects)
        return (advice if advice.explicit or not withheld else Advice(None, explicit=False)), None
    hints = hints_of(tool)
    if tool.kind == "tool" and hints.repeatable is None:
        return (advice if advice.explicit or advice.seconds is None else None), effects[0] if effects else None
    return _settled(advice, code.name, effects[0] if effects else None, hints if tool.kind == "tool" else None)


def _settled(advice: Advice, code: str, effects: str | None, hints: Hints | None) -> tuple[Advice, str | None]:
    from mcpcore.contract.codes import ErrorCode, Retry
    from mcpcore.contract.effects import CallState, as_effects, default_effects, settled

    seconds = advice.seconds
    suggested = Retry.never() if seconds is None else Retry.after(seconds=seconds) if seconds else Retry.now()
    call = None
    if hints is not None:
        stated = {"read_only_hint": hints.read_only == "true", "idempotent_hint": hints.idempotent == "true"}
        call = CallState(default_effects(stated))
    sent, retry = settled(call, ErrorCode[code], suggested, is_declared=advice.explicit, effects=as_effects(effects))
    return (advice if retry.retryable or seconds is None else Advice(None, explicit=False)), sent


@cache
def advice_of_codes() -> dict[str, Advice]:
    """The default advice of each code."""
    from mcpcore.contract.codes import ErrorCode

    return {name: Advice(code.retry.seconds, explicit=False) for name, code in ErrorCode.__members__.items()}
