"""Secrets taken out of what goes to logs and records: by the name that a value goes by, and by its shape in a text."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache, lru_cache, partial
from itertools import compress
from math import isfinite
from typing import Any, Final, NamedTuple, cast

REDACTED: Final = "[redacted]"
"""What stands where a secret stood. Redacting twice changes nothing."""

MAX_DEPTH: Final = 64
"""Containers nested deeper than this are replaced whole: nobody reads them, and one of them may be a cycle."""

MAX_KEY: Final = 256
"""A key longer than this is not worth reading: what it names is taken for a secret."""

MIN_LENGTH: Final = 5
"""The shortest text that can hold a secret that is told by its shape: `pwd=x`."""

SECRET_NAMES: Final[tuple[str, ...]] = (
    "access_key",
    "account_key",
    "api_key",
    "apikey",
    "auth",
    "authorization",
    "bearer",
    "client_key",
    "connection_password",
    "cookie",
    "cookies",
    "credential",
    "credentials",
    "cvc",
    "cvv",
    "encryption_key",
    "jwt",
    "otp",
    "passcode",
    "passphrase",
    "passwd",
    "password",
    "passwords",
    "pin",
    "private_key",
    "pwd",
    "secret",
    "secret_key",
    "secrets",
    "session_key",
    "set_cookie",
    "shared_access_key",
    "shared_access_signature",
    "signature",
    "signing_key",
    "ssh_key",
    "subscription_key",
    "token",
    "totp",
)
"""A key is secret when its words are, or end in, one of these: `dbPassword`, `x-api-key`, `GITHUB_TOKEN`."""

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
"""Keys that end in such a word and hold no secret: cursors and handles of a protocol."""

_LONGEST_HEADER: Final = 32

_WHOLE_ONLY: Final = frozenset({"auth", "bearer", "cvc", "cvv", "otp", "pin", "totp"})
"""Words too short to count as the end of a longer key."""

_HEADERS: Final = frozenset({"authorization", "cookie", "proxy_authorization", "set_cookie", "x_api_key"})
"""Headers whose value follows them in a pair, `["Authorization", "..."]`."""

# One alternation for secrets that a text names itself: `password=...`, `"api_key": "..."`, `AccountKey=...`.
_NAMED = (
    r"(?:password|passwd|passphrase|passcode|pwd|secret|credentials?|token|jwt|"
    r"(?:api|access|account|auth|client|encryption|private|secret|session|shared[_-]?access|signing|subscription)"
    r"[_-]?key|signature)"
)
_NAMED_HINTS = ("pass", "pwd", "secret", "credential", "token", "jwt", "key", "signature")
_STOP = r"(?!\[redacted\])"
_STORE_NAMES = (
    "postgresql", "postgres", "mysql", "mariadb", "mssql", "oracle", "mongodb", "rediss", "redis", "valkeys", "valkey",
    "amqps", "amqp", "clickhouse", "kafka", "nats", "ldaps", "ldap", "sftp", "ftp", "ssh", "smtps", "smtp",
)  # fmt: skip
_STORES = rf"(?:{'|'.join(_STORE_NAMES)})(?:\+[\w.]{{1,32}})?"

# Two beginnings that are no literals: the name of a key, and the scheme of a store's URL.
_KEY: Final = "*key"
_SCHEME: Final = "*scheme"
_NAMED_STARTS = ("pass", "pwd", "secret", "credential", "token", "jwt", "signature", _KEY)
_KEY_PREFIXES = (
    "api", "access", "account", "auth", "client", "encryption", "private", "secret", "session", "signing",
    "subscription",
)  # fmt: skip
_LONGEST_SCHEME = 46
_VENDOR_STARTS = (
    "gho_", "ghp_", "ghr_", "ghs_", "ghu_", "github_pat_", "glpat-", "xox", "sk-", "sk_live_", "sk_test_", "rk_live_",
    "rk_test_", "aiza", "npm_", "pypi-", "hf_",
)  # fmt: skip


class Pattern(NamedTuple):
    """One row of the table: a kind of secret, the strings without which it cannot be there, and how to find it."""

    name: str
    hints: tuple[str, ...]
    """Each match holds one of these, in lower case; a text is searched for all hints of the table at once."""

    expression: str
    replacement: str = REDACTED
    flags: re.RegexFlag = re.NOFLAG
    starts: tuple[str, ...] = ()
    """What a match begins with, in lower case: the expression is tried there and nowhere else; it takes microseconds
    to try it at each letter of a text."""

    needs: str = ""
    """What a match holds beside, in lower case; a cheap look before the places are found."""


class Clean(str):
    """A text that was searched already, which need not be done again."""

    __slots__ = ()


class Searched(dict[str, Any]):
    """A mapping all of which was searched already, as it was made."""

    __slots__ = ()


PATTERNS: Final[tuple[Pattern, ...]] = (
    Pattern(
        "private key",
        ("-----begin ",),
        (
            r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
            r"(?:.*?-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|.*\Z)"
        ),
        flags=re.DOTALL,
        starts=("-----begin ",),
    ),
    Pattern(
        "authorization header",
        ("authorization", "key"),
        (
            r"\b((?:proxy-)?authorization|x-api-key)"
            rf"((?:\\?[\"'])?+\s{{0,8}}+[:=,]\s{{0,8}}+(?:\\?[\"'])?+){_STOP}[^\r\n\"'\\,;}}\])]+"
        ),
        rf"\1\2{REDACTED}",
        flags=re.IGNORECASE,
        starts=("authorization", "proxy-authorization", "x-api-key"),
    ),
    Pattern(
        "cookie header",
        ("cookie",),
        (rf"\b((?:set-)?cookie)((?:\\?[\"'])?+\s{{0,8}}+[:=]\s{{0,8}}+(?:\\?[\"'])?+){_STOP}[^\r\n\"'\\}}\])]+"),
        rf"\1\2{REDACTED}",
        flags=re.IGNORECASE,
        starts=("cookie", "set-cookie"),
    ),
    Pattern(
        "bearer credential",
        ("bearer",),
        (
            r"\b(bearer)(\s{1,8}+)(?!(?:auth|authentication|authorization|challenge|credentials?|error|header|"
            r"invalid|is|missing|realm|required|scheme|tokens?|was|with)\b)"
            r"[A-Za-z0-9._~+/=-]{6,}"
        ),
        rf"\1\2{REDACTED}",
        flags=re.IGNORECASE,
        starts=("bearer",),
    ),
    Pattern(
        # Without the last letter, which could be the first of `credential`.
        "basic credential",
        ("basi",),
        (
            # Base64 and not the next word of a sentence: with a digit, padding, or a capital in its middle.
            r"\b((?i:basic))(\s{1,8}+)(?=[A-Za-z+/]{0,400}[0-9=]|[A-Za-z]?[a-z]{0,400}[A-Z])"
            r"[A-Za-z0-9+/]{8,}={0,2}(?![A-Za-z0-9+/=])"
        ),
        rf"\1\2{REDACTED}",
        starts=("basic",),
    ),
    Pattern(
        "JSON web token",
        ("eyj",),
        (r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}(?:\.[A-Za-z0-9_-]*){0,3}"),
        starts=("eyj",),
    ),
    Pattern(
        "AWS access key",
        ("akia", "asia"),
        (r"(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
        starts=("akia", "asia"),
    ),
    Pattern(
        "vendor token",
        _VENDOR_STARTS,
        (
            r"(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}|"
            r"xox[abeoprs]-[A-Za-z0-9-]{10,}|sk-[A-Za-z0-9_-]{16,}|(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{10,}|"
            r"AIza[A-Za-z0-9_-]{30,}|npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{30,}|hf_[A-Za-z0-9]{20,})"
        ),
        starts=_VENDOR_STARTS,
    ),
    Pattern(
        "webhook",
        ("hooks",),
        (r"(hooks\.slack\.com/[a-z]{1,16}/|/api/webhooks/)[A-Za-z0-9_/-]{8,}"),
        rf"\1{REDACTED}",
        flags=re.IGNORECASE,
        starts=("hooks.slack.com/", "/api/webhooks/"),
        needs="/",
    ),
    Pattern(
        # In these a password may hold a slash or an at sign that nobody encoded; the last at sign ends it.
        "connection string of a store",
        ("://",),
        (rf"\b({_STORES}://[^\s:@/\"'<>]{{0,256}}:){_STOP}[^\s\"'<>]{{1,1024}}@"),
        rf"\1{REDACTED}@",
        flags=re.IGNORECASE,
        starts=(_SCHEME,),
        needs="@",
    ),
    Pattern(
        "password in a URL",
        ("://",),
        (rf"(://[^\s:@/?#\"'<>]{{0,256}}:){_STOP}[^\s/?#\"'<>]{{1,1024}}@"),
        rf"\1{REDACTED}@",
        starts=("://",),
        needs="@",
    ),
    Pattern(
        "token in a URL",
        ("://",),
        (rf"(://){_STOP}[^\s:@/?#\"'<>]{{20,1024}}@"),
        rf"\1{REDACTED}@",
        starts=("://",),
        needs="@",
    ),
    Pattern(
        "signed URL",
        ("sig=", "signature"),
        (rf"([?&](?:sig|x-amz-signature|x-goog-signature)=){_STOP}[^\s&#\"'<>]+"),
        rf"\1{REDACTED}",
        flags=re.IGNORECASE,
        starts=("?sig=", "&sig=", "?x-amz-s", "&x-amz-s", "?x-goog-s", "&x-goog-s"),
    ),
    Pattern(
        "quoted secret",
        _NAMED_HINTS,
        (
            # After a closing quote of its own the name is a key, with `=` an argument, with `:` prose or YAML.
            rf"({_NAMED}(?:\\?[\"'])?+\s{{0,8}}+(?:[:=]|=>)\s{{0,8}}+[bru]?(?P<quote>\\?[\"'])){_STOP}"
            r"(?s:(?!(?P=quote))(?:\\.|.)){1,4096}"
        ),
        rf"\1{REDACTED}",
        flags=re.IGNORECASE,
        starts=_NAMED_STARTS,
    ),
    Pattern(
        "named secret",
        _NAMED_HINTS,
        (
            rf"(?<!unexpected )({_NAMED}(?:\\?[\"'])?+\s{{0,8}}+(?:[:=]|=>)\s{{0,8}}+)"
            rf"{_STOP}(?![\"'\\\[{{(])(?!(?:none|null|true|false)\b)[^\s,;&\"'\\}}\])]+"
        ),
        rf"\1{REDACTED}",
        flags=re.IGNORECASE,
        starts=_NAMED_STARTS,
    ),
    Pattern(
        "secret on a command line",
        _NAMED_HINTS,
        (rf"(--(?:[a-z]{{1,16}}-){{0,3}}{_NAMED}\s{{1,8}}+){_STOP}(?!-)[^\s\"']+"),
        rf"\1{REDACTED}",
        flags=re.IGNORECASE,
        starts=("--",),
        needs="--",
    ),
)
"""Every shape of secret that is looked for in a text, in this order."""


_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NOT_WORD = re.compile(r"[^a-z0-9]+")
_ENDINGS = tuple("_" + name for name in SECRET_NAMES if name not in _WHOLE_ONLY)
_SECRET_SET = frozenset(SECRET_NAMES) | {name.replace("_", "") for name in SECRET_NAMES}


@lru_cache(maxsize=4096)
def _word_form(key: str) -> str:
    return _NOT_WORD.sub("_", _CAMEL.sub("_", key).lower()).strip("_")


@lru_cache(maxsize=4096)
def _secret_key(key: str) -> bool:
    words = _word_form(key)
    if words in PLAIN_NAMES or any(words.endswith("_" + plain) for plain in PLAIN_NAMES):
        return False
    return words in _SECRET_SET or words.endswith(_ENDINGS)


def is_secret_key(key: object) -> bool:
    """Whether a value that goes by `key` is a secret, whatever it looks like."""
    return isinstance(key, str) and (len(key) > MAX_KEY or _secret_key(key))


def redact_text(text: str) -> str:
    """`text` without the secrets that can be told by their shape or by the name in front of them."""
    if len(text) < MIN_LENGTH:
        return text
    if not text.isascii():
        return _redact_folded(text)
    low = text.lower()
    hits = _hits(text, low)
    return _without(text, low, hits) if hits else text


def redact_cut(text: str, limit: int) -> str:
    """`text` without secrets in about `limit` characters.

    What is cut off loses its last word first: a URL that is cut within its password no longer looks like one.
    """
    if len(text) > limit:
        kept = text[: limit + _LONGEST_WORD]
        if len(text) > len(kept):
            space = max(kept.rfind(" ", -_LONGEST_WORD), kept.rfind("\n", -_LONGEST_WORD))
            kept = kept[: space if space > 0 else -_LONGEST_WORD]
        clean = redact_text(kept)
        return f"{clean[:limit]}... ({len(text)} characters)"
    return redact_text(text)


_LONGEST_WORD: Final = 1_400
"""The longest run without a blank that a pattern must see whole: a URL up to the end of its password."""


def redact(value: Any) -> Any:
    """A copy of `value` without secrets.

    Mappings lose the values of secret keys, texts what looks like a secret; sequences and sets are looked into, and
    become lists (tuples stay tuples). All else is returned as it is. Nothing of the caller's is changed.
    """
    return _redact(value, MAX_DEPTH, None)


def redact_plain(value: dict[str, Any]) -> dict[str, Any] | None:
    """`redact(value)` for a value of dicts, lists, texts and numbers; `value` itself where it holds no secret.

    All texts are searched at once, and only those that a hint is found in are looked at one by one. None where the
    value is of anything else, or nested deeper than `PLAIN_DEPTH`, or longer than `PLAIN_LENGTH`.
    """
    texts: list[str] = []
    try:
        hidden = _gathered(value, texts, PLAIN_DEPTH)
    except _NotPlainError:
        return None
    changed = _changed(texts)
    if changed is None:
        return None
    if not hidden and not changed:
        return value
    return cast("dict[str, Any]", _patched(value, changed))


PLAIN_DEPTH: Final = 40
PLAIN_LENGTH: Final = 256 * 1024
"""Characters of all texts of a value that is searched at once."""


class _NotPlainError(Exception):
    """A value holds what JSON has no word for."""


_MANY: Final = 8
_LONGEST_INT: Final = 2**63
_TEXT_ALONE: Final = frozenset({str})

_plain_keys: Final[set[str]] = set()
"""Keys that are no secret and name none: a program's failures have the same ones again and again."""

