"""Files written whole or not at all."""

from __future__ import annotations

import os


def write_text(path: str, text: str) -> None:
    """Write a file whole or not at all.

    Raises:
        OSError: If it cannot be written.
    """
    write_bytes(path, text.encode("utf-8", "backslashreplace"))


def write_bytes(path: str, content: bytes) -> None:
    """Replace a file whole or not at all, keeping its mode; of a link, the file that it points to.

    A file that has this content already is left as it is, but for its time.

    Raises:
        OSError: If it cannot be written.
    """
    target = os.path.realpath(path)
    if os.path.exists(target) and not os.path.isfile(target):
        # A pipe or a device cannot be replaced, only written to.
        with open(target, "wb") as file:
            file.write(content)
    elif _holds(target, content):
        os.utime(target)
    else:
        _replace(target, content)


def _holds(target: str, content: bytes) -> bool:
    try:
        if os.stat(target).st_size != len(content):
            return False
        with open(target, "rb") as file:
            return file.read() == content
    except OSError:
        return False


def _replace(target: str, content: bytes) -> None:
    # Takes longer to load than a run that finds everything as it was.
    import tempfile

    folder = os.path.dirname(target)
    handle, temporary = tempfile.mkstemp(prefix=".mcpcore-", dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        try:
            mode = os.stat(target).st_mode & 0o7777
        except FileNotFoundError:
            mask = os.umask(0)
            os.umask(mask)
            mode = 0o666 & ~mask
        os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise
