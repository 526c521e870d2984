"""The search for secrets in texts: one pass for all hints of the table, then each row only where it can match."""

from __future__ import annotations

import re
import sys
from bisect import bisect_left
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mcpcore.redaction.table import (
    KEY,
    KEY_PREFIXES,
    NAME,
    PATTERNS,
    REDACTED,
    SCHEME,
    STORE_NAMES,
    Pattern,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from collections.abc import Set as AbstractSet

MIN_LENGTH: Final = 5
"""The length of the shortest text that can hold a secret: `pwd=x`."""


def redact_hinted(text: str) -> str:
    """`text` without the secrets that their shape or a name in front of them shows; JSON may break."""
    low = text.lower() if text.isascii() else lowered(text)
    hints = scanner(alone=False)
    # Most texts hold no hint, and to search for the first one takes less time than to list them.
    if hints.search(low) is None and UPPER_HINT not in text:
        return text
    return _without(text, low, _hits(hints, text, low), alone=False)


def holds_hint(texts: Iterable[str]) -> bool:
    """Whether any of the texts may hold a secret. One search over all of them is faster than a search for each."""
    text = "\0".join(texts)
    return UPPER_HINT in text or scanner(alone=False).search(lowered(text)) is not None


def redact_shapes(text: str) -> str:
    """`text` without the secrets that are known by their shape alone; names in front of values do not count."""
    hits = shape_hits(text)
    return _without(text, lowered(text), hits, alone=True) if hits else text


def shape_hits(text: str) -> list[str]:
    """The hints in `text` at secrets that are known by their shape alone; empty if it holds none of these secrets."""
    return _hits(scanner(alone=True), text, lowered(text))


# A hint is found by its rarest letter, so that one pass over a text stops seldom. A search for each hint by itself
# takes as many passes as there are hints.

_RARITY: Final = "zjxqk%?&=:\"'vb@pgwf0123456789cymudhnlrs-oia_te/. "
"""Letters from the rarest to the most frequent, in English and in the messages of programs."""

UPPER_HINT: Final = "ASIA"
"""The one hint without a rare letter. Its secrets are in capitals, which are rare themselves."""


@cache
def scanner(*, alone: bool) -> re.Pattern[str]:
    """Finds the hints in a text in lower case; a match begins with the rarest letter of its hint.

    With `alone`, only those of secrets that are known by their shape. Compiled on first use: a program that never
    fails need not wait for it.
    """
    hints = {hint for pattern in PATTERNS if pattern.alone or not alone for hint in pattern.hints}
    return re.compile("|".join(_branches(sorted(hints - {UPPER_HINT.lower()}))))


def _branches(hints: list[str]) -> Iterable[str]:
    """The alternatives of an expression that finds the hints."""
    # An overlap of two hints was read with the first of them. Tokens that begin with a hint of the same vendor row
    # never begin within another token, so they need no such care.
    ends: dict[str, list[str]] = {}
    for hint in hints:
        for at in range(1, len(hint)):
            ends.setdefault(hint[at:], []).append(hint)
    shared: dict[str, int] = {}
    for hint in hints:
        alone = {hint, *(other for other in hints if _ROWS[other] == _ROWS[hint] == {_VENDORS})}
        sizes = (size for size in range(len(hint) - 1, 0, -1) if not alone.issuperset(ends.get(hint[:size], ())))
        shared[hint] = next(sizes, 0)
    letters = _letters([hint[shared[hint] :] for hint in hints])
    anchored: dict[str, list[str]] = {}
    for hint in hints:
        places = (place for place in range(shared[hint], len(hint)) if hint[place] in letters)
        at = min(places, key=lambda place: _RARITY.index(hint[place]))
        anchored.setdefault(hint[at], []).append(re.escape(hint[at + 1 :]) + (rf"(?<={re.escape(hint)})" if at else ""))
    for letter, rests in anchored.items():
        yield rf"{re.escape(letter)}(?:{'|'.join(sorted(rests, key=len, reverse=True))})"


def _letters(words: list[str]) -> set[str]:
    """Letters of which each word has one: the rarest of each, without those that the others make needless."""
    letters = {min(word, key=_RARITY.index) for word in words}
    for letter in sorted(letters, key=_RARITY.index, reverse=True):
        if all(letters.intersection(word) - {letter} for word in words):
            letters.remove(letter)
    return letters


_VENDORS: Final = next(number for number, pattern in enumerate(PATTERNS) if pattern.name == "vendor token")
_ROWS: Final = {
    hint: frozenset(number for number, pattern in enumerate(PATTERNS) if hint in pattern.hints)
    for hint in sorted({hint for pattern in PATTERNS for hint in pattern.hints})
}
HINTS: Final = tuple(hint for hint in _ROWS if hint != UPPER_HINT.lower())


def _hits(scanner: re.Pattern[str], text: str, low: str) -> list[str]:
    """The hints that the scanner finds in a text; `low` is the text as `lowered` returns it."""
    hits: list[str] = scanner.findall(low)
    if UPPER_HINT in text:
        hits.append(UPPER_HINT.lower())
    return hits


def has_odd_letters(text: str) -> bool:
    """Whether a letter outside ASCII equals one of ASCII regardless of case, or becomes two letters in lower case."""
    return not text.isascii() and ("\u0130" in text or "\u0131" in text or "\u017f" in text or "\u212a" in text)


def lowered(text: str) -> str:
    """`text` in lower case with the same offsets; odd letters become the ASCII letters that they equal."""
    if has_odd_letters(text):
        text = text.replace("\u0130", "i").replace("\u0131", "i").replace("\u017f", "s").replace("\u212a", "k")
    return text.lower()


class _Row(NamedTuple):
    """A row of the table, prepared for texts with certain hints."""

    needs: tuple[str, str]
    places: Callable[[str], list[int]]
    match: Callable[[str, int], re.Match[str] | None]
    kept: int
    """How many groups at the beginning of a match are kept."""
    tail: str
    """The replacement for the rest."""
    pattern: Pattern


@lru_cache(maxsize=1024)
def _plan(hits: frozenset[str], *, alone: bool) -> tuple[_Row, ...]:
    """The rows that can match a text with exactly these hints; with `alone`, those that need no name."""
    hints = {hint for hint in HINTS if any(hint.endswith(hit) for hit in hits)} | (hits & {UPPER_HINT.lower()})
    rows: list[_Row] = []
    for pattern in PATTERNS:
        if hints.isdisjoint(pattern.hints) or (alone and not pattern.alone):
            continue
        starts = tuple(start for start in pattern.starts if _may_start(start, hints))
        # If there is only one literal beginning, the text must hold it.
        single = len(starts) == 1 and starts[0][0] != "*" and not pattern.needs[0]
        needs = (starts[0], starts[0]) if single else pattern.needs
        kept = pattern.replacement.count("\\")
        match: Any = _compiled(pattern.expression, pattern.flags).match
        rows.append(_Row(needs, _finder(starts), match, kept, pattern.replacement[2 * kept :], pattern))
    return tuple(rows)


def _may_start(start: str, hints: AbstractSet[str]) -> bool:
    if start is KEY:
        return "key" in hints
    # The hints of these come later in the match.
    return start is SCHEME or start == "--" or start[0] in "?&" or any(hint in start or start in hint for hint in hints)


def _without(text: str, low: str, hits: list[str], *, alone: bool) -> str:
    """The text without the matches of the rows, applied in order; `text` itself without a match."""
    finder: Callable[[str], list[int]] | None = None
    places: list[int] = []
    names: tuple[list[int], list[str]] | None = None
    before: tuple[str, list[int]] = ("", [])
    for needs, find, match, kept, tail, pattern in _plan(frozenset(hits), alone=alone):
        if needs[0] not in low and needs[1] not in low:
            continue
        if pattern.expression == before[0]:
            # The second secret of a command can only be where the first was.
            tried = before[1]
        else:
            if find is not finder:
                finder, places, names = find, find(low), None
            tried = places
            if pattern.follows and places:
                if names is None:
                    names = _names(low, places)
                    if len(names[0]) > _MOST_NAMES:
                        # Only an attacker names so many secrets. Hiding the rest of the text keeps the time bounded.
                        end = names[0].pop()
                        text = text[:end] + REDACTED
                        low = lowered(text)
                        places = places[: bisect_left(places, end)]
                allowed = pattern.follows
                tried = [at for at, after in zip(*names, strict=False) if not allowed.isdisjoint(after)]
            if pattern.reach and tried:
                tried = _in_reach(low, tried, needs, pattern.reach)
        # Like `regex.sub`, but tried only where a match can begin.
        pieces: list[str] = []
        begins: list[int] = []
        spans: list[tuple[int, int]] = []
        done = length = 0
        for at in tried:
            if at >= done and (matched := match(text, at)) is not None:
                end = matched.end(kept) if kept else at
                begins.append(length + at - done)
                pieces.append(text[done:end])
                spans.append((end, matched.end()))
                length += end - done + len(tail)
                done = matched.end()
        if pieces:
            pieces.append(text[done:])
            text = tail.join(pieces)
            low = lowered(text)
            places = _moved(places, None, spans, len(tail))[0]
            names = None if names is None else _moved(*names, spans, len(tail))
        before = pattern.expression, begins
    return text


_MOST_NAMES: Final = 5_000
"""The most names of secrets in a text; the text after them is hidden."""


def _in_reach(low: str, places: list[int], needs: tuple[str, str], reach: int) -> list[int]:
    """The places with one of `needs` within `reach` characters after them."""
    near: list[int] = []
    first = second = -1
    for place in places:
        if first < place:
            first = low.find(needs[0], place)
            first = sys.maxsize if first < 0 else first
        if second < place:
            second = low.find(needs[1], place)
            second = sys.maxsize if second < 0 else second
        if first - place <= reach or second - place <= reach:
            near.append(place)
    return near


def _moved(
    places: list[int], follows: list[str] | None, spans: list[tuple[int, int]], width: int
) -> tuple[list[int], list[str]]:
    """The places and following characters after each span became `width` characters long.

    A replacement never begins a secret. Finding the places again would take longer.
    """
    kept: list[int] = []
    after: list[str] = []
    shift = number = 0
    begin, end = spans[0]
    for index, place in enumerate(places):
        while place >= end:
            shift += width - (end - begin)
            number += 1
            begin, end = spans[number] if number < len(spans) else _NO_SPAN
        if place < begin:
            kept.append(place + shift)
            if follows is not None:
                after.append(follows[index])
    return kept, after


_NO_SPAN: Final = (sys.maxsize, sys.maxsize)


def _names(low: str, places: list[int]) -> tuple[list[int], list[str]]:
    """The places where the name of a secret begins, and the characters after each; at most one more than allowed.

    Any whitespace becomes a space. `secret key` is two names, so two characters can follow.
    """
    name_at = _compiled(NAME, re.NOFLAG).match
    named: list[int] = []
    follows: list[str] = []
    for place in places:
        name = name_at(low, place)
        if name is not None:
            char = low[name.end()]
            named.append(place)
            follows.append((" " if char.isspace() else char) + (" " if " " in name[0] else ""))
            if len(named) > _MOST_NAMES:
                break
    return named, follows


@cache
def _finder(starts: tuple[str, ...]) -> Callable[[str], list[int]]:
    """The function that finds the places in a text in lower case where a match can begin."""
    if starts == (SCHEME,):
        return _scheme_places
    if starts == (KEY,):
        return _key_places
    if starts == ("--",):
        return _option_places
    if not _COMMANDS.keys().isdisjoint(starts):
        return partial(_command_places, starts)
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


_COMMANDS: Final = {"curl": "-", "wget": "-", "mysql": "-", "redis-cli": "-", "openssl": ":"}
"""Commands with options that hold a secret, and a character that is always between the command and the secret."""


_WITHIN: Final = re.compile(r"[\w./-]")
"""A character before a command that makes it part of a longer name."""


def _command_places(starts: tuple[str, ...], low: str) -> list[int]:
    """The places of commands, except a command without an option before the same command."""
    places: list[int] = []
    for start in starts:
        mark = _COMMANDS.get(start)
        last = -1
        for place in _places((start,), low):
            after = low[place + len(start) : place + len(start) + 1]
            stands_alone = after.isspace() and _WITHIN.match(low, max(0, place - 1), place) is None
            if mark is not None and last >= 0 and stands_alone and low.find(mark, last + len(start), place) < 0:
                places.pop()
            places.append(place)
            last = place
    places.sort()
    return places


def _option_places(low: str) -> list[int]:
    """The places of long options; a line of dashes does not count."""
    options = _compiled(r"--(?=(?:[a-z0-9]{1,16}+-){0,3}+[a-z])", re.NOFLAG)
    return [option.start() for option in options.finditer(low)]


_KEY_ENDS: Final = {
    end: tuple(prefix for prefix in KEY_PREFIXES if prefix.endswith(end))
    for end in {prefix[-3:] for prefix in KEY_PREFIXES}
}


def _key_places(low: str) -> list[int]:
    """The places of names that end in `key`: `api_key`, `access-key`, `API key`, `secretkey`."""
    places: list[int] = []
    at = low.find("key")
    while at >= 0:
        end = at - 1 if at and low[at - 1] in "_- " else at
        for prefix in _KEY_ENDS.get(low[max(0, end - 3) : end], ()):
            if low.endswith(prefix, 0, end):
                places.append(end - len(prefix))  # noqa: PERF401 - there is rarely more than one
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
    for mark in _compiled(r"://(?<=[\w.]://)", re.NOFLAG).finditer(low):
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
def _compiled(expression: str, flags: re.RegexFlag) -> re.Pattern[str]:
    return re.compile(expression, flags)
