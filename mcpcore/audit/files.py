"""The files of a trail: which there are, in what order, and the lock that makes several writers take turns.

The lock is taken on a separate file, `audit.jsonl.lock`, with permission to write and not to read. Any process that
can open a file, even to read it, can lock it with flock, and with fcntl it can at least hold a read lock that keeps all
writers out. A lock on the trail or its head would therefore let a mere reader stop the records of the server. Only a
process that may write can open the lock file. Each process opens it for itself, and the threads of a process take turns
by a mutex before they try it, so flock is enough.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import sys
from typing import TYPE_CHECKING, Final

from mcpcore.audit.errors import AuditError, RefusedError

if TYPE_CHECKING:
    from pathlib import Path

_NUMBER = re.compile(r"\.(\d{12})\Z")
_PRIVATE: Final = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)


def lock_path(path: Path) -> Path:
    """Where the lock of the trail at `path` is: a file that only its writers can open."""
    return path.parent / f"{path.name}.lock"  # `with_name` refuses a path that has no name, as "/"


def head_path(path: Path) -> Path:
    """Where the head of the trail at `path` is kept."""
    return path.parent / f"{path.name}.head"


def open_own(name: bytes, flags: int, mode: int, what: str) -> int:
    """Open a file of the trail, which must be a regular file and no link.

    A link is not followed: a user who can place one next to the trail could otherwise have any file overwritten.

    Raises:
        OSError: If it cannot be opened.
        RefusedError: If `name` is a link.
        AuditError: If it is no regular file; `what` is how the message names it.
    """
    with contextlib.suppress(FileNotFoundError):
        # Looked at before it is opened: opening a device or a pipe can do things.
        found = os.lstat(name)
        if stat.S_ISLNK(found.st_mode):
            raise RefusedError(f"{what} is a link, which is not followed; give the path of the file itself")
        if not stat.S_ISREG(found.st_mode):
            raise AuditError(f"{what} is not a regular file")
    try:
        fd = os.open(name, flags | _PRIVATE | _NO_LINK, mode)
    except OSError as exc:
        if exc.errno == errno.ELOOP:  # pragma: no cover - placed between the look and the opening
            raise RefusedError(f"{what} is a link, which is not followed; give the path of the file itself") from exc
        raise
    if not stat.S_ISREG(os.fstat(fd).st_mode):  # pragma: no cover - replaced between the look and the opening
        os.close(fd)
        raise AuditError(f"{what} is not a regular file")
    return fd


def open_lock(name: bytes, trail: int) -> int:
    """Open the lock file `name` of the open file `trail`, for whom its mode lets write to the trail.

    Raises:
        OSError: If it cannot be opened.
        AuditError: If it is a link or no regular file.
    """
    while True:
        try:
            fd = open_own(name, os.O_WRONLY, 0, "its lock file")
        except FileNotFoundError:
            with contextlib.suppress(FileExistsError):
                fd = open_own(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o200, "its lock file")
                break
        else:
            break
    mode = stat.S_IMODE(os.fstat(fd).st_mode)
    wanted = stat.S_IMODE(os.fstat(trail).st_mode) & 0o222 | 0o200
    if sys.platform != "win32" and mode != wanted:
        # As after `chmod -R`. Only its owner may do it; nothing else depends on it.
        with contextlib.suppress(OSError):
            os.fchmod(fd, wanted)
    return fd


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

    def try_lock(fd: int) -> bool:
        """Take the lock of an open file if nobody has it."""
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

    def try_lock(fd: int) -> bool:
        """Take the lock of an open file if nobody has it."""
        try:
            _flock(fd, _EXCLUSIVE)
        except BlockingIOError:
            return False
        return True

    def unlock(fd: int) -> None:
        """Let the next writer in."""
        _flock(fd, _UNLOCKED)


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
