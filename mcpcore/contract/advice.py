"""The advice of a failure in words: one table, for everything that shows it to a model or to a person.

A failure says whether the same call may be made again, what the call has changed, and where to look instead. If each is
said alone, they can contradict each other: "retry now", and "it may have taken effect: check first". So each
combination has one phrase, and `read_advice` finds the combination of a phrase.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from mcpcore.contract.codes import LATER, Effects, Retry, RetryKind
from mcpcore.contract.effects import CHANGED, PHRASES

BETWEEN: Final = " · "
"""Separates the parts of a phrase, and the phrase from the facts before and after it."""

_RETRY: Final = "{retry}"
_TOOL: Final = "{tool}"


class Row(NamedTuple):
    """The phrase of one combination; `{retry}` is the advice to repeat, and `{tool}` the fallback tool."""

    retryable: bool
    effects: Effects | None
    repeatable: bool
    """Whether a second call does no harm: the tool is idempotent, or changes nothing."""

    phrase: str
    with_fallback: str
    of_item: str
    """The phrase for an item of a batch, which is sent again without the others."""


def _rows() -> tuple[Row, ...]:
    rows: list[Row] = []
    known: tuple[Effects | None, ...] = (None, *PHRASES)
    for repeatable in (False, True):
        for effects in known:
            phrase = PHRASES[effects] if effects is not None else ""
            if effects in CHANGED:
                check = f"{phrase}: check{{0}} before you {{1}} again"
                rows.append(
                    Row(
                        retryable=False,
                        effects=effects,
                        repeatable=repeatable,
                        phrase=check.format("", "call"),
                        with_fallback=check.format(f" with {_TOOL}", "call"),
                        of_item=check.format("", "send this item"),
                    )
                )
            else:
                never = BETWEEN.join(filter(None, ("not retryable", phrase)))
                tried = f"{never}{BETWEEN}try {_TOOL}"
                rows.append(Row(*(False, effects, repeatable), phrase=never, with_fallback=tried, of_item=never))
        for effects in known:
            phrase = PHRASES[effects] if effects is not None else ""
            if effects in CHANGED:
                # The author says so, or the tool is idempotent: otherwise such a failure is not retryable.
                safe = f"{BETWEEN}safe to repeat" if repeatable else ""
                again = f"{_RETRY}{safe}, though {phrase}"
            else:
                safe = "safe to repeat" if repeatable and effects is None else ""
                again = BETWEEN.join(filter(None, (_RETRY, phrase, safe)))
            item = again.replace("safe to repeat", "safe to send again")
            tried = f"{again}{BETWEEN}or try {_TOOL}"
            rows.append(Row(*(True, effects, repeatable), phrase=again, with_fallback=tried, of_item=item))
    return tuple(rows)


ROWS: Final = _rows()
"""Every combination, those that forbid a repeat first."""

_BY_FACTS: Final = {(row.retryable, row.effects, row.repeatable): row for row in ROWS}


def advice_phrase(
    kind: RetryKind,
    after_ms: int | None,
    effects: Effects | None,
    *,
    repeatable: bool = False,
    fallback_tool: str | None = None,
    of_item: bool = False,
) -> str:
    """The phrase for a combination.

    Args:
        kind: The kind of the retry advice, which is taken in parts since these are faster to look up.
        after_ms: Its wait in milliseconds, or None.
        effects: Whether the call has changed anything; None where that is not known.
        repeatable: Whether a second call does no harm.
        fallback_tool: Another tool to look at, as it is to be written.
        of_item: Whether the advice is about an item of a batch.
    """
    # An envelope that was read may have a name of any length, which must not stay in memory.
    is_short = fallback_tool is None or len(fallback_tool) <= _MAX_KEPT
    return (_phrase if is_short else _phrase.__wrapped__)(kind, after_ms, effects, repeatable, fallback_tool, of_item)


_MAX_KEPT: Final = 200
"""Characters of a fallback tool that is kept with its phrase."""


@lru_cache(maxsize=1_000)
def _phrase(
    kind: RetryKind,
    after_ms: int | None,
    effects: Effects | None,
    repeatable: bool,  # noqa: FBT001 - for the cache
    fallback_tool: str | None,
    of_item: bool,  # noqa: FBT001 - the same
) -> str:
    retry = Retry(kind, after_ms)
    # Effects of a later version are not known here.
    row = _BY_FACTS.get((retry.retryable, effects, repeatable)) or _BY_FACTS[retry.retryable, None, repeatable]
    if of_item:
        return row.of_item.replace(_RETRY, retry.phrase.replace("retry", "send this item again", 1))
    phrase = (row.phrase if fallback_tool is None else row.with_fallback).replace(_RETRY, retry.phrase)
    return phrase if fallback_tool is None else phrase.replace(_TOOL, fallback_tool)


class Facts(NamedTuple):
    """What a phrase says."""

    retry: Retry
    effects: Effects | None = None
    repeatable: bool = False
    fallback_tool: str | None = None
    """As it is written."""


_WAIT: Final = re.compile(r"retry after ([0-9]{1,13})(?:\.([0-9]{1,3}))? s")
_AGAIN: Final = re.compile(r"retry now|retry after [0-9.]{1,17} s")
_CHECK_WITH: Final = tuple(f"{PHRASES[effects]}: check with " for effects in PHRASES if effects in CHANGED)
_CALL_AGAIN: Final = " before you call again"

_READ: Final[dict[str, tuple[bool, Effects | None, bool]]] = {
    # Before version 0.1, each part was said by itself.
    **{
        f"{retry}{BETWEEN}{words}{check}": (retry == _RETRY, effects, False)
        for retry in ("not retryable", _RETRY)
        for effects, words in PHRASES.items()
        for check in ("", ": check before you call again")
        if not check or effects in CHANGED
    },
    # Where two rows have one phrase, the first of them is meant.
    **{row.phrase: (row.retryable, row.effects, row.repeatable) for row in reversed(ROWS)},
}


def read_advice(phrase: str) -> Facts | None:
    """What `phrase` says; None if `advice_phrase` cannot have written it."""
    # Another server may have written it, at any length, so each step takes linear time. A name has no separator.
    tool = None
    before, _, last = phrase.rpartition(BETWEEN)
    start = next((words for words in ("try ", "or try ") if last.startswith(words)), None)
    if start is not None:
        phrase, tool = before, last[len(start) :]
    elif phrase.endswith(_CALL_AGAIN) and (start := next(filter(phrase.startswith, _CHECK_WITH), None)) is not None:
        tool = phrase[len(start) : -len(_CALL_AGAIN)]
        phrase = f"{start.removesuffix(' with ')}{_CALL_AGAIN}"
    again = _AGAIN.match(phrase)
    known = _READ.get(phrase if again is None else _RETRY + phrase[again.end() :])
    if known is None or (tool is not None and (not tool or "·" in tool)) or (again is None and known[0]):
        return None
    retryable, effects, repeatable = known
    retry = Retry.never() if not retryable or again is None else _retry(again[0])
    return None if retry is None else Facts(retry, effects, repeatable, tool)


def _retry(words: str) -> Retry | None:
    if words == Retry.now().phrase:
        return Retry.now()
    match = _WAIT.fullmatch(words)
    if match is None:
        return None
    # In milliseconds, since a float does not hold the longest wait exactly.
    after_ms = int(match[1]) * 1000 + int((match[2] or "").ljust(3, "0"))
    try:
        retry = Retry.from_json({"kind": LATER, "afterMs": after_ms})
    except ValueError:
        return None
    return retry if retry.phrase == words else None
