"""`--watch`: runs again whenever a Python file, a document or the configuration changes."""

from __future__ import annotations

import os
import time
from stat import S_ISDIR
from typing import TYPE_CHECKING

from mcpcore_lint.output import CannotRunError, clear
from mcpcore_lint.runner.discover import SKIPPED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_PAUSE = 0.5
"""Seconds between two checks whether a watched folder appeared or disappeared."""


def watch(paths: Sequence[str], run: Callable[[], int]) -> int:
    """Run, and run again on each change, until Ctrl-C ends it with 130.

    Raises:
        CannotRunError: If watchfiles is not installed.
    """
    try:
        from watchfiles.main import watch as changes
    except ImportError as error:
        raise CannotRunError(
            '--watch needs watchfiles, which is not installed; run: pip install "mcpcore[watch]"'
        ) from error
    _run(run)
    # The folder of a file is watched, since many editors replace the file, and its imports may be in the folder.
    absolute = [os.path.abspath(path) for path in paths]
    tops = sorted({path if os.path.isdir(path) else os.path.dirname(path) for path in absolute})

    def matters(_: object, path: str) -> bool:
        top = next((folder for folder in tops if path.startswith(os.path.join(folder, ""))), os.path.dirname(path))
        folders = os.path.relpath(os.path.dirname(path), top).split(os.sep)
        if any(map(_skipped, folders)):
            return False
        if path in tops or path.endswith((".py", ".md", ".markdown", "pyproject.toml", ".gitignore")):
            return True
        # A new folder may bring files that are not reported one by one.
        return os.path.isdir(path) and not _skipped(os.path.basename(path))

    try:
        watched = _folders(tops)
        while True:
            if not watched:
                time.sleep(_PAUSE)
            else:
                options = {"rust_timeout": int(_PAUSE * 1000), "yield_on_timeout": True, "raise_interrupt": True}
                for changed in changes(*watched, watch_filter=matters, **options):  # type: ignore[arg-type]
                    if _folders(tops) != watched:
                        break
                    if changed:
                        clear()
                        _run(run)
            now = _folders(tops)
            if now != watched:
                clear()
                _run(run)
            watched = now
    except KeyboardInterrupt:
        return 130


def _skipped(name: str) -> bool:
    return name in SKIPPED or (name.startswith(".") and name not in {".", ".."})


def _folders(paths: Sequence[str]) -> dict[str, int]:
    """The folders that exist, each with its inode, by which a new folder of the same name differs."""
    folders: dict[str, int] = {}
    for path in paths:
        try:
            state = os.stat(path)
        except OSError:
            continue
        if S_ISDIR(state.st_mode):
            folders[path] = state.st_ino
    return folders


def _run(run: Callable[[], int]) -> None:
    try:
        run()
    except CannotRunError as problem:
        problem.report()  # a configuration is invalid for a moment while it is edited
