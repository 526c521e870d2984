"""Writes files completely or not at all."""

from __future__ import annotations

import os
import stat
import time
from typing import Final

_TEMPORARY: Final = ".mcpcore-"
_STALE: Final = 600.0
"""Seconds after which a temporary file must have been left by a killed run."""
_swept: set[str] = set()


class ChangedMeanwhileError(OSError):
    """A file changed since it was read."""


def write_text(path: str, text: str) -> None:
    """Write a file completely or not at all.

    Raises:
        OSError: If it cannot be written.
    """
    write_bytes(path, text.encode("utf-8", "backslashreplace"))


def write_bytes(path: str, content: bytes) -> None:
    """Replace a file completely or not at all, and keep its mode; a link stays a link.

    If the file has this content already, only its time changes.

    Raises:
        OSError: If it cannot be written.
    """
    target = os.path.realpath(path)
    if os.path.exists(path) and not os.path.isfile(path):
        # A pipe or a device cannot be replaced, only written to; the target of `/dev/stdout` may not even have a path.
        with open(path, "wb") as file:
            file.write(content)
    elif _holds(target, content):
        os.utime(target)
    else:
        put_in_place(target, content, mode=_new_mode(target))


def _holds(target: str, content: bytes) -> bool:
    try:
        if os.stat(target).st_size != len(content):
            return False
        with open(target, "rb") as file:
            return file.read() == content
    except OSError:
        return False


def _new_mode(target: str) -> int:
    """The mode of a file, or of a new file if it does not exist."""
    try:
        return stat.S_IMODE(os.stat(target).st_mode)
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def put_in_place(target: str, content: bytes, *, mode: int, expected: bytes | None = None) -> None:
    """Replace a file so that it has the old or the new content at any time, even if this process is killed.

    Args:
        target: The file, not a link to it.
        content: The new content.
        mode: Its mode.
        expected: The content that it must have until it is replaced.

    Raises:
        OSError: If it cannot be written.
        ChangedMeanwhileError: If it has other content than expected.
    """
    # Loading it takes longer than a run in which nothing changed.
    import tempfile

    folder = os.path.dirname(target)
    _sweep(folder)
    handle, temporary = tempfile.mkstemp(prefix=_TEMPORARY, dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, mode)
        if expected is not None:
            with open(target, "rb") as current:
                if current.read() != expected:
                    raise ChangedMeanwhileError("it was changed by someone else meanwhile")  # noqa: TRY301 - see below
        os.replace(temporary, target)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def _sweep(folder: str) -> None:
    """Remove the temporary files of killed runs from a folder, once per process."""
    if folder in _swept:
        return
    _swept.add(folder)
    try:
        with os.scandir(folder or os.curdir) as scan:
            for entry in scan:
                old = entry.name.startswith(_TEMPORARY) and entry.is_file(follow_symlinks=False)
                if old and time.time() - entry.stat(follow_symlinks=False).st_mtime > _STALE:
                    os.unlink(entry.path)
    except OSError:
        return