_PLAIN_KEYS_KEPT: Final = 4_096


def _gathered(value: dict[str, Any] | list[Any] | tuple[Any, ...], texts: list[str], depth: int) -> bool:
    """Add the texts in `value` to `texts`; whether anything in it may be a secret by its name."""
    if not depth:
        raise _NotPlainError
    items: Collection[Any]
    if isinstance(value, dict):
        named = (not _plain_keys.issuperset(value) and _names_a_secret(value)) or "value" in value
        items = value.values()
    else:
        named = len(value) == 2 and _is_header(value[0])
        items = value
    if len(value) > _MANY and _TEXT_ALONE.issuperset(map(type, items)):
        texts.extend(items)
        return named
    for item in items:
        kind: Any = type(item)
        if kind is str:
            texts.append(item)
        elif kind is dict or kind is list or kind is tuple:
            if item and _gathered(item, texts, depth - 1):
                named = True
        elif item is None or kind is bool or kind is Clean or kind is Searched:
            pass
        elif kind is int:
            if not -_LONGEST_INT < item < _LONGEST_INT:
                raise _NotPlainError
        elif kind is not float or not isfinite(item):
            raise _NotPlainError
    return named


def _names_a_secret(value: dict[str, Any]) -> bool:
    """Whether a key of `value` is secret, or holds a secret itself."""
    named = False
    for key in value.keys() - _plain_keys:
        if type(key) is not str:
            raise _NotPlainError
        if len(key) > MAX_KEY or _secret_key(key) or redact_text(key) != key:
            named = True
            continue
        if len(_plain_keys) >= _PLAIN_KEYS_KEPT:
            _plain_keys.clear()
        _plain_keys.add(key)
    return named


