"""Reads files, and writes them completely or not at all."""

from __future__ import annotations

import os
import stat


class ChangedMeanwhileError(OSError):
    """A file changed since it was read."""

    def __init__(self) -> None:
        super().__init__("it was changed by someone else meanwhile")


def content_of(path: str) -> bytes | None:
    """The content of a file; None if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None


def write_text(path: str, text: str) -> None:
    """Replace a file completely or not at all; a link stays a link.

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


def put_in_place(path: str, content: bytes, *, expected: bytes | None = None) -> None:
    """Replace a file so that it has the old or the new content at any time, even if this process is killed.

    Args:
        path: The file or a link to it. Its mode stays.
        content: The new content.
        expected: The content that it must have until it is replaced.

    Raises:
        OSError: If it cannot be written.
        ChangedMeanwhileError: If it has other content than expected.
    """
    # Loading it takes longer than a run in which nothing changed.
    import tempfile

    target = os.path.realpath(path)
    try:
        mode = stat.S_IMODE(os.stat(target).st_mode)
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        mode = 0o666 & ~mask
    handle, temporary = tempfile.mkstemp(prefix=".mcpcore-", dir=os.path.dirname(target))
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(temporary, mode)
        if expected is not None and content_of(target) != expected:
            raise ChangedMeanwhileError  # noqa: TRY301 - see below
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise
