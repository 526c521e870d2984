"""Which newer syntax keeps this interpreter from reading a file, where that can be told for sure.

Looked at after a file failed to parse, and only up to the place of the failure: what stands before it in the way of a
newer Python is what failed. Sources: PEP 695, 696, 701, 750 and 758.
"""

from __future__ import annotations

import ast
import re
import sys
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

SYNTAX: Final = {
    "type parameter syntax": (3, 12),
    "a type statement": (3, 12),
    "quotes, comments or lines inside an f-string's braces": (3, 12),
    "defaults of type parameters": (3, 13),
    "a template string": (3, 14),
    "several exceptions without parentheses": (3, 14),
}
"""What is newer than the oldest Python that the linter runs on, and where it came."""

_PARAMETERS, _ALIAS, _FORMATTED, _DEFAULTS, _TEMPLATE, _EXCEPTIONS = SYNTAX

_TOKEN: Final = re.compile(r"#[^\r\n]*|(?<![\w])([A-Za-z]{0,2})(\"\"\"|'''|\"|')")
_GENERIC: Final = re.compile(r"^[ \t\f]*(?:async[ \t]+def|def|class)[ \t]+[^\W\d]\w*[ \t]*(\[)", re.MULTILINE)
_TYPE: Final = re.compile(r"(?:^|[;:])[ \t\f]*(type)[ \t]+[^\W\d]\w*[ \t]*[=\[](?!=)", re.MULTILINE)
_EXCEPT: Final = re.compile(r"^[ \t\f]*except\b[ \t]*\*?[ \t]*([^\s:(][^:()\r\n]*,[^:()\r\n]*):", re.MULTILINE)
_OPENING: Final = {"(": ")", "[": "]", "{": "}"}


class Newer(NamedTuple):
    """A piece of syntax that this interpreter does not know."""

    name: str
    start: int
    """The offsets of the text at which it starts and ends."""
    end: int

    @property
    def message(self) -> str:
        """What it is, and the version that can read it."""
        return f"it needs Python {SYNTAX[self.name][0]}.{SYNTAX[self.name][1]}: {self.name}"


def find(text: str, limit: int, *, version: tuple[int, int] = sys.version_info[:2]) -> Newer | None:
    """The first newer syntax of a text, where it begins before an offset."""
    known = [name for name, since in SYNTAX.items() if since <= version]
    found = [each for each in _all(text, limit, version) if each.name not in known and each.start < limit]
    return min(found, key=lambda each: (each.start, -SYNTAX[each.name][1]), default=None)


def _all(text: str, limit: int, version: tuple[int, int]) -> Iterator[Newer]:
    strings = list(_strings(text, limit))
    masked = list(text)
    for each in strings:
        masked[each.start : each.end] = [char if char in "\r\n" else " " for char in text[each.start : each.end]]
        if each.kind == "template":
            yield Newer(_TEMPLATE, each.start, each.end)
        elif each.kind == "formatted" and version < SYNTAX[_FORMATTED] and not _evaluates(text[each.start : each.end]):
            yield Newer(_FORMATTED, each.start, each.end)
    code = "".join(masked)
    for match in _GENERIC.finditer(code):
        end, default = _parameters(code, match.start(1))
        if default is not None:
            yield Newer(_DEFAULTS, match.start(1), end)
        if end > match.start(1) + 1:
            yield Newer(_PARAMETERS, match.start(1), end)
    for match in _TYPE.finditer(code):
        yield Newer(_ALIAS, match.start(1), match.end(1))
        if match[0].endswith("[") and _parameters(code, match.end() - 1)[1] is not None:
            yield Newer(_DEFAULTS, match.start(1), match.end(1))
    for match in _EXCEPT.finditer(code):
        names = [each.strip() for each in match[1].split(",")]
        # `except OSError, error:` is Python 2: a name in small letters is what it binds.
        plain = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*\Z")
        if all(plain.match(each) and each.rpartition(".")[2][0].isupper() for each in names):
            yield Newer(_EXCEPTIONS, match.start(1), match.end(1))


