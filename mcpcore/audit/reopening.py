"""A trail that is opened again: whether a file belongs to it, before a byte is changed, and its last record."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Final

from mcpcore.audit.chain import HEAD_SIZE, MAX_LINE, Head, Link, RefusedError, Signer, read_link
from mcpcore.audit.files import read_at, rotated_files


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


_HEAD_BEGINNING: Final = b'{"head":{"seq":'


def require_trail(fd: int, head_name: bytes, signer: Signer) -> None:
    """Refuse a file that has another purpose.

    The first line of a trail may have been changed, or a writer may have died in the middle of it. Then the second line
    or the head shows that the file is a trail.

    Raises:
        RefusedError: If the file is neither empty nor a trail.
    """
    start = read_at(fd, 2 * MAX_LINE, 0)
    if not start:
        return
    lines = start.split(b"\n", 2)[:-1]
    if any(read_link(line + b"\n", signer) is not None for line in lines):
        return
    with contextlib.suppress(OSError):
        head = os.open(head_name, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        try:
            if Head.alg_of(read_at(head, HEAD_SIZE, 0)) is not None:
                return
        finally:
            os.close(head)
    raise RefusedError(
        "it is not a trail: its first line is not a record, and it was left as it is; give the path of a new file or "
        "of a trail"
    )


def require_head(fd: int, name: str) -> None:
    """Refuse to keep the head in a file that has another purpose.

    A damaged head is accepted if it still has the size or the beginning of a head, since the trail notes the damage.

    Raises:
        RefusedError: If the file is neither empty nor a head.
    """
    size = os.fstat(fd).st_size
    if size in (0, HEAD_SIZE) or (size < HEAD_SIZE and read_at(fd, size, 0).startswith(_HEAD_BEGINNING)):
        return
    raise RefusedError(
        f"the file {name} is not the head of a trail, and it was left as it is; move it away, or give another path"
    )
