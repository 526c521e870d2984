"""Texts that a server should have kept to itself: secrets, tracebacks, texts of crashes, paths of its machine."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from mcpcore.proxy.texts import is_crash
from mcpcore.wire.redaction import REDACTED, redact_shapes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_TRACEBACK: Final = re.compile(
    r"Traceback \(most recent call last\)"
    r"|^\s*File \"[^\"\n]{1,300}\", line \d+"
    r"|^\s*at .{1,300}:\d+:\d+\)?\s*$"
    r"|^\s*at [\w.$<>]{1,200}\([\w.$]{1,100}(?::\d{1,6})?\)"
    r"|^goroutine \d+ \["
    r"|thread '.{1,100}' (?:\(\d+\) )?panicked at"
    r"|^#\d{1,3} +/.{1,300}\(\d+\): ",
    re.MULTILINE,
)
"""Frames as Python, JavaScript, Java, Go, Rust and PHP write them."""

_PATH: Final = re.compile(
    r"(?<![\w:/.~*-])/(?:home|Users|root|usr|var|tmp|opt|etc|srv|mnt|private|app|code|work|workspace|nix|Library|proc)"
    r"/[\w.@+-][\w.@+/-]*"
    r"|(?<![\w/])[A-Za-z]:\\{1,2}(?:Users|Windows|Program Files|ProgramData|Temp)\\{1,2}[^\s\"'<>|]{1,200}"
    r"|\bfile:///[\w.@+/-]{3,200}"
    r"|(?:site-packages|dist-packages|node_modules)[/\\][\w.@+/\\-]{1,200}"
)


def traceback_in(text: str) -> str | None:
    """The first line of a traceback in `text`, or None."""
    found = _TRACEBACK.search(text)
    return None if found is None else found[0].strip()


_MASKED: Final = re.compile(r"^Error (?:executing|calling) tool '?[\w.-]{1,128}'?$", re.MULTILINE)
"""What the SDK and FastMCP send in place of the text of an exception."""


def crash_in(text: str) -> bool:
    """Whether `text` is that of an exception that a program did not expect."""
    return is_crash(_MASKED.sub("", text))


def secret_in(text: str) -> bool:
    """Whether `text` holds a secret that is known by its form."""
    return redact_shapes(text).count(REDACTED) > text.count(REDACTED)


def paths_in(text: str, known: Iterable[str]) -> Iterator[str]:
    """The paths of the server's machine in `text` that none of the `known` texts holds."""
    said = "\0".join(known)
    for found in _PATH.finditer(text):
        path = found[0].rstrip(".,;:'\")")
        if path not in said:
            yield path
