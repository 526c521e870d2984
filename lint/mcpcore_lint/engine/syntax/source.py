"""Reading a file as Python reads it, while keeping every byte: encodings, byte-order marks, line ends, columns."""

from __future__ import annotations

import ast
import contextlib
import re
import warnings
from bisect import bisect_right

from mcpcore_lint.diagnostics import Span
from mcpcore_lint.engine.syntax.downlevel import LINE_END, downleveled
from mcpcore_lint.patterns import regex

BOM = b"\xef\xbb\xbf"
_COOKIE = regex(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BLANK = regex(rb"^[ \t\f]*(?:#.*)?$")
_LINE_FEED = regex("\n")
_KEYWORD = regex(r"(?:async\s+def|def|class)(?:\s|\\\r?\n)+")


class SourceError(Exception):
    """A file that cannot be read as Python; `span` says where."""

    def __init__(self, message: str, span: Span | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.span = span or Span(1, 1, 1, 1)


def _encoding_of(body: bytes) -> str:
    """The encoding that a file declares in its first two lines (PEP 263)."""
    lines = re.split(rb"\r\n|\r|\n", body[:4096], maxsplit=2)[:2] if b"coding" in body[:4096] else []
    for line in lines:
        if match := _COOKIE.match(line):
            return match[1].decode("ascii", "replace").lower().replace("_", "-")
        if not _BLANK.match(line):
            break
    return "utf-8"


class Source:
    """The text of one file and the way from its syntax nodes to lines, columns and offsets."""

    __slots__ = ("_ascii", "_searched", "_starts", "bom", "encoding", "path", "text")

    def __init__(self, path: str, text: str, *, encoding: str = "utf-8", bom: bool = False) -> None:
        self.path = path
        self.text = text
        self.encoding = encoding
        self.bom = bom
        self._ascii = text.isascii()
        self._starts: list[int] | None = None
        self._searched: dict[str, bool] = {}

    @classmethod
    def from_bytes(cls, path: str, raw: bytes) -> Source:
        """Decode a file as Python does.

        Raises:
            SourceError: If its bytes are not text in the encoding that it declares.
        """
        bom = raw.startswith(BOM)
        body = raw.removeprefix(BOM)
        encoding = _encoding_of(body)
        # Python refuses such a file, too.
        if bom and encoding not in {"utf-8", "utf8"}:
            raise SourceError(f"the file starts with a UTF-8 byte-order mark and declares the encoding {encoding!r}")
        try:
            text = body.decode(encoding)
        except LookupError:
            raise SourceError(f"the file declares an encoding that Python does not know: {encoding!r}") from None
        except UnicodeDecodeError as error:
            before = body[: error.start]
            line = len(re.findall(rb"\r\n|\r|\n", before)) + 1
            column = len(before) - max(before.rfind(b"\n"), before.rfind(b"\r"))
            wrong = f"byte 0x{body[error.start]:02x} is not valid {encoding}"
            span = Span(line, column, line, column + 1)
            raise SourceError(f"{wrong}: save the file as UTF-8 or declare its encoding", span) from None
        except (UnicodeError, ValueError) as error:
            raise SourceError(f"the file is not valid {encoding}: {error}") from None
        return cls(path, text, encoding=encoding, bom=bom)

    def to_bytes(self, text: str) -> bytes:
        """A changed text, in the file's own encoding.

        Raises:
            UnicodeError: If the encoding cannot hold the text, for example because it lacks a character.
        """
        return (BOM if self.bom else b"") + text.encode(self.encoding)

    def has(self, part: str) -> bool:
        """Whether something stands anywhere in the file. Searched for once: each function and each tool asks."""
        known = self._searched.get(part)
        if known is None:
            known = self._searched[part] = part in self.text
        return known

    @property
    def newline(self) -> str:
        """The line end that the file uses first; a line feed where it has none."""
        match = LINE_END.search(self.text)
        return match[0] if match else "\n"

    @property
    def line_starts(self) -> list[int]:
        """The offset at which each line starts. Python's lines: a form feed ends none."""
        if self._starts is None:
            # Nearly every file has line feeds alone, and those are found faster.
            line_end = LINE_END if "\r" in self.text else _LINE_FEED
            self._starts = [0, *map(re.Match.end, line_end.finditer(self.text))]
        return self._starts

    def line(self, number: int) -> str:
        """The text of a line, counted from 1, without its end."""
        starts = self.line_starts
        if not 1 <= number <= len(starts):
            return ""
        end = starts[number] if number < len(starts) else len(self.text)
        return self.text[starts[number - 1] : end].rstrip("\r\n")

    def offset(self, line: int, byte_column: int) -> int:
        """The character offset of a position as `ast` gives it: line from 1, column in UTF-8 bytes from 0."""
        starts = self.line_starts
        start = starts[min(line, len(starts)) - 1]
        # Each character takes at least one byte, so this holds all of them.
        chunk = self.text[start : start + byte_column]
        if self._ascii or chunk.isascii():
            return start + len(chunk)
        return start + len(chunk.encode("utf-8", "surrogatepass")[:byte_column].decode("utf-8", "ignore"))

    def offset_at(self, line: int, column: int) -> int:
        """The character offset of a line and a column, both from 1, columns in characters."""
        starts = self.line_starts
        return min(starts[min(line, len(starts)) - 1] + column - 1, len(self.text))

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column, both from 1, of a character offset."""
        starts = self.line_starts
        line = bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1

    def node_range(self, node: ast.AST) -> tuple[int, int]:
        """The character offsets at which a node starts and ends."""
        line, column, end_line, end_column = _bounds(node)
        return self.offset(line, column), self.offset(end_line, end_column)

    def _span(self, start: int, end: int) -> Span:
        return Span(*self.position(start), *self.position(end))

    def span(self, node: ast.AST) -> Span:
        """Where a node stands. Of a function or class, with its decorators left out, the name in its first line."""
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            start = self.offset(node.lineno, node.col_offset)
            match = _KEYWORD.match(self.text, start)
            start = match.end() if match else start
            return self._span(start, start + len(node.name))
        if self._ascii:
            line, column, end_line, end_column = _bounds(node)
            return Span(line, column + 1, end_line, end_column + 1)
        return self._span(*self.node_range(node))

    def header_span(self, node: ast.AST, last: ast.AST | None) -> Span:
        """Where the first line of an `except` or `with` stands, from its keyword through `last`; None: `except:`."""
        start, _ = self.node_range(node)
        return self._span(start, start + len("except") if last is None else self.node_range(last)[1])

    def segment(self, node: ast.AST) -> str:
        """The text of a node, exactly as written."""
        start, end = self.node_range(node)
        return self.text[start:end]


def _bounds(node: ast.AST) -> tuple[int, int, int, int]:
    """The place of a node as `ast` counts it. Some nodes have none, and nodes of the linter may have no end."""
    line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
    end_line, end_column = getattr(node, "end_lineno", None), getattr(node, "end_col_offset", None)
    return line, column, line if end_line is None else end_line, column if end_column is None else end_column


def parse(source: Source) -> ast.Module:
    """Parse a file.

    Raises:
        SourceError: If it is not valid Python, or this interpreter cannot parse it: it is nested too deeply, or
            written in newer syntax that cannot be rewritten in older syntax.
    """
    null = source.text.find("\0")
    if null >= 0:
        line, column = source.position(null)
        raise SourceError("the file holds null bytes", Span(line, column, line, column + 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(source.text, filename=source.path)
        except SyntaxError as error:
            # The file may be written for a newer Python than this one, and its tools are checked all the same.
            if (older := downleveled(source.text)) is not None:
                with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
                    return ast.parse(older, filename=source.path)
            raise SourceError(error.msg or "invalid syntax", _syntax_span(source, error)) from None
        except ValueError as error:
            raise SourceError(str(error)) from None
        except (RecursionError, MemoryError):
            raise SourceError("the file is nested too deeply for Python's own parser") from None


def _syntax_span(source: Source, error: SyntaxError) -> Span:
    line = min(max(error.lineno or 1, 1), len(source.line_starts))
    column = max(error.offset or 1, 1)
    end = (error.end_lineno or 0, max(error.end_offset or 1, 1))
    return Span(line, column, *max(end, (line, column + 1)))
