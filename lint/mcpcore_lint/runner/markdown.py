"""The Python blocks of a Markdown file, each checked as a file of its own, with the lines that it has in the document.

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
    """One block of Python.

    Attributes:
        padded: Its code, after as many empty lines as stand before it in the document.
        indent: How far its lines are indented in the document.
    """

    padded: str
    indent: int

    def told(self, each: Diagnostic, path: str) -> Diagnostic:
        """A finding where it stands in the document; without its fix, since documents are not rewritten."""
        related = tuple(one._replace(span=self._moved(one.span)) if one.path == path else one for one in each.related)
        span = self._moved(each.span) if each.path == path else each.span
        return each._replace(span=span, related=related, fix=None)

    def _moved(self, span: Span) -> Span:
        return Span(span.line, span.column + self.indent, span.end_line, span.end_column + self.indent)


def blocks(text: str) -> Iterator[Block]:
    """The blocks that say that they are Python, in order. A session of the interactive interpreter is none."""
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
    """A line of the block without what the block itself is indented by."""
    length = 0
    while length < len(lead) and length < len(line) and line[length] in " \t>":
        length += 1
    return line[length:]
