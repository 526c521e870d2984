"""Writes the files of commands, each as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpcore.cli.problems import Problem

if TYPE_CHECKING:
    from pathlib import Path


def replace_file(path: Path, text: str) -> None:
    """Replace a file as a whole: a reader finds the old text or the new one, also if this process is killed.

    A device or a pipe, such as /dev/stderr, is written to and not replaced.

    Raises:
        Problem: If it cannot be written.
    """
    from mcpcore_lint.runner.files import write_text

    try:
        write_text(str(path), text)
    except OSError as exc:
        raise Problem(
            f"{path} cannot be written: {exc.strerror or exc}.", hint="check that its folder exists and can be written"
        ) from exc
