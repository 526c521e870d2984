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

_NO_RETRY: Final = re.compile(
    r"\b(?:do not|don't|never|must not|should not|shouldn't|cannot|can't|not safe to|unsafe to|not to|avoid) "
    r"(?:(?:be|attempt to|try to|(?!immediate|quick|rapid|frequent|repeated|constant|continuous)\w{1,20}ly) ){0,2}"
    r"(?:re-?(?:try|tried|trying|submit|submitted|send|sent|run)\b|repeat(?:ed|ing)?\b"
    r"|(?:repeat|call|submit|send|try)\b[^.\n]{0,40}?\b(?:again|twice)\b)"
    r"(?![^.\n;]{0,40}?\b(?:(?:for|before|within|in|until) (?:at least |about |another |the next )?\d"
    r"|more than|immediately|right away|yet\b|too (?:often|soon|quickly|fast)))"
    r"|\b(?:not|non)[-_ ]?re-?(?:try-?able|triable|peatable)|\bretry(?:able)?[\"']?\s?[:=]\s?(?:false|no|never)\b"
    r"|\bretry(?:ing)? (?:will not|won't|does not|doesn't|cannot|can't) "
    r"|\bretr(?:y|ying|ies) (?:is |are )?(?:not|never|pointless|useless|unsafe)\b"
    r"|\bno retr(?:y|ies)(?: (?:is |are )?(?:allowed|possible|permitted)|[.!]?$)",
    re.IGNORECASE | re.MULTILINE,
)
"""Words with which a server forbids another call, and not only one too soon."""

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


def forbids_retry(text: str) -> bool:
    """Whether a text says that the call must not be made again; one that says for how long does not."""
    return _NO_RETRY.search(text[:MAX_SEARCHED].replace("\u2019", "'")) is not None
