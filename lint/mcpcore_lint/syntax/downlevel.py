"""Rewrites syntax of Python 3.12 so that Python 3.11 can parse it, with every node kept at its place.

A server may be written for a newer Python than the one that runs the linter. Type parameters, `type` statements (PEP
695) and quotes inside the braces of an f-string (PEP 701) say little to the rules, so they are replaced by older syntax
of the same length in bytes. Lines and columns of the tree then fit the file as it is.
"""

from __future__ import annotations

import ast
import re
from typing import Final, NamedTuple

_TOKEN: Final = re.compile(r"#[^\r\n]*|(?<!\w)([A-Za-z]{0,2})(\"\"\"|'''|\"|')")
_ESCAPE: Final = re.compile(r"\\(?:N\{[^{}\r\n]*\}|\r\n|.)", re.DOTALL)
_GENERIC: Final = re.compile(r"^[ \t\f]*(?:async[ \t]+def|def|class)[ \t]+[^\W\d]\w*[ \t]*(\[)", re.MULTILINE)
_ALIAS: Final = re.compile(
    r"(?:^|[;:])[ \t\f]*(?P<word>type)(?P<gap>[ \t]+)(?P<name>[^\W\d]\w*)[ \t]*(?P<next>[=\[])(?!=)", re.MULTILINE
)
_BRACKET: Final = re.compile(r"[()\[\]{}]")
_LINE_END: Final = re.compile(r"\r\n|\r|\n")


class Edit(NamedTuple):
    """Replaces the text between two offsets."""

    start: int
    end: int
    text: str


class _NotPossibleError(Exception):
    """The file cannot be rewritten in place."""


def downleveled(text: str) -> str | None:
    """The program without the newer syntax; None if it has none, or if it cannot be rewritten in place."""
    try:
        edits = sorted(_edits(text))
    except (_NotPossibleError, RecursionError):
        return None
    if not edits:
        return None
    pieces: list[str] = []
    end = 0
    for edit in edits:
        if edit.start >= end:
            pieces += (text[end : edit.start], edit.text)
            end = edit.end
    return "".join((*pieces, text[end:]))


def _edits(text: str) -> list[Edit]:
    edits: list[Edit] = []
    code: list[str] = []
    index = 0
    while (token := _TOKEN.search(text, index)) is not None:
        nested: list[Edit] = []
        end = token.end() if token[2] is None else _string_end(text, token, nested)
        if nested and not _is_expression(text[token.start() : end]):
            edits += nested
        code += (text[index : token.start()], re.sub(r"[^\r\n]", " ", text[token.start() : end]))
        index = end
    masked = "".join((*code, text[index:]))
    for match in _GENERIC.finditer(masked):
        end = _bracket_end(masked, match.start(1))
        edits.append(Edit(match.start(1), end, _blank(text[match.start(1) : end])))
    for match in _ALIAS.finditer(masked):
        edits += _alias(text, masked, match)
    return edits


def _alias(text: str, masked: str, match: re.Match[str]) -> list[Edit]:
    """Read `type A = int` as `(    A)= int`: a name in parentheses keeps its place."""
    end = _bracket_end(masked, match.start("next")) if match["next"] == "[" else match.start("next")
    after = _blank(text[match.end("name") : end])
    if not after:
        # There is no room behind the name for a parenthesis: the name moves to the start of the statement.
        return [Edit(match.start("word"), end, f"{match['name']}{' ' * (4 + len(match['gap']))}")]
    opening = Edit(match.start("word"), match.start("name"), f"(   {match['gap']}")
    return [opening, Edit(match.end("name"), end, after[:-1] + ")")]


def _blank(text: str) -> str:
    """Spaces of the same length in bytes; lines are joined by a backslash."""
    *lines, last = [" " * len(line.encode("utf-8", "surrogatepass")) for line in _LINE_END.split(text)]
    if not all(lines):
        raise _NotPossibleError  # an empty line has no room for the backslash
    ends = _LINE_END.findall(text)
    return "".join(f"{line[:-1]}\\{end}" for line, end in zip(lines, ends, strict=True)) + last


def _bracket_end(masked: str, start: int) -> int:
    depth = 0
    for bracket in _BRACKET.finditer(masked, start):
        depth += 1 if bracket[0] in "([{" else -1
        if not depth:
            return bracket.end()
    raise _NotPossibleError


# -- f-strings ---------------------------------------------------------------------------------------------------------


def _string_end(text: str, opening: re.Match[str], nested: list[Edit]) -> int:
    """Where a string ends; the strings and comments in its braces go to `nested`, each with its replacement."""
    quote = opening[2]
    formatted = "f" in opening[1].lower()
    index = opening.end()
    while index < len(text):
        if text.startswith(quote, index):
            return index + len(quote)
        if text[index] == "\\":
            escape = _ESCAPE.match(text, index)
            index = escape.end() if escape is not None and "r" not in opening[1].lower() else index + 2
        elif text[index] in "\r\n" and len(quote) == 1:
            break
        elif formatted and text[index] == "{" and not text.startswith("{{", index):
            index = _field_end(text, index + 1, nested)
        else:
            index += 2 if formatted and text.startswith(("{{", "}}"), index) else 1
    raise _NotPossibleError


def _field_end(text: str, index: int, nested: list[Edit]) -> int:
    """Where the braces of a field end."""
    depth = 0
    in_format = False
    while index < len(text):
        token = None if in_format else _TOKEN.match(text, index)
        char = text[index]
        if token is not None:
            end = token.end() if token[2] is None else _string_end(text, token, [])
            nested.append(Edit(index, end, _placeholder(text[index:end])))
            index = end
            continue
        index += 1
        if char == "}" and not depth:
            return index
        if in_format:
            index = _field_end(text, index, nested) if char == "{" else index
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        else:
            in_format = char == ":" and not depth
    raise _NotPossibleError


def _placeholder(text: str) -> str:
    """A name in place of a string, spaces in place of a comment."""
    if _LINE_END.search(text):
        raise _NotPossibleError
    return (" " if text[0] == "#" else "_") * len(text.encode("utf-8", "surrogatepass"))


def _is_expression(text: str) -> bool:
    try:
        ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


__all__ = ["downleveled"]
