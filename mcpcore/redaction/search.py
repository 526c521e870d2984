"""The search for secrets in texts: one look for all hints of the table, and each row only where it can match."""

from __future__ import annotations

import re
import sys
from bisect import bisect_left
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mcpcore.redaction.table import (
    ANNOUNCES,
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
    from collections.abc import Callable, Iterable, Mapping
    from collections.abc import Set as AbstractSet

MIN_LENGTH: Final = 5
"""The shortest text that can hold a secret that is told by its shape: `pwd=x`."""


def redact_text(text: str) -> str:
    """`text` without the secrets that can be told by their shape or by the name in front of them."""
    if len(text) < MIN_LENGTH:
        return text
    low = lowered(text)
    hits = _hits(text, low)
    return without(text, low, hits) if hits else text


def redact_shapes(text: str) -> str:
    """`text` without the secrets whose shape alone shows what they are: no name in front of a value counts."""
    hits = shape_hits(text)
    return _without(text, lowered(text), hits, alone=True) if hits else text


def shape_hits(text: str) -> list[str]:
    """The hints in `text` at secrets that need no name in front of them; empty if it holds none of these secrets."""
    hits = _shape_scanner().findall(lowered(text))
    if UPPER_HINT in text:
        hits.append(UPPER_HINT.lower())
    return hits


# The search for hints. A hint is looked for by the letter of it that is rarest in texts, so that one pass over a text
# stops seldom; to look for each hint by itself takes as many passes as there are hints.

RARITY: Final = "zjxqk%?&=:\"'vb@pgwf0123456789cymudhnlrs-oia_te/. "
"""Letters from the rarest to the most frequent, in English and in what programs say."""

UPPER_HINT: Final = "ASIA"
"""The one hint without a rare letter. What it hints at is in capitals, which are rare themselves."""


@cache
def scanner() -> re.Pattern[str]:
    """Finds the hints in a text in lower case; what it matches begins with the hint's rarest letter."""
    return re.compile("|".join(branches({hint: hint for hint in HINTS}, RARITY)))


@cache
def _shape_scanner() -> re.Pattern[str]:
    """`scanner` for the rows that need no name."""
    hints = {hint for pattern in PATTERNS if pattern.alone for hint in pattern.hints} - {UPPER_HINT.lower()}
    return re.compile("|".join(branches({hint: hint for hint in sorted(hints)}, RARITY)))


def branches(hints: Mapping[str, str], rarity: str) -> Iterable[str]:
    """The parts of an expression that finds the hints in texts with letters of this rarity.

    `hints` are those of the table, each with how it is spelt in the texts.
    """
    # Behind whatever the hint can have in common with the end of another, which was read with that one; of tokens that
    # begin like this none begins within another.
    ends: dict[str, list[str]] = {}
    for hint, spelt in hints.items():
        for at in range(1, len(spelt)):
            ends.setdefault(spelt[at:], []).append(hint)
    shared: dict[str, int] = {}
    for hint, spelt in hints.items():
        alone = {hint, *(other for other in hints if _ROWS[other] == _ROWS[hint] == {_VENDORS})}
        sizes = (size for size in range(len(spelt) - 1, 0, -1) if not alone.issuperset(ends.get(spelt[:size], ())))
        shared[hint] = next(sizes, 0)
    letters = _letters([spelt[shared[hint] :] for hint, spelt in hints.items()], rarity)
    anchored: dict[str, list[str]] = {}
    for hint, spelt in hints.items():
        places = (place for place in range(shared[hint], len(spelt)) if spelt[place] in letters)
        at = min(places, key=lambda place: rarity.index(spelt[place]))
        anchored.setdefault(spelt[at], []).append(
            re.escape(spelt[at + 1 :]) + (rf"(?<={re.escape(spelt)})" if at else "")
        )
    for letter, rests in anchored.items():
        yield rf"{re.escape(letter)}(?:{'|'.join(sorted(rests, key=len, reverse=True))})"


def _letters(words: list[str], rarity: str) -> set[str]:
    """Letters of which each word has one: the rarest of each, without those that the others make needless."""
    letters = {min(word, key=rarity.index) for word in words}
    for letter in sorted(letters, key=rarity.index, reverse=True):
        if all(letters.intersection(word) - {letter} for word in words):
            letters.remove(letter)
    return letters


_VENDORS: Final = next(number for number, pattern in enumerate(PATTERNS) if pattern.name == "vendor token")
_ROWS: Final = {
    hint: frozenset(number for number, pattern in enumerate(PATTERNS) if hint in pattern.hints)
    for hint in sorted({hint for pattern in PATTERNS for hint in pattern.hints})
}
HINTS: Final = tuple(sorted({hint for pattern in PATTERNS for hint in pattern.hints} - {UPPER_HINT.lower()}))


def _first_search(low: str) -> list[str]:
    # Compiled on first use: a program that never fails need not wait for it.
    global _search  # noqa: PLW0603 - this one is called once
    _search = scanner().findall
    return _search(low)


_search: Callable[[str], list[str]] = _first_search


def _hits(text: str, low: str) -> list[str]:
    """The hints that the scanner finds in a text; `low` is the text as `lowered` gives it."""
    hits = _search(low)
    if UPPER_HINT in text:
        hits.append(UPPER_HINT.lower())
    return hits


def has_odd_letters(text: str) -> bool:
    """Whether a letter of `text` equals one of ASCII regardless of case, though it is none; or is two in lower case."""
    return not text.isascii() and ("\u0130" in text or "\u0131" in text or "\u017f" in text or "\u212a" in text)


def lowered(text: str) -> str:
    """`text` in lower case with each letter where it was; the odd letters become those of ASCII that they equal."""
    if has_odd_letters(text):
        text = text.replace("\u0130", "i").replace("\u0131", "i").replace("\u017f", "s").replace("\u212a", "k")
    return text.lower()


class _Row(NamedTuple):
    """A row of the table, ready to be tried in texts in which certain hints were found."""

    needs: tuple[str, str]
    places: Callable[[str], list[int]]
    match: Callable[[str, int], re.Match[str] | None]
    kept: int
    """How many groups of a match are kept; they are what it begins with."""
    tail: str
    """What stands in the place of the rest."""
    pattern: Pattern


@lru_cache(maxsize=1024)
def _plan(hits: frozenset[str], *, alone: bool) -> tuple[_Row, ...]:
    """The rows that can match a text in which the scanner found exactly this; with `alone`, those that need no name."""
    found = {hint for hint in HINTS if any(hint.endswith(hit) for hit in hits)} | (hits & {UPPER_HINT.lower()})
    rows: list[_Row] = []
    for pattern in PATTERNS:
        if found.isdisjoint(pattern.hints) or (alone and not pattern.alone):
            continue
        starts = tuple(start for start in pattern.starts if _may_start(start, found))
        # Where there is but one literal to begin with, it is what the text must hold.
        single = len(starts) == 1 and starts[0][0] != "*" and not pattern.needs[0]
        needs = (starts[0], starts[0]) if single else pattern.needs
        kept = pattern.replacement.count("\\")
        match: Any = _compiled(pattern.expression, pattern.flags).match
        rows.append(_Row(needs, _finder(starts), match, kept, pattern.replacement[2 * kept :], pattern))
    return tuple(rows)


def _may_start(start: str, found: AbstractSet[str]) -> bool:
    if start is KEY:
        return "key" in found
    # What begins like this is told by what comes later.
    return start is SCHEME or start == "--" or start[0] in "?&" or any(hint in start or start in hint for hint in found)


def without(text: str, low: str, hits: list[str]) -> str:
    """A text without the secrets that these hits hint at; a text of JSON stays one."""
    clean = _without(text, low, hits, alone=False)
    return clean if clean is text or not _may_be_json(text) else _json_kept(text, clean)


_MAX_MEMBERS: Final = 1_000
"""Members of a JSON text that are redacted one by one; a text of more may be no JSON afterwards."""
_JSON_ENDS: Final = {"{": "}", "[": "]", '"': '"'}


def _may_be_json(text: str) -> bool:
    """Whether the text begins and ends as an object, an array or a text of JSON."""
    bare = text.strip()
    return len(bare) > 1 and _JSON_ENDS.get(bare[0]) == bare[-1]


def _json_kept(text: str, clean: str) -> str:
    """`clean`, what is left of `text`; where that is no JSON and `text` is, what is left of each value in it.

    Within a text, the quote that ends a value may look like the one that begins a secret: `"/a?token="}`.
    """
    import json

    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return clean
    try:
        json.loads(clean)
    except (ValueError, RecursionError):
        if text.count(",") + text.count(":") > _MAX_MEMBERS:
            return clean
        told = _announced_hidden(_redactors[-1](value))
        if told == value:
            return text
        spaces = (",", ":") if ", " not in text and ": " not in text else None
        indent = 2 if "\n" in text.strip() else None
        return json.dumps(told, ensure_ascii=text.isascii(), indent=indent, separators=spaces)
    return clean


_redactors: Final[list[Callable[[Any], Any]]] = []
"""How a mapping or a sequence is redacted; `structures` adds it, since texts hold JSON and JSON holds texts."""


def redact_json_by(redact: Callable[[Any], Any]) -> None:
    """Redact the JSON in texts with `redact`."""
    _redactors.append(redact)


_LONGEST_ANNOUNCEMENT: Final = 64
"""Characters at the end of a text in which it can announce that a secret follows."""


def _announced_hidden(value: Any) -> Any:
    """Without what follows in a list on a text that announces it, as in `["password:", 1234]`."""
    if isinstance(value, dict):
        return {key: _announced_hidden(item) for key, item in value.items()}
    if not isinstance(value, list):
        return value
    kept: list[Any] = []
    announced = False
    for item in value:
        hides = announced and item is not None and not isinstance(item, dict | list | bool)
        kept.append(REDACTED if hides else _announced_hidden(item))
        announced = (
            isinstance(item, str)
            and _compiled(ANNOUNCES, re.IGNORECASE).search(item[-_LONGEST_ANNOUNCEMENT:]) is not None
        )
    return kept


def _without(text: str, low: str, hits: list[str], *, alone: bool) -> str:
    """The text without the secrets that the rows match, one row after the other; `text` itself if no row matches."""
    finder: Callable[[str], list[int]] | None = None
    places: list[int] = []
    names: tuple[list[int], list[str]] | None = None
    before: tuple[str, list[int]] = ("", [])
    for needs, find, match, kept, tail, pattern in _plan(frozenset(hits), alone=alone):
        if needs[0] not in low and needs[1] not in low:
            continue
        if pattern.expression == before[0]:
            # The second of two in one command, which can only be where the first was.
            tried = before[1]
        else:
            if find is not finder:
                finder, places, names = find, find(low), None
            tried = places
            if pattern.follows and places:
                if names is None:
                    names = _names(low, places)
                    if len(names[0]) > _MOST_NAMES:
                        # Only an attacker names so many secrets in one text. Hiding its end keeps the time bounded.
                        end = names[0].pop()
                        text = text[:end] + REDACTED
                        low = lowered(text)
                        places = places[: bisect_left(places, end)]
                allowed = pattern.follows
                tried = [at for at, after in zip(*names, strict=False) if not allowed.isdisjoint(after)]
            if pattern.reach and tried:
                tried = _in_reach(low, tried, needs, pattern.reach)
        # As `regex.sub`, tried only where a match can begin.
        pieces: list[str] = []
        begins: list[int] = []
        spans: list[tuple[int, int]] = []
        done = length = 0
        for at in tried:
            if at >= done and (found := match(text, at)) is not None:
                end = found.end(kept) if kept else at
                begins.append(length + at - done)
                pieces.append(text[done:end])
                spans.append((end, found.end()))
                length += end - done + len(tail)
                done = found.end()
        if pieces:
            pieces.append(text[done:])
            text = tail.join(pieces)
            low = lowered(text)
            places = _moved(places, None, spans, len(tail))[0]
            names = None if names is None else _moved(*names, spans, len(tail))
        before = pattern.expression, begins
    return text


_MOST_NAMES: Final = 5_000
"""A text may name so many secrets; from the next name on, all of it is hidden."""


def _in_reach(low: str, places: list[int], needs: tuple[str, str], reach: int) -> list[int]:
    """The places that one of `needs` follows within `reach` characters."""
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
    """The places, with the characters that follow the names there, after each span became `width` characters.

    The text that replaces a secret begins no other. Finding the places again would take longer.
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
    """The places where the name of a secret begins, and the characters that follow each; one more than are read.

    Whitespace is a space. `secret key` is two names, so that two characters can follow.
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
    """What finds the places in a text in lower case at which a match can begin; the same for the same beginnings."""
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
"""A character before which a command is part of a longer name."""


def _command_places(starts: tuple[str, ...], low: str) -> list[int]:
    """Where commands begin, except a command without an option that is followed by the same command."""
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
    """Where the long options of a command begin; a line of dashes does not count."""
    options = _compiled(r"--(?=(?:[a-z0-9]{1,16}+-){0,3}+[a-z])", re.NOFLAG)
    return [option.start() for option in options.finditer(low)]


_KEY_ENDS: Final = {
    end: tuple(prefix for prefix in KEY_PREFIXES if prefix.endswith(end))
    for end in {prefix[-3:] for prefix in KEY_PREFIXES}
}


def _key_places(low: str) -> list[int]:
    """Where the names begin that end in `key`: `api_key`, `access-key`, `API key`, `secretkey`."""
    places: list[int] = []
    at = low.find("key")
    while at >= 0:
        end = at - 1 if at and low[at - 1] in "_- " else at
        for prefix in _KEY_ENDS.get(low[max(0, end - 3) : end], ()):
            if low.endswith(prefix, 0, end):
                places.append(end - len(prefix))  # noqa: PERF401 - there is seldom more than one
        at = low.find("key", at + 3)
    return places


_STORE_ENDS: Final = {
    end: tuple(name for name in STORE_NAMES if name.endswith(end)) for end in {name[-2:] for name in STORE_NAMES}
}


_DRIVER: Final = re.compile(r"[\w.]+")
_LONGEST_DRIVER: Final = 32


def _scheme_places(low: str) -> list[int]:
    """Where the URLs of stores begin."""
    places: list[int] = []
    for mark in _compiled(r"://(?<=[\w.]://)", re.NOFLAG).finditer(low):
        at = mark.start()
        # The name of a driver may follow that of the store: `postgresql+asyncpg`.
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
