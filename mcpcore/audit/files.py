"""The files of a trail, their order, the lock that makes several writers take turns, and a trail that is opened again.

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
from pathlib import Path
from time import time_ns
from typing import Final

from mcpcore.audit.chain import HEAD_SIZE, MAX_LINE, AuditError, Head, Link, RefusedError, Signer, read_link

_NUMBER = re.compile(r"\.(\d{12})\Z")
# Without O_NONBLOCK, opening a pipe that took the place of the file would wait for its other end.
_PRIVATE: Final = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)


def lock_path(path: Path) -> Path:
    """The lock file of the trail at `path`, which only writers can open."""
    return path.parent / f"{path.name}.lock"  # `with_name` refuses a path that has no name, as "/"


def head_path(path: Path) -> Path:
    """The head file of the trail at `path`."""
    return path.parent / f"{path.name}.head"


def open_own(name: bytes, flags: int, mode: int, what: str) -> int:
    """Open a file of the trail, which must be a regular file and not a link.

    A link is not followed: a user who can place one next to the trail could otherwise have any file overwritten.

    Raises:
        OSError: If it cannot be opened.
        RefusedError: If `name` is a link.
        AuditError: If it is not a regular file; the message names it `what`.
    """
    with contextlib.suppress(FileNotFoundError):
        # Checked before it is opened: opening a device or a pipe has side effects.
        status = os.lstat(name)
        if stat.S_ISLNK(status.st_mode):
            raise RefusedError(f"{what} is a link, which is not followed; give the path of the file itself")
        if not stat.S_ISREG(status.st_mode):
            raise AuditError(f"{what} is not a regular file")
    try:
        fd = os.open(name, flags | _PRIVATE | _NO_LINK, mode)
    except OSError as exc:
        if exc.errno == errno.ELOOP:  # pragma: no cover - created after the check
            raise RefusedError(f"{what} is a link, which is not followed; give the path of the file itself") from exc
        raise
    if not stat.S_ISREG(os.fstat(fd).st_mode):  # pragma: no cover - replaced after the check
        os.close(fd)
        raise AuditError(f"{what} is not a regular file")
    return fd


def open_lock(name: bytes, trail: int) -> int:
    """Open the lock file `name`, writable for those who may write to the open file `trail`.

    Raises:
        OSError: If it cannot be opened.
        AuditError: If it is a link or not a regular file.
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
        # For example after `chmod -R`. Only the owner may change it, and nothing else depends on it.
        with contextlib.suppress(OSError):
            os.fchmod(fd, wanted)
    return fd


def identity_of(status: os.stat_result) -> tuple[int, int]:
    """The device and the inode of a file: no other file has them while this one is open."""
    return status.st_dev, status.st_ino


def is_named(identity: tuple[int, int], name: bytes) -> bool:
    """Whether `name` leads to the file of this identity."""
    try:
        return identity_of(os.lstat(name)) == identity
    except FileNotFoundError:
        return False


def state_of_names(folder: bytes) -> tuple[int, int, int] | None:
    """The state of the names in `folder`, another one after each change; None shortly after a change.

    It has the time of the folder's last change. POSIX sets that time whenever a name is made, given to another file or
    removed, and no program can set it back. One call for the folder takes a third of the time of one for each file.

    Raises:
        FileNotFoundError: If there is no such folder.
    """
    status = os.stat(folder)  # noqa: PTH116 - pathlib costs more than the call
    # The next change could have the same time, which no local file system rounds to more than 2 s. On Windows, this is
    # the time when the folder was made.
    if sys.platform == "win32" or time_ns() - status.st_ctime_ns <= 3 * 10**9:
        return None
    return status.st_dev, status.st_ino, status.st_ctime_ns


def rotated_path(path: Path, first_seq: int) -> Path:
    """The name of a full file: that of the trail with the number of its first record, so that names sort by age."""
    return path.with_name(f"{path.name}.{first_seq:012d}")


def rotated_files(path: Path) -> list[Path]:
    """The full files of the trail at `path`, oldest first."""
    prefix = path.name
    try:
        names = os.listdir(path.parent)  # noqa: PTH208 - only the names are needed, and the folder may be large
    except OSError:
        return []
    rotated = [name for name in names if name.startswith(prefix + ".") and _NUMBER.fullmatch(name[len(prefix) :])]
    return [path.with_name(name) for name in sorted(rotated)]


if sys.platform == "win32":  # pragma: no cover - the tests run on POSIX
    import msvcrt

    # A byte far after the end of any trail: locks are mandatory on Windows, and this byte is never read.
    _AT: Final = 1 << 62

    def try_lock(fd: int) -> bool:
        """Take the lock of an open file if it is free."""
        os.lseek(fd, _AT, os.SEEK_SET)
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def unlock(fd: int) -> None:
        """Release the lock."""
        os.lseek(fd, _AT, os.SEEK_SET)
        msvcrt.locking(fd, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    _flock = fcntl.flock
    _EXCLUSIVE: Final = fcntl.LOCK_EX | fcntl.LOCK_NB
    _UNLOCKED: Final = fcntl.LOCK_UN

    def try_lock(fd: int) -> bool:
        """Take the lock of an open file if it is free."""
        try:
            _flock(fd, _EXCLUSIVE)
        except BlockingIOError:
            return False
        return True

    def unlock(fd: int) -> None:
        """Release the lock."""
        _flock(fd, _UNLOCKED)


if sys.platform == "win32":  # pragma: no cover - the tests run on POSIX

    def read_at(fd: int, size: int, offset: int) -> bytes:
        """Some bytes of a file, without moving its position."""
        os.lseek(fd, offset, os.SEEK_SET)
        return os.read(fd, size)

    def write_at(fd: int, data: bytes, offset: int) -> int:
        """Overwrite bytes in place with one call; returns how many were written."""
        os.lseek(fd, offset, os.SEEK_SET)
        return os.write(fd, data)

else:
    read_at = os.pread
    write_at = os.pwrite


def write_all(fd: int, data: bytes) -> None:
    """Write all of `data`, with several calls if the system needs them."""
    while (written := os.write(fd, data)) < len(data):
        data = data[written:]


def sync_folder(path: Path) -> None:
    """Flush the names in a folder to the disk."""
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


# --- a trail that is opened again: its last record, and whether a file belongs to it ----------------------------------


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
        "it is not a trail: its first line is not a record, and it is unchanged; give the path of a new file or of a "
        "trail"
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
        f"the file {name} is not the head of a trail, and it is unchanged; move it away, or give another path"
    )
