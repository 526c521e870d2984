"""What an agent did after each failure that it met, from the log of a server's calls."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal

from mcpcore.contract.codes import Retry, stated_advice
from mcpcore.contract.effects import CHANGED
from mcpcore.values.untrusted import quietly

Verdict = Literal["allowed", "against the advice", "unclear"]

_TEXTS: Final = ("arguments", "code", "reason", "advice", "effects", "fallbackTool")

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
            raise ValueError(f"line {number} is not from a log of calls")
        wrong = [name for name in _TEXTS if not isinstance(call.get(name), str | None)]
        wrong += [] if isinstance(call.get("session"), int | None) else ["session"]
        if wrong:
            raise ValueError(f"line {number}: {wrong[0]} has a value of the wrong type")
        if call.get("outcome") not in ("success", "failure"):
            raise ValueError(f"line {number}: the outcome is neither success nor failure")
        yield number, call


def report_of(calls: Iterable[tuple[int, dict[str, Any]]]) -> list[Met]:
    """Each failure in `calls`, and what the same session did next."""
    sessions: dict[object, list[tuple[int, dict[str, Any]]]] = {}
    for number, call in calls:
        sessions.setdefault(call.get("session"), []).append((number, call))
    met = [failure for own in sessions.values() for failure in _met_in(own)]
    return sorted(met, key=lambda failure: failure.number)


def _met_in(calls: Sequence[tuple[int, dict[str, Any]]]) -> Iterator[Met]:
    """The failures of one session, from the last: the repeat of a call is then known already."""
    repeats: dict[tuple[str, Any], int] = {}
    for index in range(len(calls) - 1, -1, -1):
        number, call = calls[index]
        key = (call["tool"], call.get("arguments"))
        if call["outcome"] == "failure":
            then, verdict = _next(calls, index, repeats.get(key))
            yield Met(call=call, number=number, then=then, verdict=verdict)
        repeats[key] = index


def _next(calls: Sequence[tuple[int, dict[str, Any]]], index: int, repeat: int | None) -> tuple[str, Verdict]:
    """What came after the failure at `index`, whose call was made again at `repeat`, if at all."""
    call = calls[index][1]
    retry = stated_advice(call.get("retry")) or Retry.never()
    if repeat is not None:
        between = [later for _, later in calls[index + 1 : repeat]]
        tools = [*dict.fromkeys(other["tool"] for other in between)]
        waited = _waited(call, calls[repeat][1])
        then = (
            f"{'called ' + ', '.join(tools) + ', then ' if tools else ''}made the same call again after {waited:.1f} s"
        )
        if not retry.retryable:
            return then, _verdict_on_repeat(call, between)
        if retry.after_ms is not None and waited + _SLACK < retry.after_ms / 1000:
            return f"{then}, not after {retry.after_ms / 1000:.1f} s", "against the advice"
        return then, "allowed"
    if index + 1 == len(calls):
        return "made no other call", "allowed"
    following = calls[index + 1][1]["tool"]
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


def _time(call: dict[str, Any]) -> datetime | None:
    time = quietly(lambda: datetime.fromisoformat(call["time"]), None)
    return None if time is None or time.tzinfo is None else time


def _waited(call: dict[str, Any], other: dict[str, Any]) -> float:
    """Seconds between two calls."""
    first, second = _time(call), _time(other)
    return 0.0 if first is None or second is None else (second - first).total_seconds()
