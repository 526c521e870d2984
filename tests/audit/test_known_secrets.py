"""A value that is known to be secret is hidden in every encoding in which a text may hold it."""

from __future__ import annotations

import base64
import html
import json
import string
import time
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given, strategies as st

from mcpcore.wire.redaction.known import KnownSecrets
from tests.tables import in_one_test

SECRETS = ["s3cr&t Tok/en+9=Zq", "k-987654", "sk_live_aB3dE6fG9hJ2", "s%3AaBc.dEf/1", "header.payload_-" * 60]
MARK = "[hidden]"


def by_character(form: str) -> Callable[[str], str]:
    """Return what writes each character of a text with a format."""
    return lambda text: "".join(form % ord(char) for char in text)


def lines(between: str, width: int = 5) -> Callable[[str], str]:
    """Return what breaks a text over lines."""
    return lambda text: between.join(text[at : at + width] for at in range(0, len(text), width))


def base64_after(before: str, *, urlsafe: bool = False) -> Callable[[str], str]:
    """Return what encodes a text within a longer one."""
    encode = base64.urlsafe_b64encode if urlsafe else base64.b64encode
    return lambda text: encode(f"{before}{text}:z".encode()).decode()


ENCODINGS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "quoted for a URL": lambda text: quote(text, safe=""),
    "quoted for a form": quote_plus,
    "percent": by_character("%%%02x"),
    "percent in capitals": by_character("%%%02X"),
    "percent twice": lambda text: quote(by_character("%%%02x")(text), safe=""),
    "percent three times": lambda text: quote(quote(by_character("%%%02X")(text), safe=""), safe=""),
    **{f"Base64 after {before!r}": base64_after(before) for before in ("", "a", "ab", "abc", "user:")},
    **{f"Base64 of URLs after {before!r}": base64_after(before, urlsafe=True) for before in ("", "?", "??")},
    "Base64 over lines": lambda text: base64.encodebytes(f"q{text}".encode()).decode(),
    "Base64 in a URL": lambda text: quote(base64_after("")(text), safe=""),
    "Base32": lambda text: base64.b32encode(f"abcd{text}z".encode()).decode(),
    "hexadecimal": lambda text: text.encode().hex(),
    "hexadecimal with blanks": lambda text: text.encode().hex(" ").upper(),
    "JSON": by_character("\\u%04x"),
    "JSON in capitals": by_character("\\u%04X"),
    "JSON in JSON": lambda text: json.dumps(json.dumps(by_character("\\u%04x")(text))),
    "bytes": by_character("\\x%02x"),
    "octal": by_character("\\%03o"),
    "JavaScript": by_character("\\u{%x}"),
    "HTML": html.escape,
    "HTML, decimal": by_character("&#%d;"),
    "HTML, hexadecimal": by_character("&#x%X;"),
    "HTML, padded": by_character("&#0000%d"),
    "HTML twice": lambda text: html.escape(by_character("&#%d;")(text)),
    "HTML in a URL": lambda text: quote(by_character("&#%d;")(text), safe=""),
    "lines": lines("\n"),
    "indented lines": lines("\r\n    "),
    "quoted lines": lines("\n> "),
    "continued lines": lines("\\\n"),
    "lines of a mail": lines("=\n"),
    "lines in JSON": lines("\\n"),
    "lines in HTML": lines("<br/>"),
    "literals": lambda text: f"{text[:5]!r}\n    {text[5:]!r}",
    "Base64 twice": lambda text: base64_after("")(base64_after("user:")(text)),
    "Base64 three times": lambda text: base64_after("")(base64_after("")(base64_after("user:")(text))),
    "Base64 of a URL": lambda text: base64_after("")(by_character("%%%02x")(text)),
    "Base64 of JSON, in a URL": lambda text: quote(
        base64_after("", urlsafe=True)(by_character("\\u%04x")(text)), safe=""
    ),
    "Base64 of UTF-16": lambda text: base64.b64encode(text.encode("utf-16-le")).decode(),
    "Base64 of hexadecimal": lambda text: base64_after("")(text.encode().hex()),
    "hexadecimal of Base64": lambda text: base64_after("")(text).encode().hex(),
    "hexadecimal with colons": lambda text: text.encode().hex(":"),
    "hexadecimal with dashes": lambda text: text.encode().hex("-").upper(),
    "hexadecimal of a program": lambda text: ", ".join(f"0x{byte:02x}" for byte in text.encode()),
    "colours": lines("\x1b[1;31m"),
    "colours in JSON": lines("\\u001b[0m"),
    "lines of a comment": lines("\n    // "),
    "lines of a listing": lines("\n 12 | "),
    "Base64 in a frame": lambda text: lines("\r\n| ", 12)(base64_after("")(text)),
    "zero width": lines("\u200b", 1),
    "capitals": str.upper,
    "swapped case": str.swapcase,
    "reversed": lambda text: text[::-1],
}


