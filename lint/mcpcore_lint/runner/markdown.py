"""Finds the Python blocks of a Markdown file. Each is checked as a file, with its line numbers in the document.

Source of the form: CommonMark 0.31.2, section 4.5, "Fenced code blocks".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from mcpcore_lint.diagnostics import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore_lint.diagnostics import Diagnostic

_FENCE: Final = re.compile(r"^([ \t]*(?:>[ \t]?)*[ \t]*)(`{3,}|~{3,})[ \t]*([^\n]*)$")
_LANGUAGES: Final = frozenset({"python", "py", "python3", "py3"})


class Block(NamedTuple):
    """One block of Python."""

    padded: str
    """The code, after as many empty lines as there are lines before it in the document."""
    indent: int
    """The width of its indentation in the document."""

    def moved(self, diagnostic: Diagnostic, path: str) -> Diagnostic:
        """A finding with its place in the document. It has no fix, since documents are not rewritten."""
        related = tuple(
            place._replace(span=self._moved(place.span)) if place.path == path else place
            for place in diagnostic.related
        )
        span = self._moved(diagnostic.span) if diagnostic.path == path else diagnostic.span
        return diagnostic._replace(span=span, related=related, fix=None)

    def _moved(self, span: Span) -> Span:
        return Span(span.line, span.column + self.indent, span.end_line, span.end_column + self.indent)


def blocks(text: str) -> Iterator[Block]:
    """The blocks that are marked as Python. Sessions of the interactive interpreter do not count."""
    lines = re.split(r"\r\n|\r|\n", text)
    number = 0
    while number < len(lines):
        opening = _FENCE.match(lines[number])
        number += 1
        if opening is None:
            continue
        lead, fence, info = opening.groups()
        if fence[0] == "`" and "`" in info:
            continue
        first = number
        while number < len(lines) and not _closes(lines[number], fence):
            number += 1
        body = lines[first:number]
        number += 1
        language = re.split(r"[\s,{]", info.strip().lstrip("{."), maxsplit=1)[0].rstrip("}").lower()
        if language not in _LANGUAGES or any(line.lstrip(" \t>").startswith(">>>") for line in body[:1]):
            continue
        code = [_without(line, lead) for line in body]
        yield Block("\n" * first + "\n".join(code) + "\n", len(lead))


def _closes(line: str, fence: str) -> bool:
    stripped = line.strip(" \t>")
    return len(stripped) >= len(fence) and not stripped.strip(fence[0])


def _without(line: str, lead: str) -> str:
    """A line without the indentation of the block."""
    length = 0
    while length < len(lead) and length < len(line) and line[length] in " \t>":
        length += 1
    return line[length:]
