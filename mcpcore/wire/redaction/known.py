"""Hides values that are known to be secret, in every encoding in which they may come back.

The text is decoded layer by layer, and each layer is searched for the values as they are, in Base64, in Base32 and in
hexadecimal. Runs of Base64 and of hexadecimal are themselves layers, which may hold others. Each place is then mapped
back to the text itself, and replaced there.
"""

from __future__ import annotations

import re
from base64 import b32encode, b64decode, b64encode
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from html.entities import html5
from typing import Final

from mcpcore.wire.redaction.structures import lowered

_LAYERS: Final = 8
"""Encodings within each other that are undone; each takes time that is linear in the text."""

_LEAST: Final = 5
"""Characters of a value, or of one of its encodings, that are searched for."""

_LONGEST: Final = 1_000_000
"""Characters of a text with a value in it that is shown; a longer one is hidden as a whole, to save memory."""

_ESCAPE: Final = re.compile(
    r"%(?P<percent>[0-9A-Fa-f]{2})"
    r"|\\(?:u(?P<unit>[0-9A-Fa-f]{4})|[ux]\{0*+(?P<braces>[0-9A-Fa-f]{1,6})\}|U00(?P<long>[0-9A-Fa-f]{6})"
    r"|x(?P<byte>[0-9A-Fa-f]{2})|(?P<octal>[0-3][0-7]{2})|(?P<sign>[bfnrtv/\\\"'?]))"
    r"|&(?:#[xX]0*+(?P<hexadecimal>[0-9A-Fa-f]{1,6});?|#0*+(?P<decimal>[0-9]{1,7});?"
    r"|(?P<name>[A-Za-z][A-Za-z0-9]{1,31});)"
)
"""Escapes of URLs, of JSON and programming languages, and of HTML."""

_RUN: Final = re.compile(
    r"\b(?P<hexadecimal>(?:0x)?[0-9A-Fa-f]{2}(?>(?:[ :,-]{0,2}(?:0x)?[0-9A-Fa-f]{2}){4,}))"
    r"|(?P<base64>[A-Za-z0-9+/_-]{8,}+)={0,2}"
)
"""Text that may be that of bytes, also with signs between them."""

_APART: Final = re.compile("0x|[ :,-]")
_URL_SAFE: Final = b"-_"

_SIGNS: Final = dict(zip("bfnrtv", "\b\f\n\r\t\v", strict=True))

_BLANK: Final = "[\\s\"'=\\\\>\x00-\x1f\x7f\xad\u200b-\u200f\u2060\ufe00-\ufe0f\ufeff]"
_BETWEEN: Final = re.compile(f"{_BLANK}+|<br ?/?>", re.IGNORECASE)
"""Blanks, quotes and their like, which divide the characters of a value that is broken over lines."""

_FRAME: Final = re.compile(
    r"\x1b\[[0-?]*+[ -/]*+[@-~]"  # colours and their like of a terminal
    r"|[\r\n][\d \t]*+(?:[|#>*+-]|//)(?=[ \t])"  # what begins a line of a quotation, a comment or a listing
)
_FRAMED: Final = re.compile(f"(?:{_FRAME.pattern}|{_BLANK})+|<br ?/?>", re.IGNORECASE)
"""What divides a value, too, unless it is a part of the value itself; so texts are searched with it and without it."""


