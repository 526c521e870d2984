"""The shapes of secrets in texts: one table of what they begin with and how they are told from all else."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

REDACTED: Final = "[redacted]"
"""What stands where a secret stood. Redacting twice changes nothing."""

# One alternation for secrets that a text names itself: `password=...`, `"api_key": "..."`, `AccountKey=...`.
_NAMED = (
    r"(?:password|passwd|passphrase|passcode|pwd|secret|credentials?|token|jwt|"
    r"(?:api|access|account|auth|client|encryption|private|secret|session|shared[_-]?access|signing|subscription)"
    r"[_-]?key|signature)"
)
ANNOUNCES: Final = rf"(?:{_NAMED}|authorization|cookie)\s{{0,8}}+(?:[:=]|=>)\s{{0,8}}+\Z"
"""The end of a text after which a secret is to come."""
_NAMED_HINTS = ("pass", "pwd", "secret", "credential", "token", "jwt", "key", "signature")
_STOP = r"(?!\[redacted\])"
STORE_NAMES: Final = (
    "postgresql", "postgres", "mysql", "mariadb", "mssql", "oracle", "mongodb", "rediss", "redis", "valkeys", "valkey",
    "amqps", "amqp", "clickhouse", "kafka", "nats", "ldaps", "ldap", "sftp", "ftp", "ssh", "smtps", "smtp",
)  # fmt: skip
STORES: Final = rf"(?:{'|'.join(STORE_NAMES)})(?:\+[\w.]{{1,32}})?"

# Two beginnings that are no literals: the name of a key, and the scheme of a store's URL.
KEY: Final = "*key"
SCHEME: Final = "*scheme"
_NAMED_STARTS = ("pass", "pwd", "secret", "credential", "token", "jwt", "signature", KEY)
KEY_PREFIXES: Final = (
    "api", "access", "account", "auth", "client", "encryption", "private", "secret", "session", "signing",
    "subscription",
)  # fmt: skip
LONGEST_SCHEME: Final = 46
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

    needs: tuple[str, str] = ("", "")
    """A match holds one of these beside, in lower case: a cheap look before the places are found."""


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
        needs=("/", "/"),
    ),
    Pattern(
        # In these a password may hold a slash or an at sign that nobody encoded; the last at sign ends it.
        "connection string of a store",
        ("://",),
        (rf"\b({STORES}://[^\s:@/\"'<>]{{0,256}}:){_STOP}[^\s\"'<>]{{1,1024}}@"),
        rf"\1{REDACTED}@",
        flags=re.IGNORECASE,
        starts=(SCHEME,),
        needs=("@", "@"),
    ),
    Pattern(
        "password in a URL",
        ("://",),
        (rf"(://[^\s:@/?#\"'<>]{{0,256}}:){_STOP}[^\s/?#\"'<>]{{1,1024}}@"),
        rf"\1{REDACTED}@",
        starts=("://",),
        needs=("@", "@"),
    ),
    Pattern(
        "token in a URL",
        ("://",),
        (rf"(://){_STOP}[^\s:@/?#\"'<>]{{20,1024}}@"),
        rf"\1{REDACTED}@",
        starts=("://",),
        needs=("@", "@"),
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
        needs=("'", '"'),
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
        needs=("=", ":"),
    ),
    Pattern(
        "secret on a command line",
        _NAMED_HINTS,
        (rf"(--(?:[a-z]{{1,16}}-){{0,3}}{_NAMED}\s{{1,8}}+){_STOP}(?!-)[^\s\"']+"),
        rf"\1{REDACTED}",
        flags=re.IGNORECASE,
        starts=("--",),
        needs=("--", "--"),
    ),
)
"""Every shape of secret that is looked for in a text, in this order."""
