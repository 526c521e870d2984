"""The files of a trail read line by line."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from mcpcore.audit.chain import MAX_LINE, Link, read_link

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore.audit.chain import Signer


class Source(NamedTuple):
    """One file of the trail, and its size when the check began.

    Only the newest file is held open, since it may be rotated during the check. A trail can have more full files than
    a process may open.
    """

    name: str
    size: int
    file: BinaryIO | None = None

    @contextlib.contextmanager
    def reading(self, offset: int = 0) -> Iterator[BinaryIO]:
        """The file, open and at `offset`."""
        if self.file is not None:
            self.file.seek(offset)
            yield self.file
            return
        with open(self.name, "rb") as file:  # noqa: PTH123 - reports show this text
            file.seek(offset)
            yield file


class Row(NamedTuple):
    """One line of the trail, without its bytes."""

    at: int
    source: int
    line: int
    offset: int
    length: int
    link: Link | None


def rows(signer: Signer, sources: list[Source]) -> Iterator[tuple[Row, bytes]]:
    """Every line of `sources`, oldest first, with its bytes; a line that is too long comes without bytes."""
    at = 0
    for index, source in enumerate(sources):
        with source.reading() as file:
            offset = number = 0
            while offset < source.size:
                line = file.readline(min(MAX_LINE + 1, source.size - offset))
                if not line:  # pragma: no cover - cut while it is read
                    break
                length = len(line)
                piece = line
                while len(piece) > MAX_LINE and not piece.endswith(b"\n") and offset + length < source.size:
                    # No writer makes such a line: read on to its end without keeping it.
                    piece = file.readline(min(MAX_LINE + 1, source.size - offset - length))
                    length += len(piece)
                    line = b""
                number += 1
                yield Row(at, index, number, offset, length, read_link(line, signer)), line
                offset += length
                at += 1
