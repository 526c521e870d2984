r"""Escapes for characters that could forge a line, reorder a text or drive a terminal.

Every text that a caller, an upstream or an exception had a hand in passes through here before a client or a terminal
shows it. The escapes are those of JSON (`\u001b`, RFC 8259 section 7), so that escaping the text of a JSON document
leaves it valid and its values the same.

Source of the character classes: Unicode 15, `Bidi_Control` and the general categories Cc, Zl and Zp; for flags of
regions, UTS #51, emoji tag sequences.
"""

from __future__ import annotations

import re
from typing import Final


def _escape(char: str) -> str:
    """`char` as JSON writes it where only ASCII is allowed: one escape, or two for a surrogate pair."""
    units = char.encode("utf-16-be")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def _escapes(*ranges: tuple[int, int]) -> dict[int, str]:
    return {code: _escape(chr(code)) for first, last in ranges for code in range(first, last + 1)}


_CONTROLS: Final = {
    # C0 but for tab and line feed, DEL and C1; line and paragraph separator; embeddings, overrides and isolates.
    **_escapes((0x00, 0x08), (0x0B, 0x1F), (0x7F, 0x9F), (0x2028, 0x202E), (0x2066, 0x2069)),
    ord("\r"): "\\r",
}
_LINE_BREAKS: Final = {ord("\n"): "\\n", ord("\t"): "\\t"}
_MARKS: Final = _escapes((0x061C, 0x061C), (0x200E, 0x200F))

_TAGS: Final = re.compile(
    # The flag of a region: a black flag, the region in 3 to 6 letters and digits, and the end. Any other tag is
    # invisible, and so could carry words that only the model reads.
    "(\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f)|[\U000e0000-\U000e007f]"
)


def clean_text(text: str) -> str:
    """Escape controls and reordering characters, for text that a client reads.

    Line feeds and tabs stay, and a carriage return before a line feed is dropped. Joiners, variation selectors and
    the marks LRM, RLM and ALM stay too, since scripts and emoji need them. Half of a surrogate pair, which UTF-8 does
    not have, becomes U+FFFD. Escaping twice changes nothing more.
    """
    if text.isprintable():
        return text
    if text.isascii():
        return text.replace("\r\n", "\n").translate(_CONTROLS)
    text = whole_characters(text)
    if _TAGS.search(text) is not None:
        text = _TAGS.sub(lambda match: match[1] or _escape(match[0]), text)
    return text.replace("\r\n", "\n").translate(_CONTROLS)


def whole_characters(text: str) -> str:
    """`text` with U+FFFD for each half of a surrogate pair, which UTF-8 does not have."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def one_line(text: str) -> str:
    """Escape as `clean_text` does, line feeds and tabs too, for text within a line."""
    return text if text.isprintable() else clean_text(text).translate(_LINE_BREAKS)


def terminal_text(text: str) -> str:
    """Escape as `clean_text` does, and the invisible marks of direction too, for text that a terminal shows.

    Line feeds and tabs stay; JSON stays JSON and keeps its values, for which half of a surrogate pair is escaped and
    not replaced. The odd bytes of a file's name, which Python holds as such halves, can be read too.
    """
    if text.isascii() and text.isprintable():
        return text
    return clean_text(text.encode("utf-8", "backslashreplace").decode()).translate(_MARKS)


def terminal_line(text: str) -> str:
    """Escape as `terminal_text` does, line feeds and tabs too, for text within a line of a terminal."""
    return terminal_text(text).translate(_LINE_BREAKS)
