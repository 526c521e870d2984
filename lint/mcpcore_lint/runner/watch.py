"""`--watch`: the run again whenever a Python file, a document or the configuration changes."""

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
"""Seconds between two looks whether a watched folder went or came."""


class WatchError(CannotRunError):
    """Watching cannot be done here."""


def watch(paths: Sequence[str], run: Callable[[], int]) -> int:
    """Run, and run again on each change, until interrupted, which ends it as it ends any run: with 130.

    Raises:
        WatchError: If the library that watches is not installed.
    """
    try:
        from watchfiles.main import watch as changes
    except ImportError as error:
        raise WatchError(
            '--watch needs watchfiles, which is not installed; run: pip install "mcpcore[watch]"'
        ) from error
    _shown(run)
    wanted = [os.path.abspath(path) for path in paths]
    # Of a file its folder is watched: many editors put another file in its place, and it imports what is beside it.
    tops = sorted({path if os.path.isdir(path) else os.path.dirname(path) for path in wanted})

    def matters(_: object, path: str) -> bool:
        top = next((each for each in tops if path.startswith(os.path.join(each, ""))), os.path.dirname(path))
        folders = os.path.relpath(os.path.dirname(path), top).split(os.sep)
        if any(each in SKIPPED or (each.startswith(".") and each not in {".", ".."}) for each in folders):
            return False
        if path in tops or path.endswith((".py", ".md", ".markdown", "pyproject.toml", ".gitignore")):
            return True
        # A folder may come with files that nothing else is said of.
        name = os.path.basename(path)
        return os.path.isdir(path) and name not in SKIPPED and not name.startswith(".")

    try:
        there = _folders(tops)
        while True:
            if there:
                every = int(_PAUSE * 1000)
                for changed in changes(
                    *there, watch_filter=matters, rust_timeout=every, yield_on_timeout=True, raise_interrupt=True
                ):
                    if _folders(tops) != there:
                        break
                    if changed:
                        _again(run)
            else:
                time.sleep(_PAUSE)
            now = _folders(tops)
            if now != there:
                _again(run)
            there = now
    except KeyboardInterrupt:
        return 130


def _folders(paths: Sequence[str]) -> dict[str, int]:
    """Those that are there, each with what tells it from another folder that takes its place."""
    found: dict[str, int] = {}
    for path in paths:
        try:
            state = os.stat(path)
        except OSError:
            continue
        if S_ISDIR(state.st_mode):
            found[path] = state.st_ino
    return found


def _again(run: Callable[[], int]) -> None:
    clear()
    _shown(run)


def _shown(run: Callable[[], int]) -> None:
    try:
        run()
    except CannotRunError as problem:
        problem.tell()  # a configuration that is being edited is wrong for a moment; go on
