"""What an agent did after each failure that it met, from the log of a server's calls."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Literal

from mcpcore.contract.effects import CHANGED
from mcpcore.contract.retry import Retry
from mcpcore.values.untrusted import quietly

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Verdict = Literal["allowed", "against the advice", "unclear"]

_SLACK: Final = 0.05
"""Seconds by which a call may come earlier than advised: timers are no more exact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Met:
    """A failure that an agent met, and what it did next.

    Attributes:
        call: The line of the log.
        number: The number of the line.
        then: What the agent did next, in words.
        verdict: Whether the advice allowed it; "unclear" where the log does not decide.
    """

    call: dict[str, Any]
    number: int
    then: str
    verdict: Verdict

    def to_json(self) -> dict[str, Any]:
        """The facts of the line, and what came of them."""
        names = ("tool", "reason", "code", "advice", "effects", "injected", "time", "session")
        facts = {name: self.call[name] for name in names if name in self.call}
        return {"line": self.number, **facts, "then": self.then, "verdict": self.verdict}


def read_log(lines: Iterable[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The calls in a log, with the numbers of their lines.

    Raises:
        ValueError: If a line is not one of such a log; the message names it.
    """
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        call = quietly(lambda: json.loads(line), None)  # noqa: B023 - called immediately
        if not isinstance(call, dict) or not isinstance(call.get("tool"), str) or _time(call) is None:
            raise ValueError(f"line {number} is not a line of a log of calls")
        if call.get("outcome") not in ("success", "failure"):
            raise ValueError(f"line {number}: the outcome is neither success nor failure")
        yield number, call


def report_of(calls: Iterable[tuple[int, dict[str, Any]]]) -> list[Met]:
    """Each failure in `calls`, and what the same session did next."""
    sessions: dict[object, list[tuple[int, dict[str, Any]]]] = {}
    for number, call in calls:
        sessions.setdefault(call.get("session"), []).append((number, call))
    met = [
        _met(number, call, [later for _, later in own[index + 1 :]])
        for own in sessions.values()
        for index, (number, call) in enumerate(own)
        if call["outcome"] == "failure"
    ]
    return sorted(met, key=lambda failure: failure.number)


def _met(number: int, call: dict[str, Any], later: Sequence[dict[str, Any]]) -> Met:
    then, verdict = _next(call, later)
    return Met(call=call, number=number, then=then, verdict=verdict)


def _next(call: dict[str, Any], later: Sequence[dict[str, Any]]) -> tuple[str, Verdict]:
    retry = quietly(lambda: Retry.from_json(call.get("retry") or {}), Retry.never())
    again = next((index for index, other in enumerate(later) if _is_same(other, call)), None)
    if again is not None:
        between = later[:again]
        tools = [*dict.fromkeys(other["tool"] for other in between)]
        waited = _waited(call, later[again])
        then = (
            f"{'called ' + ', '.join(tools) + ', then ' if tools else ''}made the same call again after {waited:.1f} s"
        )
        if not retry.retryable:
            return then, _verdict_on_repeat(call, between)
        if retry.after_ms is not None and waited + _SLACK < retry.after_ms / 1000:
            return f"{then}, not after {retry.after_ms / 1000:.1f} s", "against the advice"
        return then, "allowed"
    if not later:
        return "made no other call", "allowed"
    following = later[0]["tool"]
    if following != call["tool"]:
        return f"called {following}", "allowed"
    # With other arguments, it may do a second time what the first call has done already.
    may_have_changed = call.get("effects") in CHANGED
    return f"called {following} with other arguments", "unclear" if may_have_changed else "allowed"


def _verdict_on_repeat(call: dict[str, Any], between: Sequence[dict[str, Any]]) -> Verdict:
    """Whether a call whose failure says not to repeat it may be repeated after the calls in `between`."""
    succeeded = {other["tool"] for other in between if other["outcome"] == "success"}
    fallback = call.get("fallbackTool")
    if call.get("effects") in CHANGED and fallback is not None:
        # The advice is to look there before the next call.
        return "allowed" if fallback in succeeded else "against the advice"
    # Any other call that succeeded may have changed what made this one fail.
    return "unclear" if succeeded else "against the advice"


def _is_same(call: dict[str, Any], other: dict[str, Any]) -> bool:
    return bool(call["tool"] == other["tool"] and call.get("arguments") == other.get("arguments"))


def _time(call: dict[str, Any]) -> datetime | None:
    return quietly(lambda: datetime.fromisoformat(call["time"]), None)


def _waited(call: dict[str, Any], other: dict[str, Any]) -> float:
    """Seconds between two calls."""
    first, second = _time(call), _time(other)
    return 0.0 if first is None or second is None else (second - first).total_seconds()
