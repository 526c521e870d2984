"""Removes secrets from texts, mappings and sequences, by the name of a value and by the shape of a secret.

A text is searched in one pass for all hints of the table, then for each row only where it can match.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence, Set as AbstractSet
from functools import cache, lru_cache, partial
from math import isfinite
from typing import Any, Final, NamedTuple

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
    return [option.start() for option in _compiled(r"--(?=(?>(?:[a-z0-9]{1,16}+-){0,3})[a-z])").finditer(low)]


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


MAX_DEPTH: Final = 64
"""Containers nested deeper than this are replaced: they are too deep for any reader, and may be a cycle."""

MAX_KEY: Final = 256
"""The value of a longer key counts as a secret, and the key is not examined."""

SECRET_NAMES: Final[tuple[str, ...]] = (
    "access_key", "account_key", "admin_pass", "api_key", "apikey", "auth", "authorization", "bearer", "client_key",
    "connection_password", "cookie", "cookies", "credential", "credentials", "cvc", "cvv", "db_pass",
    "encryption_key", "ftp_pass", "hmac_key", "jwt", "ldap_pass", "login_pass", "mail_pass", "master_key", "otp",
    "passcode", "passphrase", "passwd", "password", "passwords", "pin", "private_key", "pwd", "redis_pass",
    "root_pass", "secret", "secret_key", "secrets", "session_key", "set_cookie", "shared_access_key",
    "shared_access_signature", "signature", "signing_key", "smtp_pass", "ssh_key", "ssh_pass", "subscription_key",
    "token", "totp", "user_pass",
)  # fmt: skip
"""A key is secret if its words are, or end in, one of these: `dbPassword`, `x-api-key`, `GITHUB_TOKEN`. A number or a
word for a form may follow: `password2`, `api_key_prod`, `passwordHash`."""

SECRET_ENDS: Final[tuple[str, ...]] = ("apikey", "passphrase", "passwd", "password", "secret", "token")
"""A key is also secret if its last word ends in one of these: `accesstoken`, `PGPASSWORD`."""

FORMS: Final[frozenset[str]] = frozenset(
    {
        "again", "b64", "base64", "confirm", "confirmation", "confirmed", "dev", "encrypted", "hash", "hashed",
        "header", "live", "pem", "plain", "plaintext", "prod", "production", "repeat", "staging", "value",
    }
)  # fmt: skip
"""Words that may follow the name of a secret."""

PLAIN_NAMES: Final[frozenset[str]] = frozenset(
    {
        "cancellation_token",
        "continuation_token",
        "next_page_token",
        "next_token",
        "page_token",
        "progress_token",
        "sync_token",
    }
)
"""Keys that end like this but are no secret: cursors and handles of a protocol."""

_LONGEST_HEADER: Final = 32

_WHOLE_ONLY: Final = frozenset({"auth", "bearer", "cvc", "cvv", "otp", "pin", "totp"})
"""Words too short to count as the end of a longer key."""

_HEADERS: Final = frozenset({"authorization", "cookie", "proxy_authorization", "set_cookie", "x_api_key"})
"""Headers whose value follows them in a pair, `["Authorization", "..."]`."""


class Clean(str):
    """A text without secrets, which need not be searched again."""

    __slots__ = ()


class Searched(dict[str, Any]):
    """A mapping without secrets, which need not be searched again."""

    __slots__ = ()


_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NOT_WORD = re.compile(r"[^a-z0-9]+")
_ENDINGS = tuple("_" + name for name in SECRET_NAMES if name not in _WHOLE_ONLY)
_SECRET_SET = frozenset(SECRET_NAMES) | {name.replace("_", "") for name in SECRET_NAMES}


@lru_cache(maxsize=4096)
def _word_form(key: str) -> str:
    return _NOT_WORD.sub("_", _CAMEL.sub("_", key).lower()).strip("_")


_PLAIN_ENDS = tuple(ending for name in PLAIN_NAMES for ending in (f"_{name}", name.replace("_", "")))


@lru_cache(maxsize=4096)
def _secret_key(key: str) -> bool:
    words = _word_form(key)
    if words in PLAIN_NAMES or words.endswith(_PLAIN_ENDS):
        return False
    if words in _SECRET_SET or words.endswith((*_ENDINGS, *SECRET_ENDS)):
        return True
    bare = words.rstrip("0123456789").rstrip("_")
    while (parts := bare.rpartition("_"))[2] in FORMS:
        bare = parts[0].rstrip("0123456789").rstrip("_")
    return (
        bare != words and bare not in _WHOLE_ONLY and (bare in _SECRET_SET or bare.endswith((*_ENDINGS, *SECRET_ENDS)))
    )


def is_secret_key(key: object) -> bool:
    """Whether the value of `key` is a secret, whatever its shape."""
    return isinstance(key, str) and (len(key) > MAX_KEY or _secret_key(key))


def redact_cut(text: str, limit: int) -> str:
    """`text` without secrets in about `limit` characters.

    A cut text loses its last word, since a URL that is cut within its password no longer looks like a URL.
    """
    if len(text) > limit:
        kept = text[: limit + LONGEST_WORD]
        if len(text) > len(kept):
            space = max(kept.rfind(" ", -LONGEST_WORD), kept.rfind("\n", -LONGEST_WORD))
            kept = kept[: space if space > 0 else -LONGEST_WORD]
        return f"{redact_text(kept)[:limit]}... ({len(text)} characters)"
    return redact_text(text)


def redact(value: Any) -> Any:
    """A copy of `value` without secrets.

    In mappings, the values of secret keys are hidden, and in texts everything that looks like a secret. Sequences and
    sets become lists (tuples stay tuples). Other values are returned unchanged, and the argument is never modified.
    """
    return _redact(value, MAX_DEPTH, None)


def redact_json(value: dict[str, Any], limit: int) -> dict[str, Any] | None:
    """The same as `redact` for plain JSON, but much faster: all texts are searched together.

    Args:
        value: The object.
        limit: The most characters of all texts.

    Returns:
        `value` itself without secrets in it; None for a value that is not plain JSON, or with longer texts.
    """
    texts_and_keys = texts_of(value, limit)
    if texts_and_keys is None:
        return None
    texts, keys = texts_and_keys
    suspicious = suspects(texts)
    return value if not suspicious and all(map(_is_plain, keys)) else _redact(value, MAX_DEPTH, suspicious)


def is_clean_json(text: str) -> bool:
    """Whether `redact` surely changes nothing in JSON that is written without blanks and without escapes."""
    return not suspects((text,)) and all(map(_is_plain, _KEYS(text)))


_KEYS: Final = re.compile(r'"([^"]*)":').findall


def texts_of(value: Any, limit: int) -> tuple[list[str], set[str]] | None:
    """The texts and the keys in plain JSON; None for other values, or with more than `limit` characters or parts."""
    texts: list[str] = []
    keys: set[str] = set()
    stack: list[Any] = [value]
    for part in stack:  # which grows meanwhile
        kind = part.__class__
        if kind is str:
            texts.append(part)
        elif kind is dict:
            keys.update(part)
            stack += part.values()
        elif kind is list:
            stack += part
        elif kind is int:
            if not -_LARGEST < part < _LARGEST:
                return None
        elif not (part is None or kind in _CLEAN or (kind is float and isfinite(part))):
            return None
        if len(stack) > limit:  # or a cycle
            return None
    return (texts, keys) if _TEXT.issuperset(map(type, keys)) and sum(map(len, (*texts, *keys))) <= limit else None


_TEXT: Final = frozenset({str})
_LARGEST: Final = 2**63


def _redact(value: Any, depth: int, suspicious: AbstractSet[str] | None) -> Any:
    """`redact`, with the texts that may hold a secret, or None if that is not known."""
    kind = type(value)
    if kind is str:
        return redact_text(value) if suspicious is None or value in suspicious else value
    if value is None or kind in _CLEAN or kind is int or kind is float:
        return value
    if isinstance(value, str):
        return redact_text(str.__str__(value))
    if isinstance(value, bytes | bytearray | memoryview):
        return value
    if kind is dict or isinstance(value, Mapping):
        return _redact_mapping(value, depth - 1, suspicious) if depth else REDACTED
    if isinstance(value, Sequence | AbstractSet):
        if not depth:
            return REDACTED
        items = list(value)
        if len(items) == 2 and _is_header(items[0]):
            items[1] = _hidden(items[1])
        clean = [_redact(item, depth - 1, suspicious) for item in items]
        return tuple(clean) if isinstance(value, tuple) else clean
    return value


_CLEAN: Final = frozenset({bool, Clean, Searched})
"""Types of values that hold no secret."""


def _redact_mapping(value: Mapping[Any, Any], depth: int, suspicious: AbstractSet[str] | None) -> dict[Any, Any]:
    clean: dict[Any, Any] = {}
    # {"name": "password", "value": ...}: a common form of headers, forms and environments.
    named = "value" in value and any(is_secret_key(value.get(label)) for label in ("name", "key", "header"))
    for key, item in value.items():
        shown = key
        if isinstance(key, str):
            shown = _clean_key(key) if len(key) <= MAX_KEY else None
            if shown is None:
                clean[key if len(key) <= MAX_KEY else redact_text(key)] = _hidden(item)
                continue
            if named and key == "value":
                clean[key] = _hidden(item)
                continue
        is_known = suspicious is not None and item.__class__ is str and item not in suspicious
        clean[shown] = item if is_known else _redact(item, depth, suspicious)
    return clean


def _is_header(item: object) -> bool:
    return isinstance(item, str) and len(item) <= _LONGEST_HEADER and _word_form(item) in _HEADERS


@lru_cache(maxsize=4096)
def _clean_key(key: str) -> str | None:
    """The key without secrets; None if its value is a secret."""
    return None if _secret_key(key) else redact_text(key)


@lru_cache(maxsize=4096)
def _is_plain(key: str) -> bool:
    """Whether `redact` keeps the key and its value, if that holds no secret. "value" depends on the other keys."""
    return key != "value" and len(key) <= MAX_KEY and _clean_key(key) == key


def _hidden(item: Any) -> Any:
    """The marker, or an empty value unchanged, since it is useful to know that a secret is missing."""
    return item if item is None or isinstance(item, bool) or item in ("", b"") else REDACTED
