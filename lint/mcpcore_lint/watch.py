"""`--watch`: the run again whenever a Python file, a document or the configuration changes."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from mcpcore_lint.discover import SKIPPED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_CLEAR = "\x1b[2J\x1b[H"


class WatchError(click.ClickException):
    """Watching cannot be done here."""

    exit_code = 2


def watch(paths: Sequence[str], run: Callable[[], int]) -> int:
    """Run, and run again on each change, until interrupted; the exit code of the last run.

    Raises:
        WatchError: If the library that watches is not installed.
    """
    try:
        from watchfiles.main import watch as changes
    except ImportError as error:
        raise WatchError(
            '--watch needs watchfiles, which is not installed; run: pip install "mcpcore[watch]"'
        ) from error
    code = _shown(run)
    there = [os.path.abspath(path) for path in paths if os.path.exists(path)]

    def matters(_: object, path: str) -> bool:
        top = next((each for each in there if path.startswith(os.path.join(each, ""))), os.path.dirname(path))
        folders = os.path.relpath(os.path.dirname(path), top).split(os.sep)
        if any(each in SKIPPED or (each.startswith(".") and each not in {".", ".."}) for each in folders):
            return False
        return path.endswith((".py", ".md", "pyproject.toml"))

    for _changed in changes(*there, watch_filter=matters, raise_interrupt=False):
        click.echo(_CLEAR if sys.stdout.isatty() else "", nl=False)
        code = _shown(run)
    return code


def _shown(run: Callable[[], int]) -> int:
    try:
        return run()
    except click.ClickException as error:
        error.show()  # a configuration that is being edited is wrong for a moment; go on
        return error.exit_code
