"""The last outcome of each command line, given again where nothing that it rested on has changed.

Most runs find everything as the run before left it. Such a run needs neither the settings nor the findings, only the
certainty that all is as it was: the state of every file and folder that the outcome rested on, and the absence of those
that would have counted. This module is loaded before anything else of the linter, and loads next to nothing.
"""

from __future__ import annotations

import gc
import marshal
import os
import sys
from _imp import source_hash
from _operator import attrgetter
from time import time_ns

# What `typing` would take to load is more than this module has to spend.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Final

MAGIC: Final = b"mcpcore-lint memo, format 7\n"
KEPT: Final = 64
"""Command lines whose outcome is kept."""
RACY_NS: Final = 100_000_000
"""What changed so shortly before a run may change again without its time showing it."""
MAX_BYTES: Final = 1 << 28
_ENVIRONMENT: Final = ("NO_COLOR", "FORCE_COLOR", "TERM", "HOME", "USERPROFILE", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL")
"""Variables that an outcome can depend on."""
_BETWEEN: Final = b"\0"
_SUM = 8
_state = attrgetter("st_mtime_ns", "st_size", "st_ino")
"""What tells whether a file is as it was. Asked of thousands in each run: what runs here runs in C."""


class Memo:
    """The place of one command line's outcome."""

    def __init__(self, arguments: Iterable[str]) -> None:
        out = sys.stdout
        environment = tuple(os.environ.get(name) for name in _ENVIRONMENT)
        stream = (out.encoding, out.errors, out.isatty())
        where = (os.getcwd(), sys.version, tuple(sys.path), __file__)
        self.key = repr((tuple(arguments), where, stream, environment))
        self.started = time_ns()
        self.file = os.path.join(folder(), f"{_sum(self.key.encode('utf-8', 'surrogatepass')).hex()}.memo")

    def outcome(self) -> tuple[str, str | None, int] | None:
        """What the command line said the last time, in which file if in one, and its exit code, if that still holds."""
        try:
            with open(self.file, "rb") as file:
                raw = file.read(MAX_BYTES)
        except OSError:
            return None
        head = len(MAGIC) + _SUM
        # The sum is taken before anything is read from it: a damaged file must not reach the reader.
        if not raw.startswith(MAGIC) or _sum(memoryview(raw)[head:]) != raw[len(MAGIC) : head]:
            return None
        try:
            key, text, file_said, code, paths, states, there, absent = marshal.loads(memoryview(raw)[head:])  # noqa: S302 - runs nothing
        except (ValueError, EOFError, TypeError):
            return None
        if key != self.key:
            return None
        try:
            if _packed(map(_state, map(os.stat, paths.split(_BETWEEN)))) != states:
                return None
            for path in there:
                os.stat(path)
        except (OSError, ValueError):
            return None
        if any(map(os.path.lexists, absent)):
            return None
        return text, file_said, code

    def keep(
        self,
        text: str,
        code: int,
        inputs: Iterable[str],
        there_or_not: Iterable[str] = (),
        *,
        file: str | None = None,
    ) -> bool:
        """Keep an outcome; False where it cannot be kept, which harms nothing but the next run's speed.

        Args:
            text: What was said.
            code: The exit code.
            inputs: Every file and folder that the outcome rests on; those that are not there must stay away.
            there_or_not: Files and folders of which only this counts, whether they are there.
            file: Where it was said; None for standard output.
        """
        states: dict[str, tuple[int, int, int]] = {}
        there: list[str] = []
        absent: list[str] = []
        limit = self.started - RACY_NS
        # The current folder is part of the key, and short paths are found sooner.
        here = os.path.join(os.getcwd(), "")
        try:
            for path in dict.fromkeys(each.removeprefix(here) or os.curdir for each in inputs):
                try:
                    now = os.stat(path)
                except FileNotFoundError:
                    absent.append(path)
                    continue
                if now.st_mtime_ns > limit or now.st_ctime_ns > limit:
                    # It may have changed after it was read.
                    return False
                states[path] = _state(now)
        except (OSError, ValueError):
            return False
        for path in dict.fromkeys(there_or_not):
            (there if os.path.exists(path) else absent).append(path)
        # Paths as bytes, which need not be encoded anew by each run, and all in one, which is read sooner.
        found = (_BETWEEN.join(map(os.fsencode, states)), _packed(states.values()), tuple(there), tuple(absent))
        payload = marshal.dumps((self.key, text, file, code, *found))
        kept = put(self.file, MAGIC, _sum(payload), payload)
        if kept:
            self._forget_oldest(os.path.dirname(self.file))
        return kept

    @staticmethod
    def _forget_oldest(directory: str) -> None:
        """Leave the newest alone: a hook names other files each time."""
        try:
            with os.scandir(directory) as scan:
                found = [(each.stat().st_mtime_ns, each.path) for each in scan if each.name.endswith(".memo")]
            for _, path in sorted(found)[:-KEPT]:
                os.unlink(path)
        except OSError:
            return


current: Memo | None = None
"""That of this process, where it was started for one command line."""


def replay(arguments: Iterable[str], *, leave: Callable[[int], object] = sys.exit) -> None:
    """End the process with the outcome of these arguments if it is known; else note them, so that it will be.

    Args:
        arguments: The command line, without the program.
        leave: What ends the process, given the exit code once all is written.
    """
    global current  # noqa: PLW0603 - one process is one command line
    try:
        memo = Memo(arguments)
    except (OSError, AttributeError):  # the current folder is gone, or there is no output
        return
    collects = gc.isenabled()
    gc.disable()  # there is no garbage in what is made here
    found = memo.outcome()
    if collects:
        gc.enable()
    if found is None:
        current = memo
        return
    text, file, code = found
    if file is not None:
        from mcpcore_lint.runner.writing import write_text

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
    except OSError as error:
        # Nothing is to be flushed into the closed pipe or the full disk at the end either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        # Who reads may have enough, which changes nothing of what was found; Windows says EINVAL of such a pipe.
        from errno import EINVAL

        if not isinstance(error, BrokenPipeError) and error.errno != EINVAL:
            if sys.stderr is not None:
                sys.stderr.write(f"mcpcore lint: stdout cannot be written: {error.strerror or error}\n")
            code = 2
    leave(code)


def put(target: str, *pieces: bytes) -> bool:
    """Put a file into a cache, whole or not at all; False where that cannot be done."""
    import tempfile

    directory = os.path.dirname(target)
    temporary = ""
    try:
        os.makedirs(directory, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(prefix=".new-", dir=directory)
        with os.fdopen(descriptor, "wb") as file:
            file.writelines(pieces)
        os.replace(temporary, target)
    except OSError:
        if temporary:
            try:
                os.unlink(temporary)
            except OSError:
                return False
        return False
    return True


def folder() -> str:
    """Where caches lie unless settings say otherwise: as `MCPCORE_CACHE_DIR` says, or in the user's cache folder.

    Not in the project by default: what a repository brings along must not be taken for a result.
    """
    given = os.environ.get("MCPCORE_CACHE_DIR")
    if given:
        return os.path.abspath(given)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.expanduser("~\\AppData\\Local")
    elif sys.platform == "darwin":
        base = os.path.expanduser("~/Library/Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(base, "mcpcore", "lint")


def _packed(states: Iterable[tuple[int, int, int]]) -> bytes:
    """States as they are kept: to write those of now takes less than to read those of before."""
    return marshal.dumps(tuple(states), 2)  # of all formats the one that depends on the values alone


def _sum(content: bytes | memoryview) -> bytes:
    """What damage by accident changes: who may write here could make the linter say anything anyway.

    Two command lines with one sum share a place, and each keeps the other from being remembered. The interpreter has
    this hash for its own files, as `importlib.util.source_hash`; `hashlib` would load OpenSSL, which takes as long as
    all else that is done here.
    """
    return source_hash(0, content)
