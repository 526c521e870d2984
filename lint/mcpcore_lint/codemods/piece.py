"""A stretch of a file that libcst has parsed, and the way from its nodes back to places in the file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from mcpcore_lint.diagnostics import Span
from mcpcore_lint.syntax.source import Source

if TYPE_CHECKING:
    from collections.abc import Mapping

    import libcst
    from libcst.metadata import BaseMetadataProvider, CodePosition, MetadataWrapper

_PLACE: Final = re.compile(r"\w+ error: (?:error at \d+:\d+: )?")


class Unreadable(Exception):  # noqa: N818 - the report shows this name
    """Code that Python can read and libcst cannot, or the other way round."""


class Piece:
    """A stretch of a file, with lines before and after it that make it a complete module."""

    def __init__(self, source: Source, start: int, end: int, *, before: str = "", after: str = "") -> None:
        """Parse a stretch.

        Raises:
            Unreadable: If libcst cannot parse it.
        """
        self.file = source
        self.start = start
        self.end = end
        self.lead = before
        self.text = before + source.text[start:end] + after
        self.shift = start - len(before)
        """Add this to an offset in the piece to get the offset in the file."""
        self.lines = source.position(start)[0] - 1 - len(re.findall(r"\r\n|\r|\n", before))
        """Add this to a line number in the piece to get the line number in the file."""
        self._source: Source | None = None
        self._wrapper: MetadataWrapper | None = None
        self.tree: libcst.Module = self._parse()

    def _parse(self) -> libcst.Module:
        import libcst

        first = self.file.position(self.start)[0]
        problem = f"libcst cannot read the code from line {first} on, which Python can"
        try:
            return libcst.parse_module(self.text)
        except libcst.ParserSyntaxError as error:
            # The parser counts lines from the start of the piece.
            why = _PLACE.sub("", " ".join(error.message.split()))
            raise Unreadable(f"{problem}: {why} at line {max(error.raw_line + self.lines, first)}") from None
        except (RecursionError, UnicodeError, ValueError) as error:
            raise Unreadable(f"{problem}: {type(error).__name__}: {error}") from None
        except BaseException as error:
            # A panic of the native parser is not an Exception.
            if type(error).__name__ == "PanicException":
                raise Unreadable(f"{problem}: its parser gave up: {error}") from None
            raise

    @property
    def wrapper(self) -> MetadataWrapper:
        """The metadata of the piece; libcst computes each kind on first use."""
        if self._wrapper is None:
            from libcst.metadata import MetadataWrapper

            self._wrapper = MetadataWrapper(self.tree, unsafe_skip_copy=True, cache=self._cache())
        return self._wrapper

    def _cache(self) -> Mapping[Any, object]:
        """Metadata that is known without looking at the code."""
        return {}

    def metadata(self, provider: type[BaseMetadataProvider[Any]]) -> Mapping[libcst.CSTNode, Any]:
        """The metadata of a provider by node.

        Raises:
            Unreadable: If the code is nested too deeply for libcst.
        """
        try:
            return self.wrapper.resolve(provider)
        except RecursionError:
            raise self.too_deep() from None

    def too_deep(self) -> Unreadable:
        """The error for code that libcst cannot follow."""
        return Unreadable(f"the code from line {self.file.position(self.start)[0]} on is nested too deeply for libcst")

    def bounds(self, node: libcst.CSTNode, *, whole: bool = False) -> tuple[int, int]:
        """The offsets in the piece at which a node starts and ends; with `whole`, its parentheses and spaces included.

        Raises:
            ValueError: If the node is not part of the piece.
        """
        from libcst.metadata import PositionProvider, WhitespaceInclusivePositionProvider

        table = self.metadata(WhitespaceInclusivePositionProvider if whole else PositionProvider)
        position = table.get(node)
        if position is None:
            raise ValueError(
                f"this {type(node).__name__} is not part of the visited code: report a node that the rule was called "
                "with, not a copy of one"
            )
        return self.offset(position.start), self.offset(position.end)

    def offset(self, position: CodePosition) -> int:
        """The offset in the piece of a position that libcst gives."""
        if self._source is None:
            self._source = Source(self.file.path, self.text)
        return self._source.offset_at(position.line, position.column + 1)

    def span(self, node: libcst.CSTNode) -> Span:
        """The place of a node in the file; for a function or class, the place of its name."""
        import libcst

        if isinstance(node, (libcst.FunctionDef, libcst.ClassDef)):
            node = node.name
        start, end = self.bounds(node)
        # The lines before the piece are not part of the file.
        return Span(
            *self.file.position(max(start + self.shift, self.start)),
            *self.file.position(max(end + self.shift, self.start)),
        )
