"""The failure of a batch whose items all failed: the same for the same items, whatever their order.

A batch may do its items one after another or concurrently, so their order says nothing about what went wrong. Each
part of the failure is computed from all items: a count, a maximum, or the first of a sorted list.
"""

from __future__ import annotations

import re
from bisect import insort
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mcpcore.contract.advice import BETWEEN
from mcpcore.contract.codes import Code, Effects, ErrorCode, severity
from mcpcore.contract.effects import CHANGED, weakest
from mcpcore.contract.errors import CodedError
from mcpcore.values.escaping import one_line
from mcpcore.values.jsonable import JSON, cut_text, dumps, size
from mcpcore.wire.envelope_text import INDENT, word

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcpcore.contract.failure_modes import Contract, FailureMode
    from mcpcore.contract.retry import Retry
    from mcpcore.wire.envelope import Envelope

COUNTS: Final = "counts"
"""The key of `data` with the number of failed items by reason, or by the name of the code where there is no reason."""

SEE_ITEMS: Final = "Read `failed` in the data: each item says why it failed and what to do about it."
"""The recovery of a batch whose items need different recoveries."""

_MAX_NAMED: Final = 20
"""Items that the advice of a batch names."""

_MAX_LABEL: Final = 100
"""Characters of an item in a text."""

_MAX_COUNTS: Final = 50
_OTHERS: Final = "(others)"

_MAX_LISTED: Final = 12 * 1024
"""Bytes of the failed items in the data of a batch that failed as a whole."""


class WholeFailure:
    """Gathers the failed items of a batch, in any order, for the failure of the batch as a whole."""

    def __init__(self, *, max_items: int) -> None:
        """Gather items, of which the failure lists at most `max_items`, within 12 KiB."""
        self._max = max_items
        self._counts: Counter[str] = Counter()
        self._steps: Counter[Step] = Counter()
        self._reasons: set[str | None] = set()
        self._recoveries: dict[str, Mapping[str, Any] | None] = {}
        self._retry: Retry | None = None
        self._messages: set[str] = set()
        self._effects: list[Effects | None] = []
        self._number = 0
        # Sorted. A later item can only move the others back, so an item that has no room now never has room again.
        self._listed: list[tuple[tuple[Any, ...], int, int, dict[str, Any], Envelope]] = []
        self._first_unlisted: tuple[Any, ...] | None = None
        """The key of the first item without room. No item after it is listed, however small it is."""

    def add(self, failure: dict[str, Any], envelope: Envelope) -> None:
        """Add a failed item: `failure` as the answer lists it, and its envelope."""
        self._number += 1
        self._counts[reason_or_code(envelope)] += 1
        self._steps[Step.of(envelope)] += 1
        # Two different values are as many as there could be: of more, none is kept.
        if len(self._reasons) < 2:
            self._reasons.add(envelope.reason)
        if len(self._recoveries) < 2:
            self._recoveries[dumps(dict(envelope.recovery or {}))] = envelope.recovery
        self._effects = [weakest((envelope.effects, *self._effects))]
        if len(self._messages) < 2:
            self._messages.add(envelope.message)
        advice = (envelope.retry,) if self._retry is None else (self._retry, envelope.retry)
        self._retry = min(advice, key=lambda retry: retry.caution)
        key = _order(failure["item"], envelope)
        if self._first_unlisted is not None and key >= self._first_unlisted:
            return
        insort(self._listed, (key, self._number, size(failure), failure, envelope))
        room = _MAX_LISTED
        for place, (_, _, weight, _, _) in enumerate(self._listed):
            room -= weight
            # The first place is never removed: the code and the message of the whole failure are those of its item.
            if place and (room < 0 or place >= self._max):
                self._first_unlisted = self._listed[place][0]
                del self._listed[place:]
                break

    def error(self, contract: Contract[Any]) -> CodedError:
        """The failure of the batch, under the contract of its tool."""
        most_severe = self._listed[0][-1]
        reason = next(iter(self._reasons)) if len(self._reasons) == 1 else None
        data: dict[str, Any] = {COUNTS: self._shown_counts()}
        listed = [failure for *_, failure, _ in self._listed]
        rest = self._counts - Counter(reason_or_code(envelope) for *_, envelope in self._listed)
        if (note := note_of(_by_name(rest))) is not None:
            data["note"] = note
        if len(self._steps) > 1 and any(step.retry.retryable for step in self._steps):
            # The advice for the whole call is that of the most cautious item; others may be sent again.
            items = [FailedItem.of(failure["item"], envelope) for *_, failure, envelope in self._listed]
            data["advice"] = advice_of(items, self._steps - Counter(item.step for item in items))
        if reason is not None:
            # The data model of the reason may require them.
            data = {**data, **{key: value for key, value in most_severe.details.items() if key not in data}}
        entry = contract.get(reason)
        recovery = self._recovery(entry, reason)
        effects = weakest(self._effects)
        error = CodedError(
            code_of(most_severe),
            self._message(most_severe, reason),
            {**data, "failed": listed},
            reason=reason,
            recovery=... if entry is not None and recovery == entry.recovery_json() else recovery,
            retry=self._retry,
            effects=effects,
        )
        # What an entry says of one failure may not hold for the other items.
        error.omits_effects = True
        return error

    def _message(self, most_severe: Envelope, reason: str | None) -> str:
        count, message = self._number, most_severe.message
        if count == 1:
            return message
        if len(self._messages) == 1:
            return f"All {count} items failed: {message}"
        if reason is not None:
            return f"All {count} items failed; one of them: {message}"
        return f"All {count} items failed: {_listing(_by_name(self._counts))}. The most severe: {message}"

    def _recovery(self, entry: FailureMode[Any] | None, reason: str | None) -> Any:
        """The recovery that the items share; else the declared one of their reason, else where to find theirs."""
        if len(self._recoveries) == 1:
            return next(iter(self._recoveries.values()))
        # A template, filled for one item, may be wrong for the others.
        is_of_item = entry is not None and (entry.templates is not None or entry.fallback_arguments is not None)
        return SEE_ITEMS if reason is None or is_of_item else ...

    def _shown_counts(self) -> dict[str, int]:
        ordered = Counter(_by_name(self._counts)).most_common()
        shown = dict(ordered[:_MAX_COUNTS])
        if others := sum(count for _, count in ordered[_MAX_COUNTS:]):
            shown[_OTHERS] = shown.get(_OTHERS, 0) + others
        return shown