def _is_header(item: object) -> bool:
    return isinstance(item, str) and len(item) <= _LONGEST_HEADER and _word_form(item) in _HEADERS


def _patched(value: Any, changed: Mapping[str, str]) -> Any:
    """A copy of a plain value in which texts are what `changed` says, and what goes by a secret name is hidden."""
    if type(value) is not dict:
        if len(value) == 2 and _is_header(value[0]):
            value = [value[0], _hidden(value[1])]
        return [_patched_item(item, changed) for item in value]
    odd = () if _plain_keys.issuperset(value) else value.keys() - _plain_keys
    if "value" in value or any(len(key) > MAX_KEY or _clean_key(key) not in (key, None) for key in odd):
        return _redact_mapping(value, MAX_DEPTH, changed)
    clean = dict(value)
    if len(value) > _MANY and _TEXT_ALONE.issuperset(map(type, value.values())):
        for key in compress(value, map(changed.__contains__, value.values())):
            clean[key] = changed[value[key]]
    else:
        for key, item in value.items():
            kind = type(item)
            if kind is str:
                if item in changed:
                    clean[key] = changed[item]
            elif kind is dict or kind is list or kind is tuple:
                clean[key] = _patched(item, changed)
    for key in odd:
        if _clean_key(key) is None:
            clean[key] = _hidden(value[key])
    return clean


