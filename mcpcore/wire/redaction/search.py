"""The search for secrets in texts: one pass for all hints of the table, then each row only where it can match."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence, Set as AbstractSet
from functools import cache, lru_cache, partial
from typing import Final, NamedTuple

from mcpcore.wire.redaction.table import (
    KEY,
    KEY_PREFIXES,
    PATTERNS,
    REDACTED,
    SCHEME,
    STORE_NAMES,
)

LONGEST_WORD: Final = 1_400
"""The longest text without a blank that a pattern needs: a URL up to the end of its password."""


def redact_text(text: str) -> str:
    """`text` without the secrets that their shape or a name in front of them shows."""
    low = lowered(text)
    hints = hints_in(low, alone=False)
    return _without(text, low, hints, alone=False) if hints else text


def suspects(texts: Sequence[str]) -> set[str]:
    """Those of the texts that may hold a secret. One search over all of them is faster than a search for each."""
    whole = lowered("\0".join(texts))
    hits = [*_scanner(alone=False)[0].finditer(whole)]
    if hits and whole.count("\0") != len(texts) - 1:
        return set(texts)
    holders: set[str] = set()
    number = before = 0
    for hit in hits:
        at = hit.start()
        number += whole.count("\0", before, at)
        before = at
        holders.add(texts[number])
    return holders


def redact_shapes(text: str) -> str:
    """`text` without the secrets that are known by their shape alone; names in front of values do not count."""
    low = lowered(text)
    hints = hints_in(low, alone=True)
    return _without(text, low, hints, alone=True) if hints else text


def may_hold_shape(text: str) -> bool:
    """Whether `text` may hold a secret that is known by its shape alone."""
    return _scanner(alone=True)[0].search(text.lower() if text.isascii() else lowered(text)) is not None


_AHEAD: Final = {hint: pattern.ahead for pattern in PATTERNS for hint in pattern.hints}

_RARITY: Final = "zjxqk%?&=:\"'vb@pgwf0123456789cymudhnlrs-oia_te/. "
"""Letters from the rarest to the most frequent, in English and in the messages of programs."""


@cache
def _scanner(*, alone: bool) -> tuple[re.Pattern[str], dict[str, list[str]]]:
    """An expression that finds a rare letter of each hint in a text in lower case, and the hints by this letter.

    One pass over the text stops seldom; a search for each hint takes as many passes as there are hints. With `alone`,
    only hints of secrets that are known by their shape. Compiled on first use: a program that never fails need not
    wait for it.
    """
    hints: dict[str, list[str]] = {}
    rarities = {
        hint: min(map(_RARITY.index, hint))
        for pattern in PATTERNS
        if pattern.alone or not alone
        for hint in pattern.hints
    }
    # Those without a rare letter come first: at their letters the search stops anyway.
    for hint in sorted(rarities, key=lambda hint: (rarities[hint], hint), reverse=True):
        hints.setdefault(min(hints.keys() & {*hint} or hint, key=_RARITY.index), []).append(hint)
    branches: list[str] = []
    for letter, words in hints.items():
        # The letter alone is read, so that one hint may overlap with another.
        rests = (f"{re.escape(word.partition(letter)[2])}(?<={re.escape(word)}){_AHEAD[word]}" for word in words)
        branches.append(f"{re.escape(letter)}(?={'|'.join(rests)})")
    return re.compile("|".join(branches)), hints


def hints_in(low: str, *, alone: bool) -> frozenset[str]:
    """The hints in a text in lower case."""
    scanner, hints = _scanner(alone=alone)
    return frozenset(
        hint
        for letter in {*scanner.findall(low)}
        for hint in hints[letter]
        if hint in low and (not _AHEAD[hint] or _whole(hint).search(low) is not None)
    )


@cache
def _whole(hint: str) -> re.Pattern[str]:
    return re.compile(re.escape(hint) + _AHEAD[hint])


def lowered(text: str) -> str:
    """`text` in lower case with the same offsets; odd letters become the ASCII letters that they equal."""
    if not text.isascii():
        for odd, letter in ODD_LETTERS.items():
            text = text.replace(odd, letter)
    return text.lower()


ODD_LETTERS: Final = {"\u0130": "i", "\u0131": "i", "\u017f": "s", "\u212a": "k"}
"""Letters outside ASCII that equal one of ASCII regardless of case, or become two letters in lower case."""


class _Row(NamedTuple):
    """A row of the table, prepared for texts with certain hints."""

    needs: tuple[str, str]
    places: Callable[[str], list[int]]
    match: Callable[[str, int], re.Match[str] | None]
    kept: int
    """The number of the group that is kept; 0 if the match has no group."""
    tail: str


@lru_cache(maxsize=1024)
def _plan(hints: frozenset[str], *, alone: bool) -> tuple[_Row, ...]:
    """The rows that can match a text with exactly these hints; with `alone`, those that need no name."""
    rows: list[_Row] = []
    for pattern in PATTERNS:
        if hints.isdisjoint(pattern.hints) or (alone and not pattern.alone):
            continue
        starts = tuple(start for start in pattern.starts or pattern.hints if _may_start(start, hints))
        # If there is only one literal beginning, the text must hold it.
        single = len(starts) == 1 and starts[0][0] != "*" and not pattern.needs[0]
        needs = (starts[0], starts[0]) if single else pattern.needs
        expression = _compiled(pattern.expression)
        rows.append(_Row(needs, _finder(starts), expression.match, min(expression.groups, 1), pattern.tail))
    return tuple(rows)


def _may_start(start: str, hints: AbstractSet[str]) -> bool:
    if start is KEY:
        return "key" in hints
    # The hints of these come later in the match.
    return start is SCHEME or start == "--" or start[0] in "?&" or any(hint in start or start in hint for hint in hints)


def _without(text: str, low: str, hints: frozenset[str], *, alone: bool) -> str:
    """The text without the matches of the rows, applied in order; `text` itself without a match."""
    finder: Callable[[str], list[int]] | None = None
    places: list[int] = []
    for needs, find, match, kept, tail in _plan(hints, alone=alone):
        if needs[0] not in low and needs[1] not in low:
            continue
        if find is not finder:
            finder, places = find, find(low)
            if len(places) > _MOST_PLACES:
                # Only an attacker names so many secrets. Hiding the rest of the text keeps the time bounded.
                text = text[: places[_MOST_PLACES]] + REDACTED
                low = lowered(text)
                del places[_MOST_PLACES:]
        # Like `regex.sub`, but tried only where a match can begin.
        pieces: list[str] = []
        done = 0
        for at in places:
            if at >= done and (matched := match(text, at)) is not None:
                pieces.append(text[done : matched.end(kept) if kept else at])
                done = matched.end()
        if pieces:
            text = tail.join((*pieces, text[done:]))
            low = lowered(text)
            finder = None
    return text


_MOST_PLACES: Final = 5_000
"""The most names of secrets in a text; the text after them is hidden."""


@cache
def _finder(starts: tuple[str, ...]) -> Callable[[str], list[int]]:
    """The function that finds the places in a text in lower case where a match can begin."""
    if starts == (SCHEME,):
        return _scheme_places
    if starts == (KEY,):
        return _key_places
    if starts == ("--",):
        return _option_places
    return partial(_places, starts)


def _places(starts: tuple[str, ...], low: str) -> list[int]:
    places: list[int] = []
    for start in starts:
        if start is KEY:
            places += _key_places(low)
            continue
        at = low.find(start)
        while at >= 0:
            places.append(at)
            at = low.find(start, at + 1)
    if len(places) > 1:
        places.sort()
    return places


def _option_places(low: str) -> list[int]:
    """The places of long options; a line of dashes does not count."""
    return [option.start() for option in _compiled(r"--(?=(?:[a-z0-9]{1,16}+-){0,3}+[a-z])").finditer(low)]


def _key_places(low: str) -> list[int]:
    """The places of names that end in `key`: `api_key`, `access-key`, `API key`, `secretkey`."""
    places: list[int] = []
    at = low.find("key")
    while at >= 0:
        end = at - 1 if at and low[at - 1] in "_- " else at
        places += [end - len(prefix) for prefix in KEY_PREFIXES if low.endswith(prefix, 0, end)]
        at = low.find("key", at + 3)
    return places


_STORE_ENDS: Final = {
    end: tuple(name for name in STORE_NAMES if name.endswith(end)) for end in {name[-2:] for name in STORE_NAMES}
}


_DRIVER: Final = re.compile(r"[\w.]+")
_LONGEST_DRIVER: Final = 32


def _scheme_places(low: str) -> list[int]:
    """The places of URLs of stores."""
    places: list[int] = []
    for mark in _compiled(r"://(?<=[\w.]://)").finditer(low):
        at = mark.start()
        # A driver may follow the store: `postgresql+asyncpg`.
        plus = low.rfind("+", max(0, at - _LONGEST_DRIVER - 1), at)
        end = plus if plus >= 0 and _DRIVER.fullmatch(low, plus + 1, at) is not None else at
        for name in _STORE_ENDS.get(low[max(0, end - 2) : end], ()):
            begin = end - len(name)
            if low.endswith(name, 0, end) and not (begin and (low[begin - 1].isalnum() or low[begin - 1] == "_")):
                places.append(begin)
    return places


@cache
def _compiled(expression: str) -> re.Pattern[str]:
    return re.compile(expression)
