"""The search for secrets in texts: one look for all hints of the table, and each row only where it can match."""

from __future__ import annotations

import re
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mcpcore.redaction.table import (
    ANNOUNCES,
    KEY,
    KEY_PREFIXES,
    LONGEST_SCHEME,
    PATTERNS,
    REDACTED,
    SCHEME,
    STORE_NAMES,
    STORES,
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
    if has_odd_letters(text):
        return _redact_folded(text)
    low = text.lower()
    hits = _hits(text, low)
    return without(text, low, hits) if hits else text


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
    """What the scanner finds of the hints in a text without odd letters."""
    hits = _search(low)
    if UPPER_HINT in text:
        hits.append(UPPER_HINT.lower())
    return hits


def has_odd_letters(text: str) -> bool:
    """Whether a letter of `text` equals one of ASCII regardless of case, though it is none; or is two in lower case."""
    return not text.isascii() and ("\u0130" in text or "\u0131" in text or "\u017f" in text or "\u212a" in text)


_FOLDED: Final = {0x131: "i", 0x307: None}


def _redact_folded(text: str) -> str:
    """`redact_text` of a text with odd letters, which in lower case are others, or stand elsewhere."""
    low = text.casefold().translate(_FOLDED)
    hits = _search(low)
    if UPPER_HINT.lower() in low:
        hits.append(UPPER_HINT.lower())
    clean = text
    for row in _plan(frozenset(hits)) if hits else ():
        clean = _compiled(row.pattern.expression, row.pattern.flags).sub(row.pattern.replacement, clean)
    return clean if clean == text or not _may_be_json(text) else _json_kept(text, clean)


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
def _plan(hits: frozenset[str]) -> tuple[_Row, ...]:
    """The rows that can match a text in which the scanner found exactly this."""
    found = {hint for hint in HINTS if any(hint.endswith(hit) for hit in hits)} | (hits & {UPPER_HINT.lower()})
    rows: list[_Row] = []
    for pattern in PATTERNS:
        if found.isdisjoint(pattern.hints):
            continue
        starts = tuple(start for start in pattern.starts if _may_start(start, found))
        # Where there is but one literal to begin with, it is what the text must hold.
        alone = len(starts) == 1 and starts[0][0] != "*" and not pattern.needs[0]
        needs = (starts[0], starts[0]) if alone else pattern.needs
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
    """A text without odd letters, and without what the rows find that these hits call for; one of JSON stays such."""
    clean = _without(text, low, hits)
    return clean if clean is text or not _may_be_json(text) else _json_kept(text, clean)


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
        from mcpcore.redaction.structures import redact

        told = _announced_hidden(redact(value))
        if told == value:
            return text
        spaces = (",", ":") if ", " not in text and ": " not in text else None
        indent = 2 if "\n" in text.strip() else None
        return json.dumps(told, ensure_ascii=text.isascii(), indent=indent, separators=spaces)
    return clean


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
        announced = isinstance(item, str) and _compiled(ANNOUNCES, re.IGNORECASE).search(item) is not None
    return kept


def _without(text: str, low: str, hits: list[str]) -> str:
    """The text without what the rows find, one row after the other; the text itself where they find nothing."""
    finder: Callable[[str], list[int]] | None = None
    places: list[int] = []
    for (needed, else_needed), find, match, kept, tail, _ in _plan(frozenset(hits)):
        if needed not in low and else_needed not in low:
            continue
        if find is not finder:
            finder, places = find, find(low)
        if not places:
            continue
        # As `regex.sub`, tried only where a match can begin.
        pieces: list[str] = []
        done = 0
        for at in places:
            if at >= done and (found := match(text, at)) is not None:
                pieces.append(text[done : found.end(kept) if kept else at])
                done = found.end()
        if pieces:
            pieces.append(text[done:])
            text = tail.join(pieces)
            low, finder = text.lower(), None
    return text


@cache
def _finder(starts: tuple[str, ...]) -> Callable[[str], list[int]]:
    """What finds the places in a text in lower case at which a match can begin; the same for the same beginnings."""
    if starts == (SCHEME,):
        return _scheme_places
    if starts == (KEY,):
        return _key_places
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


def _scheme_places(low: str) -> list[int]:
    """Where the URLs of stores begin."""
    places: list[int] = []
    at = low.find("://")
    while at >= 0:
        if "+" in low[max(0, at - LONGEST_SCHEME) : at]:
            # A driver is named as well: from the end backwards, where the scheme is.
            found = _compiled(rf"(?s:.*)(\b{STORES})\Z", re.NOFLAG).match(low, max(0, at - LONGEST_SCHEME), at)
            if found is not None:
                places.append(found.start(1))
        else:
            for name in _STORE_ENDS.get(low[max(0, at - 2) : at], ()):
                begin = at - len(name)
                if low.endswith(name, 0, at) and not (begin and (low[begin - 1].isalnum() or low[begin - 1] == "_")):
                    places.append(begin)
        at = low.find("://", at + 3)
    return places


@cache
def _compiled(expression: str, flags: re.RegexFlag) -> re.Pattern[str]:
    return re.compile(expression, flags)