def _patched_item(item: Any, changed: Mapping[str, str]) -> Any:
    kind = type(item)
    if kind is str:
        return changed.get(item, item)
    return _patched(item, changed) if kind is dict or kind is list or kind is tuple else item


def _changed(texts: list[str]) -> dict[str, str] | None:
    """What becomes of those texts that hold a secret; None where they are too long to be searched at once."""
    whole = _BETWEEN.join(texts)
    if len(whole) > PLAIN_LENGTH:
        return None
    if not whole.isascii() or whole.count(_BETWEEN) >= len(texts):
        return {text: clean for text in texts if (clean := redact_text(text)) is not text}
    low = whole.lower()
    suspects: dict[int, list[str]] = {}
    for found in _scanner().finditer(low):
        suspects.setdefault(whole.count(_BETWEEN, 0, found.start()), []).append(found.group())
    if _UPPER_HINT in whole:
        for number, text in enumerate(texts):
            if _UPPER_HINT in text:
                suspects.setdefault(number, []).append(_UPPER_HINT.lower())
    changed: dict[str, str] = {}
    for number, hits in suspects.items():
        text = texts[number]
        if (clean := _without(text, text.lower(), hits)) is not text:
            changed[text] = clean
    return changed


_BETWEEN: Final = "\0"
"""What stands between texts that are searched at once; texts that hold it are searched by themselves."""


