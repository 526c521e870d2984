"""Whether anybody moved or deleted an open file, as the kernel tells it where it does (inotify).

To ask with each record what the name leads to would be the dearest step of writing it; this asks for news instead.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import cache
from typing import Any, Final

_ATTRIB: Final = 0x004
"""Also where a link goes: the file is deleted, or another has taken its name."""

_DELETE_SELF: Final = 0x400
_MOVE_SELF: Final = 0x800
_READ: Final = 65_536


class Watch:
    """Files that are looked after; anything that happens to the name of one of them is heard."""

    __slots__ = ("_fd", "happened")

    def __init__(self, fd: int) -> None:
        """Hear what comes from the inotify instance `fd`."""
        import select

        poll = select.poll()
        poll.register(fd, select.POLLIN)
        self._fd = fd
        self.happened = poll.poll
        """Called with 0: what has happened since it was last forgotten; empty where nothing has."""

    def add(self, path: bytes) -> bool:
        """Look after the file at `path` too; False where that is not possible."""
        return _added(self._fd, path, _ATTRIB | _DELETE_SELF | _MOVE_SELF)

    def add_folders(self, path: bytes) -> None:
        """Look after the folders above `path` too, as far as that is allowed."""
        while (folder := os.path.dirname(path)) != path:  # noqa: PTH120 - bytes, as the system has them
            _added(self._fd, folder, _DELETE_SELF | _MOVE_SELF)
            path = folder

    def forget(self) -> None:
        """Forget what has happened; to be called before the files are looked at."""
        with suppress(OSError):
            os.read(self._fd, _READ)

    def close(self) -> None:
        """Stop looking."""
        os.close(self._fd)


def watch(path: bytes) -> Watch | None:
    """Look after the file at `path`; None where the system cannot, or has no more to give.

    Nor where a link is on the way: what the link leads to hears nothing of the link's being changed.
    """
    if sys.platform != "linux":
        return None
    if os.path.realpath(path) != path:
        return None
    try:
        fd = _libc().inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    except (ImportError, OSError, AttributeError):
        return None
    if fd < 0:
        return None
    made = Watch(fd)
    if made.add(path):
        made.add_folders(path)
        return made
    made.close()
    return None


def _added(fd: int, path: bytes, events: int) -> bool:
    return bool(_libc().inotify_add_watch(fd, path, events) >= 0)


@cache
def _libc() -> Any:
    # Loaded with the first trail in a file: what only logs need not wait for it.
    import ctypes

    return ctypes.CDLL(None, use_errno=True)
