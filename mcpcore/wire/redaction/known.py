"""Hides values that are known to be secret, in every encoding in which they may come back.

The text is decoded layer by layer, and each layer is searched for the values as they are, in Base64, in Base32 and in
hexadecimal. Each place is then mapped back to the text itself, and replaced there.
"""

from __future__ import annotations

import re
from base64 import b32encode, b64encode
from html.entities import html5
from typing import TYPE_CHECKING, Final

from mcpcore.wire.redaction.search import lowered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

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

_SIGNS: Final = dict(zip("bfnrtv", "\b\f\n\r\t\v", strict=True))

_BETWEEN: Final = re.compile("[\\s\"'=\\\\>\x00-\x1f\x7f\xad\u200b-\u200d\u2060\ufeff]+|<br ?/?>", re.IGNORECASE)
"""Blanks, quotes and their like, which divide the characters of a value that is broken over lines."""


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
            bare, places = _replaced(_BETWEEN, lambda _: "", lowered(text), own)
            for form in self._forms:
                start = bare.find(form)
                while start >= 0:
                    end = start + len(form)
                    if at is None or places is None:
                        yield start, end
                    else:
                        yield at[places[start]], at[places[end - 1] + 1]
                    start = bare.find(form, end)
            decoded, at = _replaced(_ESCAPE, _character, text, at)
            if decoded == text:
                return
            text = decoded


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
