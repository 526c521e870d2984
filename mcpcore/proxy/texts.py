"""The texts of failures: what SDKs put before them, and which of them nobody wrote for a client."""

from __future__ import annotations

import re
from typing import Final

_PREFIX: Final = re.compile(
    r"^(?:Error (?:executing|calling) tool '?[A-Za-z0-9._-]{1,128}'?|MCP error -?\d{1,6}|Error|ERROR): "
)

_CRASH: Final = re.compile(
    r"^Traceback \(most recent call last\)|^Error (?:executing|calling) tool '?[A-Za-z0-9._-]{1,128}'?$"
    r"|^\s+at .{1,300}:\d+:\d+\)?$"
    r"|^\s*File \"[^\"\n]{1,300}\", line \d+"
    r"|^goroutine \d+ \[|^panic: |nil pointer dereference|Segmentation fault|core dumped"
    r"|^(?:\w{1,60}\.){0,6}(?:AttributeError|NameError|UnboundLocalError|KeyError|IndexError|ZeroDivisionError|"
    r"RecursionError|AssertionError|ReferenceError|NullPointerException|NullReferenceException)\b"
    r"|'\w{1,60}' object has no attribute '|object is not (?:subscriptable|callable|iterable)"
    r"|(?:unexpected keyword argument|required positional arguments?:) '"
    r"|Cannot (?:read|set) propert(?:y|ies) of (?:undefined|null)|\bis not a function$"
    r"|^(?:list|tuple|string) index out of range$|local variable '\w{1,60}' referenced before",
    re.MULTILINE,
)
"""Texts that nobody wrote for a client: of exceptions that a program did not expect."""

MAX_SEARCHED: Final = 20_000
"""Characters of a text that are searched."""


def cleaned(text: str) -> str:
    """A message without the words that SDKs put before it; one SDK may have wrapped the text of another."""
    for _ in range(3):
        text = _PREFIX.sub("", text, count=1) or text
    return text


def is_crash(text: str) -> bool:
    """Whether a text is that of an exception that the server did not expect."""
    return _CRASH.search(cleaned(text[:MAX_SEARCHED])) is not None or _CRASH.search(text[:MAX_SEARCHED]) is not None
