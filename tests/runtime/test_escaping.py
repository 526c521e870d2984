"""Escaping: control characters never reach a client or a terminal, and ordinary text stays unchanged."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given, strategies as st

from mcpcore.values.escaping import clean_text, one_line, terminal_line, terminal_text

ENGLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
HOSTILE = st.text(st.one_of(st.characters(), st.sampled_from("\r\n\x1b\x85\u2028\u202e\u2066\u200e\u200d\U000e0041")))


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("a\rb", "a\\rb"),
        ("a\r\nb", "a\nb"),
        ("\x1b[31mred", "\\u001b[31mred"),
        ("\x00\x0b\x0c\x1e\x7f\x85", "\\u0000\\u000b\\u000c\\u001e\\u007f\\u0085"),
        ("line\u2028paragraph\u2029", "line\\u2028paragraph\\u2029"),
        ("\u202a\u202b\u202c\u202d\u202e", "\\u202a\\u202b\\u202c\\u202d\\u202e"),
        ("\u2066\u2067\u2068\u2069", "\\u2066\\u2067\\u2068\\u2069"),
        ("hidden\U000e0041\U000e007f", "hidden\\udb40\\udc41\\udb40\\udc7f"),
        (f"{ENGLAND}!", f"{ENGLAND}!"),
        ("\U0001f3f4" + "\U000e0061" * 7 + "\U000e007f", "\U0001f3f4" + "\\udb40\\udc61" * 7 + "\\udb40\\udc7f"),
        ("tab\tand\nline", "tab\tand\nline"),
        ("\U0001f469\u200d\U0001f467 \u0646\u200c\u0627 \u2764\ufe0f", None),
        ("left\u200e right\u200f", None),
        ("half \ud83d", "half \ufffd"),
    ],
)
def test_a_character_is_escaped_or_kept(text: str, clean: str | None) -> None:
    """Controls, separators, bidi characters and tags are escaped; joiners, variation selectors and marks are kept."""
    assert clean_text(text) == (text if clean is None else clean)


@given(HOSTILE)
def test_escaping_twice_changes_nothing(text: str) -> None:
    """Escaped text stays the same when escaped again, and can be encoded."""
    for escape in (clean_text, one_line, terminal_text, terminal_line):
        escaped = escape(text)
        assert escape(escaped) == escaped
        escaped.encode()


@given(HOSTILE)
def test_every_reader_sees_the_same_lines(text: str) -> None:
    """Even `str.splitlines`, which splits on the most characters, agrees with the remaining line feeds."""
    clean = clean_text(text)
    assert clean.count("\n") == len(f"{clean}.".splitlines()) - 1
    assert len(f"{one_line(text)}.".splitlines()) == 1


@given(HOSTILE)
def test_a_terminal_gets_no_control_or_bidi_character(text: str) -> None:
    """Only line feeds and tabs remain."""
    shown = terminal_text(text)
    assert not [char for char in shown if unicodedata.category(char) in ("Cc", "Zl", "Zp") and char not in "\n\t"]
    assert not [char for char in shown if unicodedata.bidirectional(char) in BIDI_CONTROLS or char in "\u200e\u200f"]


BIDI_CONTROLS = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")


@given(st.dictionaries(HOSTILE.filter(lambda text: text.isprintable() or text.isascii()), HOSTILE, max_size=3))
def test_json_stays_json(value: dict[str, str]) -> None:
    """The escapes are those of JSON, so escaping a whole document does not change its values."""
    sound = json.loads(json.dumps(value).replace("\\ud", "\\u00"))
    assert json.loads(terminal_text(json.dumps(sound, ensure_ascii=False, indent=2))) == sound