# The search for hints. A hint is looked for by the letter of it that is rarest in texts, so that one pass over a text
# stops seldom; to look for each hint by itself takes as many passes as there are hints.

_RARITY: Final = "zjxqkv?&=:b@pgwfcymudhnlrs-oia_te/ "
"""Letters from the rarest to the most frequent, in English and in what programs say."""

_UPPER_HINT: Final = "ASIA"
"""The one hint without a rare letter. What it hints at is in capitals, which are rare themselves."""


@cache
def _scanner() -> re.Pattern[str]:
    """Finds the hints in a text in lower case; what it matches begins with the hint's rarest letter."""
    return re.compile("|".join(_branches()))


def _branches() -> Iterable[str]:
    anchored: dict[str, list[str]] = {}
    for hint in _HINTS:
        # Behind whatever the hint can have in common with the end of another, which was read with that one.
        shared = max(_shared(other, hint) for other in _HINTS if other != hint)
        at = min(range(shared, len(hint)), key=lambda place: _RARITY.index(hint[place]))
        anchored.setdefault(hint[at], []).append(re.escape(hint[at + 1 :]) + (rf"(?<={re.escape(hint)})" if at else ""))
    for letter, rests in anchored.items():
        yield rf"{re.escape(letter)}(?:{'|'.join(sorted(rests, key=len, reverse=True))})"


