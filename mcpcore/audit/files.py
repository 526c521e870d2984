"""The files of a trail: which there are, in what order, and the lock that makes several writers take turns."""

from __future__ import annotations

import os
import re
import sys
import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

_NUMBER = re.compile(r"\.(\d{12})\Z")
_FIRST_PAUSE: Final = 0.00002
_LONGEST_PAUSE: Final = 0.001


def head_path(path: Path) -> Path:
    """Where the head of the trail at `path` is kept."""
    return path.with_name(path.name + ".head")


def rotated_path(path: Path, first_seq: int) -> Path:
    """The name that a full file gets: the trail's, with the number of its first record, so that names sort by age."""
    return path.with_name(f"{path.name}.{first_seq:012d}")


def rotated_files(path: Path) -> list[Path]:
    """The full files of the trail at `path`, oldest first."""
    prefix = path.name
    try:
        names = os.listdir(path.parent)  # noqa: PTH208 - names are all that is needed, and this may be a hot folder
    except OSError:
        return []
    found = [name for name in names if name.startswith(prefix + ".") and _NUMBER.fullmatch(name[len(prefix) :])]
    return [path.with_name(name) for name in sorted(found)]


if sys.platform == "win32":  # pragma: no cover - the tests run on POSIX
    import msvcrt

    # A byte far beyond any trail: locks there are mandatory, and nobody reads it.
    _AT: Final = 1 << 62

    def try_lock(fd: int, shared: bool = False) -> bool:  # noqa: FBT001, FBT002 - as below
        """Take the lock of an open file if nobody has it."""
        del shared
        os.lseek(fd, _AT, os.SEEK_SET)
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def unlock(fd: int) -> None:
        """Let the next writer in."""
        os.lseek(fd, _AT, os.SEEK_SET)
        msvcrt.locking(fd, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    _flock = fcntl.flock
    _EXCLUSIVE: Final = fcntl.LOCK_EX | fcntl.LOCK_NB
    _UNLOCKED: Final = fcntl.LOCK_UN
    _SHARED: Final = fcntl.LOCK_SH | fcntl.LOCK_NB

    def try_lock(fd: int, shared: bool = False) -> bool:  # noqa: FBT001, FBT002 - on the hot path
        """Take the lock of an open file if nobody has it."""
        try:
            _flock(fd, _SHARED if shared else _EXCLUSIVE)
        except BlockingIOError:
            return False
        return True

    def unlock(fd: int) -> None:
        """Let the next writer in."""
        _flock(fd, _UNLOCKED)


def lock(fd: int, timeout: float, *, shared: bool = False) -> bool:
    """Take the lock of an open file, waiting at most `timeout` seconds; False where somebody held it all that time.

    It is tried again and again rather than waited for: a writer that was stopped with the lock in its hands must not
    stop every other server for good.
    """
    if try_lock(fd, shared):
        return True
    deadline = time.monotonic() + timeout
    pause = _FIRST_PAUSE
    while time.monotonic() < deadline:
        time.sleep(pause)
        if try_lock(fd, shared):
            return True
        pause = min(pause * 1.5, _LONGEST_PAUSE)
    return False


if sys.platform == "win32":  # pragma: no cover - the tests run on POSIX

    def read_at(fd: int, size: int, offset: int) -> bytes:
        """Some bytes of a file, wherever it is read or written otherwise."""
        os.lseek(fd, offset, os.SEEK_SET)
        return os.read(fd, size)

    def write_at(fd: int, data: bytes, offset: int) -> int:
        """Overwrite bytes in place, in one go; how many of them were written."""
        os.lseek(fd, offset, os.SEEK_SET)
        return os.write(fd, data)

else:
    read_at = os.pread
    write_at = os.pwrite


def write_all(fd: int, data: bytes) -> None:
    """Write all of it, in as many goes as the system makes of it."""
    while (written := os.write(fd, data)) < len(data):
        data = data[written:]


def sync_folder(path: Path) -> None:
    """Have the names in a folder on the disk."""
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
