"""Texts that look as if they held many secrets, one family for each beginning of each row of the table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mcpcore.wire.redaction import PATTERNS

if TYPE_CHECKING:
    from collections.abc import Iterator

# The characters and words that rows require before they are tried at all.
EVERYTHING: Final = ' x " \' = : %3d input_value= </ & %22 value="1" -- ? ={ pwd @ %40 :// name key pass \\u0022 \n'

# Beginnings that the table has no literals for.
KEYS: Final = ("api_key", "secret key", "x-api-key", "postgres://", "mysql+x://a:", "-----BEGIN RSA PRIVATE KEY-----")

# What may follow a beginning, so that a row nearly matches.
AFTER: Final = ("", " ", "=", ":", ': "', "='", '":"', "\\", '\\\\"', "%3d", "\n", "://", "@", "-", "a", "1 ", "{",
                "(", "<", ">a", ",", "%3a", "/", ".", "a" * 40 + " ")  # fmt: skip

# Letters that equal one of ASCII regardless of case.
ODD: Final = ("\u0130", "\u0131", "\u017f", "\u212a")

# Repeated, these were slow, or are the nearest to what was.
NEARLY: Final = (
    "curl ", "curl -", "curl -a b ", "mysql x -", "docker login ", "openssl a:", "jwt=,", "pwd", "?key=a{", "+://",
    "eyJaaaaa.", "sk-sk-", "basic a", "bearer ", "token>a", "%3a%2f%2f%3a", "postgres://a:", "ftp://:", "token\n a",
    '"pin": "', "'password', \"", '{"a":', '["jwt=",', "-", "\\", '"', "'", "key", "authorization:\n",
    "sk--", "pass://", "api key://", "pass=='", "pwd\\", "Private-Lines: 1\n",
    "jdbc:oracle:x:", "--a-b-c-token", "hooks.slack.com/a/", "secret secret ",
)  # fmt: skip


def families() -> dict[str, list[str]]:
    """The units to repeat, by what they begin with: each beginning and each hint with all that may follow it."""
    starts = {start for row in PATTERNS for start in (*row.starts, *row.hints) if not start.startswith("*")}
    every = {start: [start + after for after in AFTER] for start in sorted(starts | set(KEYS))}
    every |= {f"nearly {unit}": [unit] for unit in NEARLY}
    return every | {f"odd {odd}": [f"{odd}{unit}" for unit in NEARLY] for odd in ODD}


def texts(unit: str, length: int) -> Iterator[str]:
    """The unit again and again: alone, after all that any row asks for, in capitals, and as texts in JSON."""
    yield (unit * (length // len(unit) + 1))[:length]
    yield (EVERYTHING + unit * (length // len(unit) + 1))[:length]
    yield (unit.upper() * (length // len(unit) + 1))[:length]
    inner = unit.replace("\\", "").replace('"', "").replace("\n", " ") or "a"
    yield "[" + ",".join([f'"{inner}"'] * (length // (len(inner) + 3))) + "]"
