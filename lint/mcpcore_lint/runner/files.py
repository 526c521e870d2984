"""Reads files, and writes them completely or not at all, and only where a command may write."""

from __future__ import annotations

import contextlib
import errno
import os
import stat

from mcpcore_lint.paths import is_below

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_FOLDER = os.O_CLOEXEC | os.O_DIRECTORY | getattr(os, "O_PATH", 0) if os.open in os.supports_dir_fd else 0
"""How a folder is opened to name the files in it; 0 on systems that name files only by their paths."""
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_BINARY = getattr(os, "O_BINARY", 0)


class ChangedMeanwhileError(OSError):
    """A file changed since it was read."""

    def __init__(self) -> None:
        super().__init__("it was changed by someone else meanwhile")


class OutsideError(OSError):
    """A file is in none of the folders that a command may change."""

    def __init__(self, real: str) -> None:
        super().__init__(f"it is {real}, which is not below a path that was named")


def content_of(path: str) -> bytes | None:
    """The content of a file; None if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None


def real_paths(paths: Iterable[str | os.PathLike[str]]) -> tuple[str, ...]:
    """The real paths of the paths that a user named: a command may change them and the files below them."""
    return tuple(os.path.realpath(path) for path in paths)


def write_text(path: str, text: str) -> None:
    """Replace a file that the user named, completely or not at all; a link stays a link.

    Raises:
        OSError: If it cannot be written.
    """
    content = text.encode("utf-8", "backslashreplace")
    if os.path.exists(path) and not os.path.isfile(path):
        # A pipe or a device cannot be replaced, only written to; the target of `/dev/stdout` may not even have a path.
        with open(path, "wb") as file:
            file.write(content)
    elif content_of(path) == content:
        # A file that is replaced changes its folder, so that the next run would not recognise the folder.
        os.utime(path)
    else:
        put_in_place(path, content)


def put_in_place(
    path: str, content: bytes, *, expected: bytes | None = None, named: tuple[str, ...] | None = None
) -> None:
    """Replace a file so that it has the old or the new content at any time, even if this process is killed.

    Its mode stays, and its owner if possible. If a file has several hard links, only this one changes.

    Args:
        path: The file or a link to it.
        content: The new content.
        expected: The content that it must have until it is replaced.
        named: The real paths that the command may change, with what is below them; None for the path itself.

    Raises:
        OSError: If it cannot be written, or is read-only.
        OutsideError: If its real path is not below a named one.
        ChangedMeanwhileError: If it has other content than expected, or its folder became a link.
    """
    target = os.path.realpath(path)
    if named is not None and not any(target == top or is_below(target, top) for top in named):
        raise OutsideError(target)
    folder, name = os.path.split(target)
    at = _opened(folder)
    # Where folders cannot be opened, the files in them are named by their paths.
    place = name if at is not None else target
    temporary = os.path.join("" if at is not None else folder, f".mcpcore-{os.urandom(8).hex()}")
    try:
        old = _state(place, at)
        if old is not None and not old.st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH):
            # A read-only file could still be replaced, but its owner does not want that.
            raise PermissionError(errno.EACCES, "the file is read-only")
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK | _BINARY, 0o666, dir_fd=at)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                if old is not None:
                    _adopt(file.fileno(), temporary, old)
            if expected is not None and _content(place, at) != expected:
                raise ChangedMeanwhileError  # noqa: TRY301 - see below
            os.replace(temporary, place, src_dir_fd=at, dst_dir_fd=at)
        except BaseException:
            os.unlink(temporary, dir_fd=at)
            raise
    finally:
        if at is not None:
            os.close(at)


def _opened(folder: str) -> int | None:
    """A folder by its real path, so that it stays the same one whatever the path leads to meanwhile."""
    if not _FOLDER:
        return None
    handle = os.open(os.sep, _FOLDER)
    for part in filter(None, folder.split(os.sep)):
        try:
            inner = os.open(part, _FOLDER | _NO_LINK, dir_fd=handle)
        except OSError as error:
            if error.errno in {errno.ELOOP, errno.ENOTDIR}:
                raise ChangedMeanwhileError from None
            raise
        finally:
            os.close(handle)
        handle = inner
    return handle


def _state(place: str, at: int | None) -> os.stat_result | None:
    """The state of a file that is no link; None if it does not exist."""
    try:
        state = os.stat(place, dir_fd=at, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(state.st_mode):
        raise ChangedMeanwhileError
    return state


def _content(place: str, at: int | None) -> bytes | None:
    try:
        with os.fdopen(os.open(place, os.O_RDONLY | _NO_LINK | _BINARY, dir_fd=at), "rb") as file:
            return file.read()
    except OSError:
        return None


def _adopt(handle: int, temporary: str, old: os.stat_result) -> None:
    """Give a new file the mode of the old one, and its owner if possible."""
    if hasattr(os, "fchown"):
        with contextlib.suppress(OSError):
            os.fchown(handle, old.st_uid, old.st_gid)
        os.fchmod(handle, stat.S_IMODE(old.st_mode))
    else:
        os.chmod(temporary, stat.S_IMODE(old.st_mode))