@in_one_test("secret", SECRETS)
@in_one_test("encode", ENCODINGS.values())
def test_a_value_is_hidden_in_any_encoding(secret: str, encode: Callable[[str], str]) -> None:
    text = f"It said: {encode(secret)} (at 5 p.m.)"

    hidden = KnownSecrets([secret], MARK).hide(text)

    assert MARK in hidden
    assert hidden.startswith("It said: ")
    assert hidden.endswith("(at 5 p.m.)")
    # Base64 and its like share a few characters with the text around the value; nothing else is left.
    assert len(hidden) < len("It said:  (at 5 p.m.)") + len(MARK) + 16


LETTERS = st.sampled_from(string.ascii_letters + string.digits + "-._~+/=%&;")


@given(
    st.text(LETTERS, min_size=10, max_size=40),
    st.lists(
        st.sampled_from([by_character("%%%02x"), by_character("&#%d;"), by_character("\\u%04x"), quote, html.escape]),
        max_size=3,
    ),
)
def test_encodings_within_each_other_are_undone(secret: str, encodings: list[Callable[[str], str]]) -> None:
    encoded = secret
    for encode in encodings:
        encoded = encode(encoded)

    # Quotes, blanks and equals signs around a value are not a part of what is searched for.
    assert KnownSecrets([secret], MARK).hide(f"<{encoded}>") == f"<{MARK}>" or "=" in secret[0] + secret[-1]


@pytest.mark.parametrize("text", ["\x1b[k-987654", "k-9\n87654- x", "k-98\n7654+ x"])
def test_what_divides_a_value_may_be_a_part_of_it(text: str) -> None:
    assert KnownSecrets(["k-987654", "k-987654-", "k-987654+"], MARK).hide(text).removesuffix(" x").endswith(MARK)


def test_a_run_that_holds_a_value_is_hidden_as_a_whole() -> None:
    run = base64.b64encode(b"token: " + base64.b64encode(b"k-987654, and more")).decode()

    assert (
        KnownSecrets(["k-987654"], MARK).hide(f"a {run} b {'ab' * 20} k-987654 c") == f"a {MARK} b {'ab' * 20} {MARK} c"
    )


@given(st.text(max_size=200))
def test_a_text_without_the_value_is_not_touched(text: str) -> None:
    assert text is KnownSecrets(["Zq9#Zq9#Zq9#"], MARK).hide(text)
    assert text is KnownSecrets([], MARK).hide(text)


def test_what_is_too_short_to_be_a_secret_is_not_hidden() -> None:
    assert KnownSecrets(["ab", "%41%42"], MARK).hide("abab AB") == "abab AB"


@pytest.mark.parametrize(
    "unit",
    [
        "word \\n %20 &amp; ",
        "a",
        "%25",
        "\\",
        "&amp;",
        "%",
        "\n",
        "k-98765",
        "ab ",
        "\x1b[",
        "a-" * 9 + " ",
    ],
)
def test_the_time_is_linear_in_the_text(unit: str) -> None:
    hide, text = KnownSecrets(["k-987654"], MARK).hide, unit * (1_000_000 // len(unit))
    start = time.process_time()

    assert hide(text) == text
    assert hide(text + "k-987654") == MARK if len(text) > 999_992 else hide(text + "k-987654").endswith(MARK)
    assert time.process_time() - start < 8
