"""Which newer syntax keeps this interpreter from reading a file, where that can be told for sure.

Looked at after a file failed to parse: what stands before the place of the failure in the way of a newer Python is what
failed. `mcpcore_lint.syntax.downlevel` spells it in the way of this one. Sources: PEP 695,
696, 701, 750, 758, 798 and 810.
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
    "a lazy import": (3, 15),
    "unpacking in a comprehension": (3, 15),
}
"""What is newer than the oldest Python that the linter runs on, and where it came."""

_PARAMETERS, _ALIAS, _FORMATTED, _DEFAULTS, _TEMPLATE, _EXCEPTIONS, _LAZY, _UNPACKED = SYNTAX

_TOKEN: Final = re.compile(r"#[^\r\n]*|(?<![\w])([A-Za-z]{0,2})(\"\"\"|'''|\"|')")
_GENERIC: Final = re.compile(r"^[ \t\f]*(?:async[ \t]+def|def|class)[ \t]+[^\W\d]\w*[ \t]*(\[)", re.MULTILINE)
_TYPE: Final = re.compile(r"(?:^|[;:])[ \t\f]*(type)[ \t]+[^\W\d]\w*[ \t]*[=\[](?!=)", re.MULTILINE)
_EXCEPT: Final = re.compile(r"^[ \t\f]*except\b[ \t]*\*?[ \t]*([^\s:(][^:()\r\n]*,[^:()\r\n]*):", re.MULTILINE)
_IMPORT: Final = re.compile(r"(?:^|;)[ \t\f]*(lazy[ \t]+)(?:import|from)\b", re.MULTILINE)
_STARRED: Final = re.compile(r"[(\[{]\s*(\*\*?)")
_STEP: Final = re.compile(r"[()\[\]{},:]|\bfor\b")
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
    return min(find_all(text, limit, version=version), key=_in_order, default=None)


def find_all(text: str, limit: int, *, version: tuple[int, int] = sys.version_info[:2]) -> list[Newer]:
    """All newer syntax of a text that begins before an offset; of a piece that is two things, the newer one first."""
    known = [name for name, since in SYNTAX.items() if since <= version]
    found = [each for each in _all(text, limit, version) if each.name not in known and each.start < limit]
    return sorted(found, key=_in_order)


def _in_order(each: Newer) -> tuple[int, int]:
    return each.start, -SYNTAX[each.name][1]


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
    for match in _IMPORT.finditer(code):
        yield Newer(_LAZY, match.start(1), match.end(1))
    for match in _STARRED.finditer(code):
        if _is_comprehension(code, match.end(1)):
            yield Newer(_UNPACKED, match.start(1), match.end(1))


def _is_comprehension(code: str, start: int) -> bool:
    """Whether what begins at an offset, within brackets, is gone through by a `for`."""
    depth = 0
    for step in _STEP.finditer(code, start):
        if step[0] in _OPENING:
            depth += 1
        elif step[0] in ")]}":
            depth -= 1
        if depth < 0 or (depth == 0 and step[0] in ",:"):
            return False
        if depth == 0 and step[0] == "for":
            return True
    return False


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


def end_of_parameters(text: str, start: int) -> int:
    """Where the type parameters whose bracket opens at an offset end; that offset where they do not."""
    code = list(text)
    for each in _strings(text, len(text)):
        code[each.start : each.end] = " " * (each.end - each.start)
    return _parameters("".join(code), start)[0]


class Part(NamedTuple):
    """A text or a comment, as it stands within the braces of a formatted string, or such a string itself."""

    start: int
    end: int
    prefix: str
    quote: str
    """Empty of a comment."""
    inner: tuple[Part, ...] = ()
    """What stands within its own braces."""


def parts_of_string(text: str, start: int) -> list[Part] | None:
    """The string that begins at an offset, with what stands in its braces; None where there is none."""
    opening = _TOKEN.match(text, start)
    found: list[Part] = []
    return found if opening is not None and _end_of_string(text, opening, 0, found) is not None else None


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


def _end_of_string(text: str, opening: re.Match[str], depth: int = 0, found: list[Part] | None = None) -> int | None:
    """Where a string ends; None where it does not, or where what stands in its braces is no expression.

    The string goes to `found`, with the parts within its braces.
    """
    quote = opening[2]
    replaced = _kind(opening[1]) != "plain"
    inner: list[Part] = []
    index = opening.end()
    while index < len(text):
        char = text[index]
        if text.startswith(quote, index):
            end = index + len(quote)
            if found is not None:
                found.append(Part(opening.start(), end, opening[1], quote, tuple(inner)))
            return end
        if char == "\\":
            named = text.startswith("\\N{", index) and "r" not in opening[1].lower()
            name_end = text.find("}", index) if named else -1
            index = name_end + 1 if name_end > 0 else index + (3 if text.startswith("\\\r\n", index) else 2)
        elif char in "\r\n" and len(quote) == 1:
            return None
        elif replaced and char == "{" and not text.startswith("{{", index):
            close = _end_of_field(text, index + 1, quote, depth, inner)
            if close is None:
                return None
            index = close
        elif replaced and text.startswith(("{{", "}}"), index):
            index += 2
        else:
            index += 1
    return None


def _end_of_field(text: str, index: int, quote: str, depth: int, found: list[Part]) -> int | None:
    """Where the braces of a field end, with what stands in them an expression."""
    if depth > 20:
        return None
    stack: list[str] = []
    code: list[str] = []
    while index < len(text):
        char = text[index]
        token = _TOKEN.match(text, index)
        if token is not None and token[2] is None:
            found.append(Part(token.start(), token.end(), "", ""))
            index = token.end()
            continue
        if token is not None:
            end = _end_of_string(text, token, depth + 1, found)
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
                end = _end_of_field(text, index + 1, quote, depth + 1, found)
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
