"""The texts of failures: what SDKs put before them, and which of them nobody wrote for a client."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_PREFIX: Final = re.compile(
    r"^(?:Error (?:executing|calling) tool '?[A-Za-z0-9._-]{1,128}'?|MCP error -?\d{1,6}|Error|ERROR): "
)

_CRASH: Final = re.compile(
    r"^Error (?:executing|calling) tool '?[A-Za-z0-9._-]{1,128}'?$"
    r"|^panic: |nil pointer dereference|Segmentation fault|core dumped"
    r"|^(?:\w{1,60}\.){0,6}(?:AttributeError|NameError|UnboundLocalError|KeyError|IndexError|ZeroDivisionError|"
    r"RecursionError|AssertionError|ReferenceError|NullPointerException|NullReferenceException)\b"
    r"|'\w{1,60}' object has no attribute '|object is not (?:subscriptable|callable|iterable)"
    r"|(?:unexpected keyword argument|required positional arguments?:) '"
    r"|Cannot (?:read|set) propert(?:y|ies) of (?:undefined|null)|\bis not a function$"
    r"|^(?:list|tuple|string) index out of range$|local variable '\w{1,60}' referenced before",
    re.MULTILINE,
)
"""Texts that nobody wrote for a client: of exceptions that a program did not expect."""

_TRACE: Final = re.compile(
    r"""Traceback \(most recent call last\)"""
    r"""|(?:^|")[ \t]++at .{1,300}:\d+:\d+\)?(?:$|")"""
    r"""|(?:^|")[ \t]*+File "[^"\n]{1,300}", line \d"""
    r"""|(?:^|")goroutine \d+ \[""",
    re.MULTILINE,
)
"""Tracebacks of Python, JavaScript and Go, also in JSON whose escapes were undone."""

_ESCAPED: Final = re.compile(r"(?<!\\)\\++([nrt\"])")
_PLAIN: Final = {"n": "\n", "r": "\n", "t": "\t", '"': '"'}

MAX_SEARCHED: Final = 20_000
"""Characters of a text that are searched for words; tracebacks are found anywhere."""


def cleaned(text: str) -> str:
    """A message without the words that SDKs put before it; one SDK may have wrapped the text of another."""
    for _ in range(3):
        text = _PREFIX.sub("", text, count=1) or text
    return text


def is_crash(text: str) -> bool:
    """Whether a text is that of an exception that the server did not expect."""
    head = text[:MAX_SEARCHED]
    return _CRASH.search(cleaned(head)) is not None or _CRASH.search(head) is not None or _is_trace(head)


def traces_in(value: object) -> Iterator[str]:
    """The strings in `value`, which is JSON, that hold a traceback; keys of objects count, and JSON in strings.

    A list of strings counts as one of lines.
    """
    waiting = [value]
    while waiting:
        current = waiting.pop()
        if isinstance(current, str):
            if _is_trace(current):
                yield current
        elif isinstance(current, dict):
            waiting += (*current.keys(), *current.values())
        elif isinstance(current, list):
            is_text = all(isinstance(part, str) for part in current)
            waiting += ["\n".join(current)] if is_text else current


def _is_trace(text: str) -> bool:
    lines = text.replace("\r", "\n")
    if _TRACE.search(lines):
        return True
    return "\\" in lines and _TRACE.search(_ESCAPED.sub(lambda found: _PLAIN[found[1]], lines)) is not None
