"""Checks that a file belongs to a trail, before a byte of it is changed."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Final

from mcpcore.audit.chain import HEAD_SIZE, MAX_LINE, Head, read_link
from mcpcore.audit.errors import RefusedError
from mcpcore.audit.files import read_at

if TYPE_CHECKING:
    from mcpcore.audit.chain import Signer

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
