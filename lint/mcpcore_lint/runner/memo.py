"""Remembers the outcome of each command line, and repeats it if nothing changed that it depends on.

Most runs find every file as the previous run left it. Such a run needs neither the settings nor the findings. It only
checks that the files and folders of the outcome have the same state, and that missing ones are still missing. This
module is imported before all others and imports next to nothing: a run over 870,000 unchanged lines takes 0.02 s, while
the imports of a run that reads its cache take 0.08 s.
"""

from __future__ import annotations

import marshal
import os
import sys
from _imp import source_hash
from _operator import attrgetter
from time import time_ns

TYPE_CHECKING = False  # importing typing takes 8 ms, a third of the whole run
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, Final

MAGIC: Final = b"mcpcore-lint cache, format 9\n"
KEPT: Final = 64
"""How many command lines are remembered."""
RACY_NS: Final = 100_000_000
"""A file that changed so shortly before a run may change again without getting another time."""
_ENVIRONMENT: Final = ("NO_COLOR", "FORCE_COLOR", "TERM")
"""Variables that can change an outcome."""
_BETWEEN: Final = b"\0"
_CHECKSUM = 8
_state = attrgetter("st_mtime_ns", "st_size", "st_ino")
"""The state of a file. It is read thousands of times in each run, so this is a C function."""


class Memo:
    """The outcome of one command line, in a file of the cache."""

    def __init__(self, arguments: Iterable[str]) -> None:
        out = sys.stdout
        environment = tuple(os.environ.get(name) for name in _ENVIRONMENT)
        stream = (out.encoding, out.errors, out.isatty())
        where = (os.getcwd(), sys.version, tuple(sys.path), __file__)
        self.key = repr((tuple(arguments), where, stream, environment))
        self.started = time_ns()
        self.file = os.path.join(folder(), f"{checksum(self.key.encode('utf-8', 'surrogatepass')).hex()}.memo")

    def outcome(self) -> tuple[str, str | None, int] | None:
        """The output, the file that it was written to, if any, and the exit code; None if these may have changed."""
        stored = load(self.file, self.key)
        if stored is None:
            return None
        text, output_file, code, paths, states, absent = stored
        try:
            if _packed(map(_state, map(os.stat, paths.split(_BETWEEN)))) != states:
                return None
        except (OSError, ValueError):
            return None
        return None if any(map(os.path.lexists, absent)) else (text, output_file, code)

    def keep(
        self, text: str, code: int, inputs: Iterable[str], repositories: Iterable[str], *, file: str | None = None
    ) -> bool:
        """Save an outcome; False if that fails, which only makes the next run slower.

        Args:
            text: The output.
            code: The exit code.
            inputs: The files and folders that the outcome depends on. Those that are missing must stay missing.
            repositories: Folders of git, which change with each command of git. Only new ones matter.
            file: The file that the output was written to; None for standard output.
        """
        states: dict[str, tuple[int, int, int]] = {}
        absent = [path for path in repositories if not os.path.exists(path)]
        limit = self.started - RACY_NS
        # The current folder is part of the key, and short paths are faster to look up.
        here = os.path.join(os.getcwd(), "")
        try:
            for path in dict.fromkeys(path.removeprefix(here) or os.curdir for path in inputs):
                try:
                    now = os.stat(path)
                except FileNotFoundError:
                    absent.append(path)
                    continue
                if now.st_mtime_ns > limit or now.st_ctime_ns > limit:
                    return False  # it may have changed after it was read
                states[path] = _state(now)
        except (OSError, ValueError):
            return False
        # One byte string for all paths is read faster, and needs no encoding for os.stat.
        paths = _BETWEEN.join(map(os.fsencode, states))
        kept = store(self.file, self.key, (text, file, code, paths, _packed(states.values()), tuple(absent)))
        if kept:
            self._forget_oldest(os.path.dirname(self.file))
        return kept

    @staticmethod
    def _forget_oldest(directory: str) -> None:
        """Remove all but the newest: a hook names different files each time."""
        try:
            with os.scandir(directory) as scan:
                memos = [(entry.stat().st_mtime_ns, entry.path) for entry in scan if entry.name.endswith(".memo")]
            for _, path in sorted(memos)[:-KEPT]:
                os.unlink(path)
        except OSError:
            return


current: Memo | None = None
"""The memo of this process, if it runs one command line."""


def replay(arguments: Iterable[str], *, leave: Callable[[int], object] = sys.exit) -> None:
    """Repeat the outcome of a command line and end the process. Returns if the outcome is not known.

    Args:
        arguments: The command line without the program.
        leave: Ends the process with an exit code.
    """
    global current  # noqa: PLW0603 - a process runs one command line
    try:
        memo = Memo(arguments)
    except (OSError, AttributeError):  # the current folder is gone, or standard output is closed
        return
    outcome = memo.outcome()
    if outcome is None:
        current = memo
        return
    text, file, code = outcome
    if file is not None:
        from mcpcore_lint.runner.files import write_text

        try:
            write_text(file, text)
        except OSError:
            current = memo
            return
        leave(code)
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError:
        from mcpcore_lint.output import CannotRunError, writing

        try:
            with writing(sys.stdout):
                raise
        except CannotRunError as problem:
            code = problem.report()
    leave(code)


def load(file: str, key: str) -> Any:
    """What was stored in a file of the cache under a key; None if it is missing or damaged."""
    try:
        with open(file, "rb") as stored:
            raw = stored.read()
    except OSError:
        return None
    head = len(MAGIC) + _CHECKSUM
    # The checksum comes first: damaged content must not reach marshal.
    if not raw.startswith(MAGIC) or checksum(memoryview(raw)[head:]) != raw[len(MAGIC) : head]:
        return None
    try:
        stored_key, data = marshal.loads(memoryview(raw)[head:])  # noqa: S302 - the checksum is right; marshal runs no code
    except (ValueError, EOFError, TypeError):
        return None
    return data if stored_key == key else None


def store(file: str, key: str, data: Any) -> bool:
    """Write a file of the cache completely or not at all; False if that fails, which only makes the next run slower."""
    from mcpcore_lint.runner.files import put_in_place

    payload = marshal.dumps((key, data))
    try:
        os.makedirs(os.path.dirname(file), exist_ok=True)
        put_in_place(file, b"".join((MAGIC, checksum(payload), payload)))
    except OSError:
        return False
    return True


def folder() -> str:
    """The default folder of caches: `MCPCORE_CACHE_DIR`, or the user's cache folder.

    It is outside of the project, so that a repository cannot bring its own results.
    """
    configured = os.environ.get("MCPCORE_CACHE_DIR")
    if configured:
        return os.path.abspath(configured)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.expanduser("~\\AppData\\Local")
    elif sys.platform == "darwin":
        base = os.path.expanduser("~/Library/Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(base, "mcpcore", "lint")


def _packed(states: Iterable[tuple[int, int, int]]) -> bytes:
    """States as bytes. Comparing them takes less time than reading the old ones."""
    return marshal.dumps(tuple(states), 2)  # only format 2 gives equal bytes for equal values


def checksum(content: bytes | memoryview) -> bytes:
    """A checksum against accidental damage.

    It is the interpreter's `importlib.util.source_hash`, since importing hashlib loads OpenSSL, which takes as long as
    the rest of this module. Two command lines with the same checksum overwrite each other's file.
    """
    return source_hash(0, content)