def _parameters(code: str, start: int) -> tuple[int, int | None]:
    """Where the bracket that opens at an offset ends, and where a default stands directly in it."""
    stack: list[str] = []
    default: int | None = None
    for index in range(start, len(code)):
        char = code[index]
        if char in _OPENING:
            stack.append(_OPENING[char])
        elif char in ")]}":
            if stack.pop() != char:
                return start, None
            if not stack:
                return index + 1, default
        elif char == "=" and len(stack) == 1 and default is None:
            default = index
    return start, None


class _String(NamedTuple):
    kind: str
    """`plain`, `formatted`, `template`, or `comment`."""
    start: int
    end: int


def _strings(text: str, limit: int) -> Iterator[_String]:
    """The strings and comments that begin before an offset, each as the newest Python reads it."""
    index = 0
    while (match := _TOKEN.search(text, index)) is not None and match.start() < limit:
        if match[2] is None:
            yield _String("comment", match.start(), match.end())
            index = match.end()
            continue
        end = _end_of_string(text, match)
        if end is None:
            return  # what follows cannot be told from a string
        yield _String(_kind(match[1]), match.start(), end)
        index = end


def _kind(prefix: str) -> str:
    small = prefix.lower()
    return "template" if small in {"t", "tr", "rt"} else "formatted" if small in {"f", "fr", "rf"} else "plain"


def _end_of_string(text: str, opening: re.Match[str], depth: int = 0) -> int | None:
    """Where a string ends; None where it does not, or where what stands in its braces is no expression."""
    quote = opening[2]
    replaced = _kind(opening[1]) != "plain"
    index = opening.end()
    while index < len(text):
        char = text[index]
        if text.startswith(quote, index):
            return index + len(quote)
        if char == "\\":
            named = text.startswith("\\N{", index) and "r" not in opening[1].lower()
            close = text.find("}", index) if named else -1
            index = close + 1 if close > 0 else index + (3 if text.startswith("\\\r\n", index) else 2)
        elif char in "\r\n" and len(quote) == 1:
            return None
        elif replaced and char == "{" and not text.startswith("{{", index):
            end = _end_of_field(text, index + 1, quote, depth)
            if end is None:
                return None
            index = end
        elif replaced and text.startswith(("{{", "}}"), index):
            index += 2
        else:
            index += 1
    return None


def _end_of_field(text: str, index: int, quote: str, depth: int) -> int | None:
    """Where the braces of a field end, with what stands in them an expression."""
    if depth > 20:
        return None
    stack: list[str] = []
    code: list[str] = []
    while index < len(text):
        char = text[index]
        token = _TOKEN.match(text, index)
        if token is not None and token[2] is None:
            index = token.end()
            continue
        if token is not None:
            end = _end_of_string(text, token, depth + 1)
            if end is None:
                return None
            code.append("''")
            index = end
            continue
        if not stack and (char in "}:" or (char == "!" and not text.startswith("!=", index))):
            break
        if char in _OPENING:
            stack.append(_OPENING[char])
        elif char in ")]}" and (not stack or stack.pop() != char):
            return None
        code.append(char)
        index += 1
    expression = re.sub(r"(?<![=!<>])=\s*\Z", "", "".join(code))
    if not _evaluates(f"(\n{expression}\n)"):
        return None
    if text.startswith("!", index):
        conversion = re.compile(r"!\s*\w+\s*").match(text, index)
        index = conversion.end() if conversion else len(text)
    if text.startswith(":", index):
        index += 1
        while index < len(text) and text[index] != "}":
            if text.startswith(quote, index) or (len(quote) == 1 and text[index] in "\r\n"):
                return None
            if text[index] == "{":
                end = _end_of_field(text, index + 1, quote, depth + 1)
                if end is None:
                    return None
                index = end
            else:
                index += 1
    return index + 1 if text.startswith("}", index) else None


def _evaluates(expression: str) -> bool:
    try:
        ast.parse(expression, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