def _shared(one: str, other: str) -> int:
    """How many letters at the end of `one` are those at the beginning of `other`."""
    return max(size for size in range(min(len(one), len(other))) if one.endswith(other[:size]))


_HINTS: Final = tuple(sorted({hint for pattern in PATTERNS for hint in pattern.hints} - {_UPPER_HINT.lower()}))


def _first_search(low: str) -> list[str]:
    # Compiled on first use: a program that never fails need not wait for it.
    global _search  # noqa: PLW0603 - this one is called once
    _search = _scanner().findall
    return _search(low)


_search: Callable[[str], list[str]] = _first_search


def _hits(text: str, low: str) -> list[str]:
    """What the scanner finds of the hints in a text of ASCII."""
    hits = _search(low)
    if _UPPER_HINT in text:
        hits.append(_UPPER_HINT.lower())
    return hits


# What is compared regardless of case is more than what `lower` makes equal.
_FOLDED: Final = {0x131: "i", 0x307: None}


def _redact_folded(text: str) -> str:
    """`redact_text` of a text beyond ASCII, whose letters in lower case may stand elsewhere."""
    low = text.casefold().translate(_FOLDED)
    hits = _search(low)
    if _UPPER_HINT.lower() in low:
        hits.append(_UPPER_HINT.lower())
    for row in _plan(frozenset(hits)) if hits else ():
        text = _compiled(row.pattern.expression, row.pattern.flags).sub(row.pattern.replacement, text)
    return text


class _Row(NamedTuple):
    """A row of the table, ready to be tried in texts in which certain hints were found."""

    needs: str
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
    found = {hint for hint in _HINTS if any(hint.endswith(hit) for hit in hits)} | (hits & {_UPPER_HINT.lower()})
    rows: list[_Row] = []
    for pattern in PATTERNS:
        if found.isdisjoint(pattern.hints):
            continue
        starts = tuple(start for start in pattern.starts if _may_start(start, found))
        # Where there is but one literal to begin with, it is what the text must hold.
        needs = starts[0] if len(starts) == 1 and starts[0][0] != "*" and not pattern.needs else pattern.needs
        kept = pattern.replacement.count("\\")
        match: Any = _compiled(pattern.expression, pattern.flags).match
        rows.append(_Row(needs, _finder(starts), match, kept, pattern.replacement[2 * kept :], pattern))
    return tuple(rows)


def _may_start(start: str, found: AbstractSet[str]) -> bool:
    if start is _KEY:
        return "key" in found
    # What begins like this is told by what comes later.
    return start is _SCHEME or start == "--" or start[0] in "?&" or any(hint in start for hint in found)


def _without(text: str, low: str, hits: list[str]) -> str:
    """A text of ASCII without what the rows find that these hits call for, one row after the other."""
    finder: Callable[[str], list[int]] | None = None
    places: list[int] = []
    for needs, find, match, kept, tail, _ in _plan(frozenset(hits)):
        if needs not in low:
            continue
        if find is not finder:
            finder, places = find, find(low)
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
    if starts == (_SCHEME,):
        return _scheme_places
    if starts == (_KEY,):
        return _key_places
    return partial(_places, starts)