class KnownSecrets:
    """Values that no text may show."""

    def __init__(self, values: Iterable[str], mark: str) -> None:
        """Hide `values` by putting `mark` in their place."""
        forms = {_bare(form) for value in values for form in _forms(value)}
        # A shorter one would be in many texts by chance.
        self._forms = sorted((form for form in forms if len(form) >= _LEAST), key=len, reverse=True)
        self._shortest = min(map(len, self._forms), default=0)
        self._mark = mark

    def hide(self, text: str) -> str:
        """`text` without the values, in any encoding; `text` itself if it holds none."""
        if not self._forms or len(text) < self._shortest or not any(self._found_in(text, None)):
            return text
        if len(text) > _LONGEST:
            return self._mark
        places = sorted(self._found_in(text, [*range(len(text) + 1)]))
        pieces: list[str] = []
        done = 0
        for start, end in places:
            if start >= done:
                pieces += text[done:start], self._mark
            done = max(done, end)
        return "".join((*pieces, text[done:]))

    def _found_in(self, text: str, at: list[int] | None) -> Iterator[tuple[int, int]]:
        """The places of the values in `text`; without `at`, the offsets of its characters, they are not exact."""
        for _ in range(_LAYERS):
            own = None if at is None else [*range(len(text) + 1)]
            # A second time only where it makes a difference.
            for between in (_BETWEEN, _FRAMED) if _FRAME.search(text) else (_BETWEEN,):
                bare, places = _replaced(between, lambda _: "", lowered(text), own)
                for start, end in self._within(bare):
                    if at is None or places is None:
                        yield start, end
                    else:
                        # Characters that were decoded together have one offset; the place ends after all of them.
                        last = at[places[end - 1]]
                        yield at[places[start]], at[bisect_right(at, last)]
            decoded, offsets = _replaced(_ESCAPE, _character, text, at)
            if decoded == text:
                # An escape may be within a run, so runs are decoded when no escape is left.
                decoded, offsets = _replaced(_RUN, _decoded, text, at)
            if decoded == text:
                return
            text, at = decoded, offsets

    def _within(self, bare: str) -> Iterator[tuple[int, int]]:
        """The places of the values in a text as it was decoded."""
        for form in self._forms:
            start = bare.find(form)
            while start >= 0:
                end = start + len(form)
                yield start, end
                start = bare.find(form, end)


def _replaced(
    pattern: re.Pattern[str], replacement: Callable[[re.Match[str]], str], text: str, at: list[int] | None
) -> tuple[str, list[int] | None]:
    """`text` with replacements, and the offsets of its characters in the first text."""
    if at is None:
        return pattern.sub(replacement, text), None
    pieces: list[str] = []
    offsets: list[int] = []
    done = 0
    for match in pattern.finditer(text):
        new = replacement(match)
        pieces += text[done : match.start()], new
        offsets += at[done : match.start()]
        offsets += [at[match.start()]] * len(new)
        done = match.end()
    return "".join((*pieces, text[done:])), [*offsets, *at[done:]]


def _character(match: re.Match[str]) -> str:
    """The character of an escape; the text of the match itself if it is not an escape."""
    kind, value = match.lastgroup, match[match.lastgroup or 0]
    if kind == "sign":
        return _SIGNS.get(value, value)
    if kind == "name":
        return html5.get(f"{value};", match[0])
    number = int(value, {"decimal": 10, "octal": 8}.get(kind or "", 16))
    return chr(number) if number < 0x110000 else match[0]


def _decoded(match: re.Match[str]) -> str:
    """The text in a run of Base64 or hexadecimal; the run itself if no text is in it."""
    run = match[match.lastgroup or 0]
    try:
        if match.lastgroup == "hexadecimal":
            return bytes.fromhex(_APART.sub("", run)).decode()
        return b64decode(run + "=" * (-len(run) % 4), _URL_SAFE if "-" in run or "_" in run else None).decode()
    except ValueError:
        return match[0]


def _bare(text: str) -> str:
    return _BETWEEN.sub("", lowered(text))


def _forms(value: str) -> Iterator[str]:
    """A value as it is and encoded as a whole, also as a part of a longer text; and what it is an escape of."""
    decoded = _ESCAPE.sub(_character, value)
    if decoded != value:
        yield from _forms(decoded)
    data = value.encode("utf-8", "replace")
    yield from (value, value[::-1], value.replace(" ", "+"), data.hex())
    for encode, bits, together in ((b64encode, 6, 3), (b32encode, 5, 5)):
        for before in range(together):
            # Only the characters that hold no bit of the text before or after the value.
            first, last = -(-8 * before // bits), 8 * (before + len(data)) // bits
            encoded = encode(b"\0" * before + data).decode()[first:last]
            yield encoded
            yield encoded.replace("+", "-").replace("/", "_")
