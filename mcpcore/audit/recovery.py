"""Finds where the chain of a trail ends, from its files alone."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from mcpcore.audit.chain import MAX_LINE, Link, read_link
from mcpcore.audit.files import read_at, rotated_files

if TYPE_CHECKING:
    from pathlib import Path

    from mcpcore.audit.chain import Signer


def last_record(fd: int, size: int, signer: Signer) -> tuple[Link | None, bytes]:
    """The last whole record of an open file, and the unfinished line after it."""
    start = size
    data = b""
    while start > 0 and len(data) < 2 * MAX_LINE:
        step = min(start, 65536)
        start -= step
        data = read_at(fd, step, start) + data
        lines = data.split(b"\n")
        # The first piece may be the end of a longer line, unless it is the beginning of the file.
        for piece in reversed(lines[1:-1] if start else lines[:-1]):
            link = read_link(piece + b"\n", signer)
            if link is not None and link.sound is not False:
                return link, lines[-1]
    return None, data.rpartition(b"\n")[2] if size else b""


def last_rotated_record(path: Path, signer: Signer) -> Link | None:
    """The last record of the newest full file, where the chain ends while the current file is empty."""
    for rotated in reversed(rotated_files(path)):
        try:
            fd = os.open(rotated, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0))
        except OSError:
            continue
        try:
            link, _ = last_record(fd, os.fstat(fd).st_size, signer)
        finally:
            os.close(fd)
        if link is not None:
            return link
    return None
