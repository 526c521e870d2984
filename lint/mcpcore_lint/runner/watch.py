"""`--watch`: runs again whenever a Python file, a document or the configuration changes."""

import os
from collections.abc import Callable, Sequence

from mcpcore_lint.output import CannotRunError, clear
from mcpcore_lint.paths import is_below
from mcpcore_lint.runner.groups import SKIPPED, state_of


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
    # The folder of a file is watched, since many editors replace the file, and its imports may be in the folder.
    absolute = [os.path.abspath(path) for path in paths]
    tops = sorted({path if os.path.isdir(path) else os.path.dirname(path) for path in absolute})

    def matters(_: object, path: str) -> bool:
        top = next((folder for folder in tops if is_below(path, folder)), os.path.dirname(path))
        if any(map(_skipped, os.path.relpath(os.path.dirname(path), top).split(os.sep))):
            return False
        if path in tops or path.endswith((".py", ".md", ".markdown", "pyproject.toml", ".gitignore")):
            return True
        # A new folder may bring files that are not reported one by one.
        return os.path.isdir(path) and not _skipped(os.path.basename(path))

    try:
        while True:
            first = _FirstRun(tops, run)
            existing = filter(os.path.exists, tops)
            try:
                # With a timeout, watchfiles may forget a change that happens at that moment.
                for _ in changes(*existing, watch_filter=matters, stop_event=first, rust_timeout=0):
                    clear()
                    _run(run)
            except FileNotFoundError:
                if first.done:
                    raise
                continue  # a folder was removed before it was watched
            clear()
    except KeyboardInterrupt:
        return 130


class _FirstRun:
    """Runs once the folders are watched, so that no change during or after the run is missed.

    It is the `stop_event` of watchfiles, which checks it every 50 ms while it watches.
    """

    def __init__(self, tops: Sequence[str], run: Callable[[], int]) -> None:
        self.done = False
        self._run = run
        self._tops = tops
        self._folders = self._identities()

    def is_set(self) -> bool:
        """Whether a folder was removed, replaced or came back, so that this watcher no longer sees all changes."""
        if not self.done:
            self.done = True
            _run(self._run)
        return self._folders != self._identities()

    def _identities(self) -> list[object]:
        return [state and state.inode for state in map(state_of, self._tops)]


def _skipped(name: str) -> bool:
    return name in SKIPPED or (name.startswith(".") and name not in {".", ".."})


def _run(run: Callable[[], int]) -> None:
    try:
        run()
    except CannotRunError as problem:
        problem.report()  # a configuration is invalid for a moment while it is edited
