"""Removes secrets from texts, mappings and sequences, by the name of a value and by the shape of a secret."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache, lru_cache
from typing import Any, Final

from mcpcore.redaction.search import MIN_LENGTH, holds_hint, redact_hinted
from mcpcore.redaction.table import ANNOUNCES, REDACTED

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


def redact_text(text: str) -> str:
    """`text` without the secrets that their shape or a name in front of them shows; JSON stays JSON."""
    if len(text) < MIN_LENGTH:
        return text
    clean = redact_hinted(text)
    return clean if clean is text or not _may_be_json(text) else _json_kept(text, clean)


_MAX_MEMBERS: Final = 1_000
"""Members of a JSON text that are redacted one by one; a longer text may no longer be JSON afterwards."""
_JSON_ENDS: Final = {"{": "}", "[": "]", '"': '"'}


def _may_be_json(text: str) -> bool:
    """Whether the text begins and ends as a JSON object, array or string."""
    bare = text.strip()
    return len(bare) > 1 and _JSON_ENDS.get(bare[0]) == bare[-1]


def _json_kept(text: str, clean: str) -> str:
    """`clean`, the redacted `text`; if redaction broke JSON, the JSON with each value redacted by itself.

    Within a string, the quote that ends a value may look like one that begins a secret: `"/a?token="}`.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return clean
    try:
        json.loads(clean)
    except (ValueError, RecursionError):
        if text.count(",") + text.count(":") > _MAX_MEMBERS:
            return clean
        redacted = _announced_hidden(redact(value))
        if redacted == value:
            return text
        spaces = (",", ":") if ", " not in text and ": " not in text else None
        indent = 2 if "\n" in text.strip() else None
        return json.dumps(redacted, ensure_ascii=text.isascii(), indent=indent, separators=spaces)
    return clean


_LONGEST_ANNOUNCEMENT: Final = 64
"""Characters at the end of a string that are searched for an announcement of a secret."""


def _announced_hidden(value: Any) -> Any:
    """`value` without list items that follow an announcement, as in `["password:", 1234]`."""
    if isinstance(value, dict):
        return {key: _announced_hidden(item) for key, item in value.items()}
    if not isinstance(value, list):
        return value
    kept: list[Any] = []
    announced = False
    for item in value:
        hides = announced and item is not None and not isinstance(item, dict | list | bool)
        kept.append(REDACTED if hides else _announced_hidden(item))
        announced = isinstance(item, str) and _announces().search(item[-_LONGEST_ANNOUNCEMENT:]) is not None
    return kept


@cache
def _announces() -> re.Pattern[str]:
    return re.compile(ANNOUNCES, re.IGNORECASE)


def redact_cut(text: str, limit: int) -> str:
    """`text` without secrets in about `limit` characters.

    A cut text loses its last word, since a URL that is cut within its password no longer looks like a URL.
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
"""The longest text without a blank that a pattern needs: a URL up to the end of its password."""


def redact(value: Any) -> Any:
    """A copy of `value` without secrets.

    In mappings, the values of secret keys are hidden, and in texts everything that looks like a secret. Sequences and
    sets become lists (tuples stay tuples). Other values are returned unchanged, and the argument is never modified.
    """
    return _redact(value, MAX_DEPTH)


def is_clean(value: Any) -> bool:
    """Whether `value` is plain JSON that `redact` would not change; False if that takes a closer look.

    Most records hold no secret, and this costs a fraction of `redact`.
    """
    texts: list[str] = []
    return _gathered(value, MAX_DEPTH, texts) and not holds_hint(texts)


def _gathered(value: Any, depth: int, texts: list[str]) -> bool:
    """Add the texts in `value` to `texts`; False at a key or a value that `redact` may treat in another way."""
    kind = type(value)
    if kind is str:
        texts.append(value)
        return True
    if value is None or kind in _WITHOUT_TEXT:
        return True
    if not depth:
        return False
    if kind is dict:
        if "value" in value:
            return False
        for key, item in value.items():
            if type(key) is not str or len(key) > MAX_KEY or _clean_key(key) != key:
                return False
            if type(item) is str:
                texts.append(item)
            elif not _gathered(item, depth - 1, texts):
                return False
        return True
    if kind is list:
        if len(value) == 2 and _is_header(value[0]):
            return False
        return all(_gathered(item, depth - 1, texts) for item in value)
    return False


def _redact(value: Any, depth: int) -> Any:
    kind = type(value)
    if kind is str:
        return redact_text(value)
    if value is None or kind in _WITHOUT_TEXT:
        return value
    if isinstance(value, str):
        return redact_text(str.__str__(value))
    if isinstance(value, bytes | bytearray | memoryview):
        return value
    if kind is dict or isinstance(value, Mapping):
        return _redact_mapping(value, depth - 1) if depth else REDACTED
    if isinstance(value, Sequence | AbstractSet):
        if not depth:
            return REDACTED
        items = list(value)
        if len(items) == 2 and _is_header(items[0]):
            items[1] = _hidden(items[1])
        clean = [_redact(item, depth - 1) for item in items]
        return tuple(clean) if isinstance(value, tuple) else clean
    return value


_WITHOUT_TEXT: Final = frozenset({int, float, bool, Clean, Searched})


def _redact_mapping(value: Mapping[Any, Any], depth: int) -> dict[Any, Any]:
    clean: dict[Any, Any] = {}
    # {"name": "password", "value": ...}: a common form of headers, forms and environments.
    named = "value" in value and any(is_secret_key(value.get(label)) for label in ("name", "key", "header"))
    for key, item in value.items():
        if not isinstance(key, str):
            clean[key] = _redact(item, depth)
            continue
        shown = _clean_key(key) if len(key) <= MAX_KEY else None
        if shown is None:
            clean[key if len(key) <= MAX_KEY else redact_text(key)] = _hidden(item)
        elif named and key == "value":
            clean[key] = _hidden(item)
        else:
            clean[shown] = redact_text(item) if type(item) is str else _redact(item, depth)
    return clean


def _is_header(item: object) -> bool:
    return isinstance(item, str) and len(item) <= _LONGEST_HEADER and _word_form(item) in _HEADERS


@lru_cache(maxsize=4096)
def _clean_key(key: str) -> str | None:
    """The key without secrets; None if its value is a secret."""
    return None if _secret_key(key) else redact_text(key)


def _hidden(item: Any) -> Any:
    """The marker, or an empty value unchanged, since it is useful to know that a secret is missing."""
    return item if item is None or isinstance(item, bool) or item in ("", b"") else REDACTED
