"""Rewrites syntax of Python 3.12 and 3.14 so that Python 3.11 can parse it, with the nodes kept at their places.

A server may be written for a newer Python than the one that runs the linter. Type parameters, `type` statements (PEP
695), and quotes and lines inside the braces of an f-string (PEP 701) say little to the rules, so they are replaced by
older syntax of the same length in bytes, as `except A, B:` (PEP 758) is by `except(A,B):`. Lines and columns of the
tree then fit the file as it is; only the name that a `type` statement defines moves to its start, and `B` by a column.
"""

import re
from typing import Final

from mcpcore_lint.diagnostics import Edit
from mcpcore_lint.patterns import regex

_TOKEN: Final = regex(r"#[^\r\n]*|(?<!\w)([A-Za-z]{0,2})(\"\"\"|'''|\"|')")
_GENERIC: Final = regex(r"^[ \t\f]*(?:async[ \t]+def|def|class)[ \t]+[^\W\d]\w*[ \t]*(\[)", re.MULTILINE)
_ALIAS: Final = regex(
    r"(?:^|[;:])[ \t\f]*(?P<word>type)[ \t]+(?P<name>[^\W\d]\w*)[ \t]*(?P<next>[=\[])(?!=)", re.MULTILINE
)
_CLAUSE: Final = regex(
    r"^[ \t\f]*except(?P<types>\*?[ \t]+[\w.]+(?:,[ \t]+(?:\w+\.[\w.]+|_*[A-Z]\w*))+)[ \t]*:", re.MULTILINE
)
"""`except A, B:`, but not `except A, e:`, which is Python 2 for `except A as e:`."""
_STRING_PART: Final = regex(r"\\(?:\r\n|.)|\{\{|[{\r\n\"']", re.DOTALL)
_BRACKET: Final = regex(r"[()\[\]{}]")
LINE_END: Final = regex(r"\r\n|\r|\n")


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
        end = token.end() if token[2] is None else _string_end(text, token, edits)
        code += (text[index : token.start()], re.sub(r"[^\r\n]", " ", text[token.start() : end]))
        index = end
    masked = "".join((*code, text[index:]))
    for match in _GENERIC.finditer(masked):
        end = _bracket_end(masked, match.start(1))
        edits.append(Edit(match.start(1), end, _blank(text[match.start(1) : end])))
    for match in _ALIAS.finditer(masked):
        # Read `type A[T] = int` as `A         = int`.
        end = _bracket_end(masked, match.start("next")) if match["next"] == "[" else match.start("next")
        moved = match["name"] + " " * (match.start("name") - match.start("word"))
        edits.append(Edit(match.start("word"), end, moved + _blank(text[match.end("name") : end])))
    for match in _CLAUSE.finditer(masked):
        star, *names = re.findall(r"^\*?|[\w.]+", match["types"])
        types = f"{star}({','.join(names)})".ljust(len(match["types"]))
        edits.append(Edit(match.start("types"), match.end("types"), types))
    return edits


def _blank(text: str) -> str:
    """Spaces of the same length in bytes; lines are joined by a backslash."""
    # `ast` counts columns in bytes, and nothing behind may move.
    *lines, last = [" " * len(line.encode("utf-8", "surrogatepass")) for line in LINE_END.split(text)]
    if not all(lines):
        raise _NotPossibleError  # an empty line has no room for the backslash
    ends = LINE_END.findall(text)
    return "".join(f"{line[:-1]}\\{end}" for line, end in zip(lines, ends, strict=True)) + last


def _bracket_end(masked: str, start: int) -> int:
    depth = 0
    for bracket in _BRACKET.finditer(masked, start):
        depth += 1 if bracket[0] in "([{" else -1
        if not depth:
            return bracket.end()
    raise _NotPossibleError


def _string_end(text: str, opening: re.Match[str], nested: list[Edit]) -> int:
    """Where a string ends; the strings and comments in its braces go to `nested`, each with its replacement."""
    quote, formatted = opening[2], "f" in opening[1].lower()
    index = opening.end()
    while (part := _STRING_PART.search(text, index)) is not None:
        index = part.end()
        if text.startswith(quote, part.start()):
            return part.start() + len(quote)
        if part[0] == "{" and formatted:
            index = _field_end(text, index, nested)
            if len(quote) == 1 and LINE_END.search(text, part.start(), index):
                # Older Python has no lines in such a field, and no backslash; the text around it may have both.
                nested.append(Edit(part.start(), index, _blank(text[part.start() : index])))
        elif part[0] in "\r\n" and len(quote) == 1:
            break
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
    if LINE_END.search(text):
        raise _NotPossibleError
    return (" " if text[0] == "#" else "_") * len(text.encode("utf-8", "surrogatepass"))
