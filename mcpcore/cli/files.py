"""Writes the files of commands, each as a whole."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from mcpcore.cli.problems import Problem


def replace_file(path: Path, text: str) -> None:
    """Replace a file as a whole: a reader finds the old text or the new one, also if this process is killed.

    A device or a pipe, such as /dev/stderr, is written to and not replaced.

    Raises:
        Problem: If it cannot be written.
    """
    # A link stays a link, and its target is replaced.
    target = Path(os.path.realpath(path))
    try:
        if path.exists() and not path.is_file():
            with path.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as device:
                device.write(text)
            return
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
        descriptor, temporary = tempfile.mkstemp(prefix=f".{target.name[:50]}.", dir=target.parent)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).chmod(mode)
            Path(temporary).replace(target)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(temporary).unlink()
            raise
    except OSError as exc:
        raise Problem(
            f"{path} cannot be written: {exc.strerror or exc}.", hint="check that its folder exists and can be written"
        ) from exc


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
