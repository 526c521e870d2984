"""Secrets in mappings and sequences: told by the name that a value goes by, and by its shape where it is a text."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache, lru_cache
from itertools import compress
from math import isfinite
from typing import Any, Final, cast

from mcpcore.redaction.search import (
    HINTS,
    UPPER_HINT,
    branches,
    has_odd_letters,
    lowered,
    redact_json_by,
    redact_text,
    scanner,
    without,
)
from mcpcore.redaction.table import REDACTED

MAX_DEPTH: Final = 64
"""Containers nested deeper than this are replaced whole: nobody reads them, and one of them may be a cycle."""

MAX_KEY: Final = 256
"""A key longer than this is not worth reading: what it names is taken for a secret."""

SECRET_NAMES: Final[tuple[str, ...]] = (
    "access_key",
    "account_key",
    "admin_pass",
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
    "db_pass",
    "encryption_key",
    "ftp_pass",
    "hmac_key",
    "jwt",
    "ldap_pass",
    "login_pass",
    "mail_pass",
    "master_key",
    "otp",
    "passcode",
    "passphrase",
    "passwd",
    "password",
    "passwords",
    "pin",
    "private_key",
    "pwd",
    "redis_pass",
    "root_pass",
    "secret",
    "secret_key",
    "secrets",
    "session_key",
    "set_cookie",
    "shared_access_key",
    "shared_access_signature",
    "signature",
    "signing_key",
    "smtp_pass",
    "ssh_key",
    "ssh_pass",
    "subscription_key",
    "token",
    "totp",
    "user_pass",
)
"""A key is secret when its words are, or end in, one of these: `dbPassword`, `x-api-key`, `GITHUB_TOKEN`. Words that
say which, or in what form, may follow: `password2`, `api_key_prod`, `passwordHash`."""

SECRET_ENDS: Final[tuple[str, ...]] = ("apikey", "passphrase", "passwd", "password", "secret", "token")
"""A key is secret, too, when its last word ends in one of these: `accesstoken`, `PGPASSWORD`."""

FORMS: Final[frozenset[str]] = frozenset(
    {
        "again", "b64", "base64", "confirm", "confirmation", "confirmed", "dev", "encrypted", "hash", "hashed",
        "header", "live", "pem", "plain", "plaintext", "prod", "production", "repeat", "staging", "value",
    }
)  # fmt: skip
"""Words after the name of a secret that change nothing."""

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


class Clean(str):
    """A text that was searched already, which need not be done again."""

    __slots__ = ()


class Searched(dict[str, Any]):
    """A mapping all of which was searched already, as it was made."""

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
    """Whether a value that goes by `key` is a secret, whatever it looks like."""
    return isinstance(key, str) and (len(key) > MAX_KEY or _secret_key(key))


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


redact_json_by(redact)


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


def are_known(keys: Iterable[str]) -> bool:
    """Whether all of these keys were met before and are no secret; where not, they may be all the same."""
    return _plain_keys.issuperset(keys)


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
    if whole.count(_BETWEEN) >= len(texts):
        return {text: clean for text in texts if (clean := redact_text(text)) is not text}
    low = lowered(whole)
    suspects: dict[int, list[str]] = {}
    number = before = 0
    for found in scanner().finditer(low):
        at = found.start()
        number += whole.count(_BETWEEN, before, at)
        before = at
        suspects.setdefault(number, []).append(found.group())
    if UPPER_HINT in whole:
        for number, text in enumerate(texts):
            if UPPER_HINT in text:
                suspects.setdefault(number, []).append(UPPER_HINT.lower())
    changed: dict[str, str] = {}
    for number, hits in suspects.items():
        text = texts[number]
        if (clean := without(text, lowered(text), hits)) is not text:
            changed[text] = clean
    return changed


# In JSON a colon stands in each member, and a slash nearly nowhere.
_JSON_RARITY: Final = "\\zjxqk%v?&=b@'pgwf0123456789cymudhnlrs-oia_te/.: \""
_UNHINTED: Final = tuple(
    (name, min(range(len(name)), key=lambda at: _JSON_RARITY.index(name[at])))
    for name in SECRET_NAMES
    if not any(hint in name for hint in HINTS)
)
"""Names of secrets that hold no hint, and where their rarest letter stands."""
_LONG_KEY: Final = re.compile(rb'"[^"]{%d}' % MAX_KEY)
_UPPER_HINT: Final = UPPER_HINT.encode()


@cache
def _json_scanner() -> re.Pattern[bytes]:
    """Finds in JSON in lower case: hints, keys that are secret and hold none, `value`, and letters that are odd."""
    ends = r'(?:[^a-z0-9]|\\[bfnrt]|\\u00[01][0-9a-f])*?":'
    # A quote within a text is escaped.
    hints = {hint: hint.replace('"', '\\"') for hint in HINTS}
    names = [rf"{name[at]}(?<={name[: at + 1]}){name[at + 1 :]}{ends}" for name, at in _UNHINTED]
    return re.compile("|".join((*branches(hints, _JSON_RARITY), *names, r'v(?<="v)alue":')).encode("ascii"))


def may_hold_secret(line: bytes) -> bool:
    """Whether members of JSON, encoded in UTF-8, may hold a secret; where not, `redact` changes nothing.

    Only what JSON must escape may be escaped.
    """
    low = line.lower()
    return (
        (not line.isascii() and has_odd_letters(line.decode("utf-8")))
        or _json_scanner().search(low) is not None
        or _UPPER_HINT in line
        or (len(line) > 2 * MAX_KEY and _LONG_KEY.search(line) is not None)
    )


_BETWEEN: Final = "\0"
"""What stands between texts that are searched at once; texts that hold it are searched by themselves."""


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
