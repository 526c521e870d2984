"""Follows the chains of many servers, whose lines may come interleaved and not quite in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from mcpcore.audit.chain import GENESIS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore.audit.chain import Link

MOST: Final = 20_000
"""The most open pieces of chains that are remembered; forged lines could make as many as there are lines."""


class Piece(NamedTuple):
    """The first line of a connected part of a chain."""

    label: str
    link: Link
    file: str
    line: int


class Chains:
    """Connects lines by their hashes, in memory that grows with the number of chains."""

    def __init__(self, *, ordered: bool) -> None:
        """Follow chains; in `ordered` lines, those after a gap still belong to the chain before it."""
        self._ordered = ordered
        self._label = ""
        self._by_end: dict[str, Piece] = {}
        """Each piece by the hash of its last line."""
        self._by_start: dict[str, tuple[Piece, str]] = {}
        """Each piece that does not begin a chain by the hash before its first line, with the hash of its last line."""
        self.complete = True
        """Whether no piece had to be forgotten."""

    def add(self, link: Link, file: str, line: int) -> str:
        """Connect a line; returns the label of its chain."""
        piece = self._by_end.pop(link.prev, None) if link.prev != GENESIS else None
        if piece is None:
            label = (link.hash if link.prev == GENESIS else link.prev)[:32]
            if self._ordered and link.prev != GENESIS:
                label = self._label or label
            piece = Piece(label, link, file, line)
        self._label = piece.label
        end = link.hash
        follower = self._by_start.pop(end, None)
        if follower is not None:
            end = follower[1]
        if len(self._by_end) >= MOST or len(self._by_start) >= MOST:
            self.complete = False
        else:
            self._by_end[end] = piece
            if piece.link.prev != GENESIS:
                self._by_start[piece.link.prev] = piece, end
        return piece.label

    def loose(self) -> Iterator[Piece]:
        """The pieces whose line before is not among the lines."""
        for piece, _ in self._by_start.values():
            yield piece