def _places(starts: tuple[str, ...], low: str) -> list[int]:
    places: list[int] = []
    for start in starts:
        if start is _KEY:
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
    end: tuple(prefix for prefix in _KEY_PREFIXES if prefix.endswith(end))
    for end in {prefix[-3:] for prefix in _KEY_PREFIXES}
}


def _key_places(low: str) -> list[int]:
    """Where the names begin that end in `key`: `api_key`, `access-key`, `secretkey`."""
    places: list[int] = []
    at = low.find("key")
    while at >= 0:
        end = at - 1 if at and low[at - 1] in "_-" else at
        for prefix in _KEY_ENDS.get(low[max(0, end - 3) : end], ()):
            if low.endswith(prefix, 0, end):
                places.append(end - len(prefix))  # noqa: PERF401 - there is seldom more than one
        at = low.find("key", at + 3)
    return places


_STORE_ENDS: Final = {
    end: tuple(name for name in _STORE_NAMES if name.endswith(end)) for end in {name[-2:] for name in _STORE_NAMES}
}


def _scheme_places(low: str) -> list[int]:
    """Where the URLs of stores begin."""
    places: list[int] = []
    at = low.find("://")
    while at >= 0:
        if "+" in low[max(0, at - _LONGEST_SCHEME) : at]:
            # A driver is named as well: from the end backwards, where the scheme is.
            found = _compiled(rf"(?s:.*)(\b{_STORES})\Z", re.NOFLAG).match(low, max(0, at - _LONGEST_SCHEME), at)
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


def _redact(value: Any, depth: int, known: Mapping[str, str] | None) -> Any:
    """`redact(value)`; with `known`, texts become what that says and are not searched again."""
    kind = type(value)
    if kind is str:
        return redact_text(value) if known is None else known.get(value, value)
    if value is None or kind is int or kind is float or kind is bool or kind is Clean or kind is Searched:
        return value
    if isinstance(value, str):
        return redact_text(str.__str__(value))
    if isinstance(value, bytes | bytearray | memoryview):
        return value
    if kind is dict or isinstance(value, Mapping):
        return _redact_mapping(value, depth - 1, known) if depth else REDACTED
    if isinstance(value, Sequence | AbstractSet):
        if not depth:
            return REDACTED
        items = list(value)
        if len(items) == 2 and _is_header(items[0]):
            items[1] = _hidden(items[1])
        clean = [_redact(item, depth - 1, known) for item in items]
        return tuple(clean) if isinstance(value, tuple) else clean
    return value


def _redact_mapping(value: Mapping[Any, Any], depth: int, known: Mapping[str, str] | None) -> dict[Any, Any]:
    clean: dict[Any, Any] = {}
    # {"name": "password", "value": ...}: the shape in which headers, forms and environments are often listed.
    named = "value" in value and any(is_secret_key(value.get(label)) for label in ("name", "key", "header"))
    for key, item in value.items():
        if not isinstance(key, str):
            clean[key] = _redact(item, depth, known)
            continue
        name = key if key in _plain_keys else _clean_key(key) if len(key) <= MAX_KEY else None
        if name is None:
            clean[key if len(key) <= MAX_KEY else redact_text(key)] = _hidden(item)
        elif named and key == "value":
            clean[key] = _hidden(item)
        elif type(item) is str:
            clean[name] = redact_text(item) if known is None else known.get(item, item)
        else:
            clean[name] = _redact(item, depth, known)
    return clean


@lru_cache(maxsize=4096)
def _clean_key(key: str) -> str | None:
    """The key as it may be shown; None where what it names is a secret."""
    return None if _secret_key(key) else redact_text(key)


def _hidden(item: Any) -> Any:
    """The marker, unless there is nothing to hide: whether a secret was given at all is worth knowing."""
    return item if item is None or isinstance(item, bool) or item in ("", b"") else REDACTED
