"""Secrets taken out of what goes to logs and records: by the name that a value goes by, and by its shape in a text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache, lru_cache
from typing import Any, Final, NamedTuple

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
_STORES = (
    r"(?:postgres(?:ql)?|mysql|mariadb|mssql|oracle|mongodb|rediss?|valkeys?|amqps?|clickhouse|kafka|nats|"
    r"ldaps?|s?ftp|ssh|smtps?)(?:\+[\w.]{1,32})?"
)

# Two beginnings that are no literals: the name of a key, and the scheme of a store's URL.
_KEY: Final = "*key"
_SCHEME: Final = "*scheme"
_NAMED_STARTS = ("pass", "pwd", "secret", "credential", "token", "jwt", "signature", _KEY)
_KEY_PREFIXES = (
    "api", "access", "account", "auth", "client", "encryption", "private", "secret", "session", "signing",
    "subscription",
)  # fmt: skip
_LONGEST_SCHEME = 46


class Pattern(NamedTuple):
    """One row of the table: a kind of secret, the strings without which it cannot be there, and how to find it."""

    name: str
    hints: tuple[str, ...]
    expression: str
    replacement: str = REDACTED
    flags: re.RegexFlag = re.NOFLAG
    starts: tuple[str, ...] = ()
    """What a match begins with, in lower case: the expression is tried there and nowhere else; it takes microseconds
    to try it at each letter of a text."""


class Clean(str):
    """A text that was searched already, which need not be done again."""

    __slots__ = ()


PATTERNS: Final[tuple[Pattern, ...]] = (
    Pattern(
        "private key",
        ("-----begin",),
        (
            r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
            r"(?:.*?-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|.*\Z)"
        ),
        flags=re.DOTALL,
        starts=("-----begin ",),
    ),
    Pattern(
        "authorization header",
        ("auth", "key"),
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
        "basic credential",
        ("basic ",),
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
        ("gh", "glpat-", "xox", "sk-", "_live_", "_test_", "aiza", "npm_", "pypi-", "hf_"),
        (
            r"(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}|"
            r"xox[abeoprs]-[A-Za-z0-9-]{10,}|sk-[A-Za-z0-9_-]{16,}|(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{10,}|"
            r"AIza[A-Za-z0-9_-]{30,}|npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{30,}|hf_[A-Za-z0-9]{20,})"
        ),
        starts=(
            "gho_",
            "ghp_",
            "ghr_",
            "ghs_",
            "ghu_",
            "github_pat_",
            "glpat-",
            "xox",
            "sk-",
            "sk_live_",
            "sk_test_",
            "rk_live_",
            "rk_test_",
            "aiza",
            "npm_",
            "pypi-",
            "hf_",
        ),
    ),
    Pattern(
        "webhook",
        ("hooks",),
        (r"(hooks\.slack\.com/[a-z]{1,16}/|/api/webhooks/)[A-Za-z0-9_/-]{8,}"),
        rf"\1{REDACTED}",
        flags=re.IGNORECASE,
        starts=("hooks.slack.com/", "/api/webhooks/"),
    ),
    Pattern(
        # In these a password may hold a slash or an at sign that nobody encoded; the last at sign ends it.
        "connection string of a store",
        ("://",),
        (rf"\b({_STORES}://[^\s:@/\"'<>]{{0,256}}:){_STOP}[^\s\"'<>]{{1,1024}}@"),
        rf"\1{REDACTED}@",
        flags=re.IGNORECASE,
        starts=(_SCHEME,),
    ),
    Pattern(
        "password in a URL",
        ("://",),
        (rf"(://[^\s:@/?#\"'<>]{{0,256}}:){_STOP}[^\s/?#\"'<>]{{1,1024}}@"),
        rf"\1{REDACTED}@",
        starts=("://",),
    ),
    Pattern(
        "token in a URL",
        ("://",),
        (rf"(://){_STOP}[^\s:@/?#\"'<>]{{20,1024}}@"),
        rf"\1{REDACTED}@",
        starts=("://",),
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
    ),
)
"""Every shape of secret that is looked for in a text, in this order."""


def _fewest(hints: Iterable[str]) -> tuple[str, ...]:
    """The hints without those that contain another one."""
    kept: list[str] = []
    for hint in sorted(set(hints), key=lambda h: (len(h), h)):
        if not any(shorter in hint for shorter in kept):
            kept.append(hint)
    return tuple(kept)


TEXT_HINTS: Final = _fewest(hint for pattern in PATTERNS for hint in pattern.hints)
"""A text that holds none of these, in any case, holds no secret of a known shape."""

KEY_HINTS: Final = _fewest(
    [*TEXT_HINTS, *(f'"{name}"' if name in _WHOLE_ONLY else name.split("_")[-1] for name in SECRET_NAMES)]
)
"""The JSON of a value that holds none of these, in any case, has no secret key either."""

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
    return _redact_text(text, TEXT_HINTS)


def redact_cut(text: str, limit: int) -> Clean:
    """`text` without secrets in about `limit` characters.

    What is cut off loses its last word first: a URL that is cut within its password no longer looks like one.
    """
    if len(text) > limit:
        kept = text[: limit + _LONGEST_WORD]
        if len(text) > len(kept):
            space = max(kept.rfind(" ", -_LONGEST_WORD), kept.rfind("\n", -_LONGEST_WORD))
            kept = kept[: space if space > 0 else -_LONGEST_WORD]
        clean = redact_text(kept)
        return Clean(f"{clean[:limit]}... ({len(text)} characters)")
    return Clean(redact_text(text))


_LONGEST_WORD: Final = 1_400
"""The longest run without a blank that a pattern must see whole: a URL up to the end of its password."""


def redact(value: Any) -> Any:
    """A copy of `value` without secrets.

    Mappings lose the values of secret keys, texts what looks like a secret; sequences and sets are looked into, and
    become lists (tuples stay tuples). All else is returned as it is. Nothing of the caller's is changed.
    """
    return _redact(value, MAX_DEPTH, TEXT_HINTS)


def redact_json(value: Any, text: str) -> Any:
    """`redact(value)` for a value whose JSON is `text`; `value` itself where the text shows that there is no secret.

    The text is searched once; after that only the shapes that it can hold are looked for.
    """
    low = text.lower()
    hints = [hint for hint in KEY_HINTS if hint in low]
    if not hints:
        return value
    return _redact(value, MAX_DEPTH, tuple(hint for hint in hints if hint[0] != '"'))


def _redact_text(text: str, hints: tuple[str, ...]) -> str:
    if len(text) < MIN_LENGTH:
        return text
    low = text.lower()
    present = [hint for hint in hints if hint in low]
    if not present:
        return text
    # Only of ASCII is it sure that the letters of the lower case stand where those of the text do.
    ascii_only = text.isascii()
    for row in _patterns(tuple(present)):
        if not ascii_only:
            text = _compiled(row.expression, row.flags).sub(row.replacement, text)
        elif (changed := _replaced(row, text, low)) is not text:
            text, low = changed, changed.lower()
    return text


def _replaced(row: Pattern, text: str, low: str) -> str:
    """`regex.sub`, tried only where a match can begin."""
    places: list[int] = []
    for start in row.starts:
        if start is _KEY:
            places += _key_places(low)
        elif start is _SCHEME:
            places += _scheme_places(low)
        elif start in low:
            at = low.find(start)
            while at >= 0:
                places.append(at)
                at = low.find(start, at + 1)
    if not places:
        return text
    places.sort()
    regex = _compiled(row.expression, row.flags)
    pieces: list[str] = []
    done = 0
    for at in places:
        if at >= done and (match := regex.match(text, at)) is not None:
            # What is kept of a match is what it begins with.
            kept = row.replacement.count("\\")
            pieces += (text[done : match.end(kept) if kept else at], row.replacement[2 * kept :])
            done = match.end()
    return "".join((*pieces, text[done:])) if pieces else text


def _key_places(low: str) -> list[int]:
    """Where the names begin that end in `key`: `api_key`, `access-key`, `secretkey`."""
    places: list[int] = []
    at = low.find("key")
    while at >= 0:
        end = at - 1 if at and low[at - 1] in "_-" else at
        if low.endswith(_KEY_PREFIXES, max(0, end - 12), end):
            places += (end - len(prefix) for prefix in _KEY_PREFIXES if low.endswith(prefix, 0, end))
        at = low.find("key", at + 3)
    return places


def _scheme_places(low: str) -> list[int]:
    """Where the URLs of stores begin."""
    places: list[int] = []
    at = low.find("://") if "@" in low else -1
    while at >= 0:
        if (match := _compiled(rf"\b{_STORES}\Z", re.NOFLAG).search(low, max(0, at - _LONGEST_SCHEME), at)) is not None:
            places.append(match.start())
        at = low.find("://", at + 3)
    return places


@lru_cache(maxsize=1024)
def _patterns(present: tuple[str, ...]) -> tuple[Pattern, ...]:
    """The shapes that can be in a text in which exactly these hints occur."""
    return tuple(p for p in PATTERNS if any(stem in hint for stem in present for hint in p.hints))


@cache
def _compiled(expression: str, flags: re.RegexFlag) -> re.Pattern[str]:
    # On first use: a program that never fails need not wait for it.
    return re.compile(expression, flags)


def _redact(value: Any, depth: int, hints: tuple[str, ...]) -> Any:
    kind = type(value)
    if kind is str:
        return _redact_text(value, hints)
    if value is None or kind is int or kind is float or kind is bool:
        return value
    if kind is Clean:
        return value
    if isinstance(value, str):
        return _redact_text(str.__str__(value), hints)
    if isinstance(value, bytes | bytearray | memoryview):
        return value
    if kind is dict or isinstance(value, Mapping):
        return _redact_mapping(value, depth - 1, hints) if depth else REDACTED
    if isinstance(value, Sequence | AbstractSet):
        if not depth:
            return REDACTED
        items = list(value)
        if len(items) == 2 and isinstance(items[0], str) and len(items[0]) <= 32 and _word_form(items[0]) in _HEADERS:
            items[1] = _hidden(items[1])
        clean = [_redact(item, depth - 1, hints) for item in items]
        return tuple(clean) if isinstance(value, tuple) else clean
    return value


def _redact_mapping(value: Mapping[Any, Any], depth: int, hints: tuple[str, ...]) -> dict[Any, Any]:
    clean: dict[Any, Any] = {}
    # {"name": "password", "value": ...}: the shape in which headers, forms and environments are often listed.
    named = "value" in value and any(is_secret_key(value.get(label)) for label in ("name", "key", "header"))
    for key, item in value.items():
        if not isinstance(key, str):
            clean[key] = _redact(item, depth, hints)
            continue
        name = _clean_key(key) if len(key) <= MAX_KEY else None
        if name is None:
            clean[key if len(key) <= MAX_KEY else redact_text(key)] = _hidden(item)
        elif named and key == "value":
            clean[key] = _hidden(item)
        elif type(item) is str:
            # The common case, without two calls for each.
            low = item.lower()
            for hint in hints:
                if hint in low:
                    item = _redact_text(item, hints)  # noqa: PLW2901 - what it is without secrets
                    break
            clean[name] = item
        else:
            clean[name] = _redact(item, depth, hints)
    return clean


@lru_cache(maxsize=4096)
def _clean_key(key: str) -> str | None:
    """The key as it may be shown; None where what it names is a secret."""
    return None if _secret_key(key) else redact_text(key)


def _hidden(item: Any) -> Any:
    """The marker, unless there is nothing to hide: whether a secret was given at all is worth knowing."""
    return item if item is None or isinstance(item, bool) or item in ("", b"") else REDACTED
