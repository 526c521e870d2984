"""Files written whole or not at all."""

from __future__ import annotations

import os
import stat


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
    """The mode that a file has, or is born with."""
    try:
        return stat.S_IMODE(os.stat(target).st_mode)
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def put_in_place(target: str, content: bytes, *, mode: int, expected: bytes | None = None) -> None:
    """Replace a file whole: whoever reads it, or kills this process, finds the old content or the new.

    Args:
        target: The file, not a link to it.
        content: The new content.
        mode: Its mode.
        expected: What it must hold until it is replaced.

    Raises:
        OSError: If it cannot be written, or holds something else than was expected.
    """
    # Takes longer to load than a run that finds everything as it was.
    import tempfile

    handle, temporary = tempfile.mkstemp(prefix=".mcpcore-", dir=os.path.dirname(target))
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, mode)
        if expected is not None:
            with open(target, "rb") as current:
                if current.read() != expected:
                    raise OSError("it was changed by someone else meanwhile")  # noqa: TRY301 - cleaned up below
        os.replace(temporary, target)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise
