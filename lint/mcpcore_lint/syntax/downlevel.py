"""The same program in the syntax of an older Python, with every node at the place where it was.

A file may be written for a newer Python than the one that runs the linter. What is new in its spelling says little to
the rules: a type parameter, a quote within an f-string. It is put in the way of the older Python, byte for byte as
long, so that lines and columns of the tree fit the file as it is. What has no such spelling stays unreadable.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from mcpcore_lint.syntax import syntax_versions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from mcpcore_lint.syntax.syntax_versions import Newer, Part

_OTHER: Final = {"'": '"', '"': "'"}
_FILLING: Final = "_"
"""What stands for a character of a text that the older Python takes none of there."""


class Edit(NamedTuple):
    """What takes the place of a part of the text."""

    start: int
    end: int
    text: str


class _HopelessError(Exception):
    """There is no older spelling at the same places."""


def spelled(text: str, version: tuple[int, int]) -> str | None:
    """A program without the syntax that is newer than a version; None where it has none, or no older spelling."""
    edits: list[Edit] = []
    try:
        for each in syntax_versions.find_all(text, len(text), version=version):
            if not edits or each.start >= edits[-1].end:
                edits += _SPELLINGS[each.name](text, each)
    except _HopelessError:
        return None
    if not edits:
        return None
    pieces: list[str] = []
    end = 0
    for edit in sorted(edits):
        if edit.start >= end:
            pieces += (text[end : edit.start], edit.text)
            end = edit.end
    return "".join((*pieces, text[end:]))


def _blank(text: str) -> str:
    """As many bytes of nothing; the lines go on."""
    lines = [" " * len(line.encode("utf-8", "surrogatepass")) for line in re.split(r"\r\n|\r|\n", text)]
    if len(lines) == 1:
        return lines[0]
    if not all(lines[:-1]):
        raise _HopelessError  # no room on an empty line to say that the next one belongs to it
    ends = re.findall(r"\r\n|\r|\n", text)
    return "".join(line[:-1] + "\\" + end for line, end in zip(lines, ends, strict=False)) + lines[-1]


def _parameters(text: str, found: Newer) -> list[Edit]:
    """Type parameters say nothing that a rule asks."""
    if text[found.start] != "[":
        return _alias(text, found)
    return [Edit(found.start, found.end, _blank(text[found.start : found.end]))]


_STATEMENT: Final = re.compile(r"type([ \t]+)([^\W\d]\w*)([ \t]*)(\[?)")


def _alias(text: str, found: Newer) -> list[Edit]:
    """`type A = int` is read as `(    A)= int`: a name in parentheses stays where it was."""
    statement = _STATEMENT.match(text, found.start)
    assert statement is not None  # so it was found
    end = syntax_versions.end_of_parameters(text, statement.start(4)) if statement[4] else statement.end(3)
    after = _blank(text[statement.end(2) : end])
    if not after:
        # No room behind the name: then it stands before its place.
        return [Edit(found.start, end, f"{statement[2]}{' ' * (4 + len(statement[1]))}")]
    opening = f"(   {statement[1]}"
    return [Edit(found.start, statement.start(2), opening), Edit(statement.end(2), end, after[:-1] + ")")]


def _template(text: str, found: Newer) -> list[Edit]:
    """A template holds what an f-string does."""
    prefix = re.compile(r"[A-Za-z]*").match(text, found.start)
    assert prefix is not None
    name = prefix[0].replace("t", "f").replace("T", "F")
    return [Edit(found.start, prefix.end(), name), *_formatted(text, found)]


def _formatted(text: str, found: Newer) -> list[Edit]:
    """Texts within the braces get quotes that the texts round them do not have; comments there go."""
    parts = syntax_versions.parts_of_string(text, found.start)
    if parts is None:
        raise _HopelessError
    outermost = parts[0]
    return _without(text, outermost.inner, [outermost.quote])


def _without(text: str, parts: Iterable[Part], around: Sequence[str]) -> list[Edit]:
    edits: list[Edit] = []
    for part in parts:
        if not part.quote:
            edits.append(Edit(part.start, part.end, _blank(text[part.start : part.end])))
            continue
        quote = part.quote
        if any(each in quote for each in around):
            quote = _OTHER[quote[0]] * len(quote)
            if any(each in quote for each in around):
                raise _HopelessError
        opening = part.start + len(part.prefix)
        inside = opening + len(quote)
        closing = part.end - len(quote)
        edits.append(Edit(opening, inside, quote))
        taken = [*around, quote]
        start = inside
        for each in part.inner:
            edits += _filled(text, start, each.start, taken)
            start = each.end
        edits += _filled(text, start, closing, taken)
        edits += _without(text, part.inner, taken)
        edits.append(Edit(closing, part.end, quote))
    return edits


def _filled(text: str, start: int, end: int, quotes: Sequence[str]) -> list[Edit]:
    """Within a text in braces the older Python takes no backslash, nor a quote of the texts round it."""
    found = []
    for match in re.compile(r"\\(?:\r\n|.)|['\"]+", re.DOTALL).finditer(text, start, end):
        if match[0][0] == "\\" or any(quote in match[0] for quote in quotes):
            if "\n" in match[0] or "\r" in match[0]:
                raise _HopelessError
            found.append(Edit(*match.span(), _FILLING * len(match[0].encode("utf-8", "surrogatepass"))))
    return found


_BLANK_BEFORE: Final = re.compile(r"[ \t]?(\*?)\Z")


def _exceptions(text: str, found: Newer) -> list[Edit]:
    """`except A, B:` gets its parentheses, the first one in the place of a blank where there is one."""
    before = _BLANK_BEFORE.search(text, 0, found.start)
    assert before is not None  # it matches nothing as well
    return [Edit(before.start(), found.start, f"{before[1]}("), Edit(found.end, found.end, ")")]


def _lazy(_: str, found: Newer) -> list[Edit]:
    """When a module is loaded says nothing: the word becomes a statement that does nothing."""
    return [Edit(found.start, found.end, "None;".ljust(found.end - found.start))]


def _unpacked(_: str, found: Newer) -> list[Edit]:
    """What comes of it are not the elements that are named, so it becomes an operation of which nothing is known."""
    return [Edit(found.start, found.end, "~" * (found.end - found.start))]


_SPELLINGS: Final[dict[str, Callable[[str, Newer], list[Edit]]]] = dict(
    zip(
        syntax_versions.SYNTAX,
        (_parameters, _alias, _formatted, _parameters, _template, _exceptions, _lazy, _unpacked),
        strict=True,
    )
)
