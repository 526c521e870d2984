"""Removes secrets from texts, mappings and sequences, by the name of a value and by the shape of a secret."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set as AbstractSet
from functools import lru_cache
from math import isfinite
from typing import Any, Final

from mcpcore.wire.redaction.search import LONGEST_WORD, redact_text, suspects
from mcpcore.wire.redaction.table import REDACTED

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
