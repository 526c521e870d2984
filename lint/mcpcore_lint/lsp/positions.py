"""The text of an open document, and the way between its offsets and the positions of the protocol."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import Final

from lsprotocol import types

from mcpcore_lint.diagnostics import Edit, Span
from mcpcore_lint.engine.syntax.source import Source

_BOM: Final = "\ufeff"
_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
"""A line as the protocol and Python count lines: a form feed does not end one."""


class Document:
    """A text with the positions of a client, which counts columns in UTF-16 units unless it negotiated otherwise.

    `source` is the text without a byte-order mark. All offsets are offsets into its text.
    """

    def __init__(self, path: str, text: str, *, encoding: str = "utf-16", version: int | None = None) -> None:
        self.path = path
        self.encoding = encoding
        self.version = version
        self.source = Source(path, text.removeprefix(_BOM), bom=text.startswith(_BOM))
        self._lead = self._units(_BOM) if self.source.bom else 0

    def changed(self, changes: Iterable[types.TextDocumentContentChangeEvent], version: int) -> Document:
        """The document after changes, each of which is relative to the text after the one before it."""
        document = self
        for change in changes:
            text = change.text
            if isinstance(change, types.TextDocumentContentChangePartial):
                old = document.source.text
                start, end = sorted((document.offset(change.range.start), document.offset(change.range.end)))
                text = (_BOM if document.source.bom else "") + old[:start] + text + old[end:]
            document = Document(self.path, text, encoding=self.encoding, version=version)
        return document

    def offset(self, position: types.Position) -> int:
        """The offset of a position. A position outside of the text is moved to the end of the line or of the text."""
        starts = self.source.line_starts
        if position.line >= len(starts):
            return len(self.source.text)
        left = position.character - (0 if position.line else self._lead)
        line = self.source.line(position.line + 1)
        for column, char in enumerate(line):
            if left <= 0:
                return starts[position.line] + column
            left -= self._units(char)
        return starts[position.line] + len(line)

    def position(self, offset: int) -> types.Position:
        """The position of an offset."""
        line, column = self.source.position(offset)
        before = self.source.text[offset - column + 1 : offset]
        return types.Position(line - 1, self._units(before) + (self._lead if line == 1 else 0))

    def range(self, start: int, end: int) -> types.Range:
        """The range between two offsets."""
        return types.Range(self.position(start), self.position(end))

    def range_of(self, span: Span) -> types.Range:
        """The range of a span."""
        offset_at = self.source.offset_at
        return self.range(offset_at(span.line, span.column), offset_at(span.end_line, span.end_column))

    def text_edits(self, edits: Iterable[Edit]) -> list[types.TextEdit]:
        """Edits as the protocol has them."""
        return [types.TextEdit(self.range(edit.start, edit.end), edit.text) for edit in edits]

    def edits_to(self, after: str) -> list[types.TextEdit]:
        """The edits that turn the document into another text, line by line."""
        old, new = _LINE.findall(self.source.text), _LINE.findall(after)
        starts = [*self.source.line_starts[: len(old)], len(self.source.text)]
        head = _equal(old, new)
        tail = _equal(old[head:][::-1], new[head:][::-1])
        # Lines that a long text has very often are not matched, which would take a time that grows with their square.
        matcher = SequenceMatcher(None, old[head : len(old) - tail], new[head : len(new) - tail])
        return [
            types.TextEdit(
                self.range(starts[head + first], starts[head + last]), "".join(new[head + begin : head + end])
            )
            for tag, first, last, begin, end in matcher.get_opcodes()
            if tag != "equal"
        ]

    def _units(self, text: str) -> int:
        if self.encoding == "utf-32" or text.isascii():
            return len(text)
        if self.encoding == "utf-8":
            return len(text.encode("utf-8", "surrogatepass"))
        return len(text) + sum(char > "\uffff" for char in text)


def _equal(first: Sequence[str], other: Sequence[str]) -> int:
    """How many lines two texts begin with alike."""
    pairs = enumerate(zip(first, other, strict=False))
    return next((number for number, (line, same) in pairs if line != same), min(len(first), len(other)))