class Step(NamedTuple):
    """What may be done next with a failed item."""

    retry: Retry
    must_check: bool
    """Whether the item may have taken effect, so that sending it again may do it twice."""

    @classmethod
    def of(cls, envelope: Envelope) -> Step:
        """The step after the failure of an item."""
        return cls(envelope.retry, not envelope.retryable and envelope.effects in CHANGED)


class FailedItem(NamedTuple):
    """A failed item as a model reads it."""

    label: str
    line: str
    """Why it failed, what to do about it, and the advice, each in one line."""

    step: Step

    @classmethod
    def of(cls, item: JSON, envelope: Envelope, *, number: int | None = None) -> FailedItem:
        """Describe the failure of `item`. Its texts may be a caller's, so none of them begins a line.

        `number` tells long items apart, whose texts are cut; None where the order of the items must not show.
        """
        label = _label(item, number)
        facts = [] if envelope.reason is None else [f"reason {word(envelope.reason)}"]
        facts += [word(envelope.name), envelope.item_advice, f"id {envelope.correlation_id}"]
        lines = [f"Failed: {label} — {one_line(envelope.message)}"]
        if envelope.hint is not None:
            lines.append(f"{INDENT}Recovery: {one_line(envelope.hint)}")
        lines.append(f"{INDENT}({BETWEEN.join(facts)})")
        return cls(label, "\n".join(lines), Step.of(envelope))


def _label(item: JSON, number: int | None) -> str:
    """The name of an item within a sentence: JSON, but for plain words, so that it cannot pass for a part of it."""
    if isinstance(item, str) and len(item) <= _MAX_LABEL and _PLAIN.fullmatch(item):
        return item
    text = one_line(dumps(item)).replace("·", "\\u00b7")
    cut = text if len(text) <= _MAX_LABEL else cut_text(text, _MAX_LABEL)
    return cut if cut is text or number is None else f"item {number} ({cut})"


_PLAIN: Final = re.compile(r"[\w.@#/:+-]+(?: [\w.@#/:+-]+)*")


def advice_of(items: Sequence[FailedItem], unlisted: Mapping[Step, int]) -> str:
    """Which of the failed items of a batch may be sent again, and when; the others are done already.

    Args:
        items: The failed items that are named.
        unlisted: How many further items failed, by the step that comes next.
    """
    steps: dict[Step, list[str]] = {}
    for item in items:
        steps.setdefault(item.step, []).append(item.label)
    for step in unlisted:
        steps.setdefault(step, [])
    parts: list[str] = []
    for step, labels in sorted(steps.items(), key=lambda pair: pair[0].retry.caution, reverse=True):
        named = _named(labels, unlisted.get(step, 0))
        if step.retry.retryable:
            parts.append(f"send again only {named}, {step.retry.phrase.removeprefix('retry ')}")
        elif step.must_check:
            parts.append(f"check before you send again: {named}")
    return BETWEEN.join(parts) or "send none of the failed items again as they are"


def _named(labels: Sequence[str], unlisted: int) -> str:
    rest = len(labels[_MAX_NAMED:]) + unlisted
    more = [f"{rest} {'item' if rest == 1 else 'items'} not named here"] if rest else []
    return ", ".join([*labels[:_MAX_NAMED], *more])


def reason_or_code(envelope: Envelope) -> str:
    """The key by which failed items are counted; taken from the envelope, which holds no secret."""
    return one_line(envelope.reason or envelope.name)


def note_of(left_out: Mapping[str, int]) -> str | None:
    """How many more items failed, and why; None if all are listed."""
    return f"{sum(left_out.values())} more items failed and are not listed: {_listing(left_out)}." if left_out else None


def code_of(envelope: Envelope) -> Code:
    """The code of a failed item; INTERNAL_ERROR for a code of another application."""
    return envelope.error_code or ErrorCode.INTERNAL_ERROR


def _listing(counts: Mapping[str, int]) -> str:
    """The counts, the highest first; equal counts keep their order."""
    ordered = Counter(counts).most_common()
    return ", ".join(f"{count} {name}" for name, count in ordered[:10]) + (", …" if ordered[10:] else "")


def _by_name(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items()))


def _order(item: Any, envelope: Envelope) -> tuple[Any, ...]:
    """The sort key of a failed item: the most severe first. Items with the same key differ in ids and times only."""
    is_number = isinstance(item, int | float) and not isinstance(item, bool)
    error = envelope.to_json()
    del error["correlationId"], error["timestamp"]
    return (
        severity(code_of(envelope)),
        envelope.reason or "",
        (0, item, "") if is_number else (1, 0, dumps(item)),
        envelope.message,
        dumps(error),
    )
