"""How docstrings describe parameters."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_FIELD: Final = r"[:@](?:param(?:eter)?|arg(?:ument)?|key(?:word)?)"
_PLAIN_ENTRY: Final = r"(?m)^[ \t]*(\w+)[ \t]*(?:\([^)\n]*\)[ \t]*)?:"


def explains(text: str, name: str) -> bool:
    """Whether a text describes a parameter: in a separate entry, or by its name written as code."""
    if name.lower() not in text.lower():
        return False
    escaped = re.escape(name)
    # `Actions:` heads the list of values of `action`.
    as_code = rf"[`'\"]{escaped}[`'\"]|(?<!\w){escaped}\s*=|(?im:^[ \t]*(?:\w+[ \t]+)?{escaped}s[ \t]*:[ \t]*$)"
    return documents(text, name) or bool(re.search(as_code, text))


def mentions(text: str, name: str) -> bool:
    """Whether a text contains the name of a parameter as a word, in upper or lower case."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None


def documents(text: str, name: str) -> bool:
    """Whether a text has an entry for a parameter in Google, NumPy, reST, Epytext, Javadoc or Markdown style."""
    if name not in text:
        return False
    if name in _plain_entries(text):
        return True
    # Several parameters may share an entry: `x, y : float`.
    names = rf"(?:[*_`]*\w+[*_`]*[ \t]*,[ \t]*)*[*_`]*{re.escape(name)}[*_`]*(?:[ \t]*,[ \t]*[*_`]*\w+[*_`]*)*"
    return bool(
        (re.search(_FIELD, text) and re.search(rf"{_FIELD}(?:\s[^:\n]*)?\s\*{{0,2}}{names}(?:\s*:|\s)", text))
        or re.search(
            rf"(?m)^[ \t]*(?:[-*+\u2022]|\d+[.)])?[ \t]*{names}"
            r"[ \t]*(?:\([^)\n]*\)|\[[^\]\n]*\]|<[^>\n]*>)?[ \t]*[*_`]*(?::|=|[ \t]-|[ \t]?--|[ \t]\u2013|\u2014)",
            text,
        )
        or ("|" in text and re.search(rf"(?m)^[ \t]*\|[ \t]*{names}[ \t]*\|", text))
        # NumPy style without a type: the name alone, and its description indented on the next line.
        or re.search(rf"(?m)^([ \t]*){names}[ \t]*\n\1[ \t]+\S", text)
    )


@lru_cache(maxsize=16)
def _plain_entries(text: str) -> frozenset[str]:
    """The names with an entry in the usual form, `name (type): ...`.

    One search finds all of them, because compiling an expression for each name takes longer than searching for it.
    """
    return frozenset(re.findall(_PLAIN_ENTRY, text))
