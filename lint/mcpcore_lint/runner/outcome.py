"""What came of a migration, and of trying what it wrote."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final, NamedTuple

from mcpcore_lint.diagnostics import Failure
from mcpcore_lint.migrate.model import Left
from mcpcore_lint.runner.patch import FixedFile

_LINES: Final = 20
"""How many new lines of a command are shown."""
_CAUSES, _WIDTH = 10, 200
"""How many errors of tests are shown, and how much of each."""
_BAD_TEST: Final = re.compile(r"FAILED|FAIL:|ERROR: \S+ \(|ERROR \S+(?:::|\.py(?: - |$))")
"""A line of pytest or unittest about a test, which a line of a log is not."""
_REPORT: Final = re.compile(r"^_{3,} .+ _{3,}$", re.MULTILINE)
"""The line of pytest above what it says about a test that failed."""
_ERROR: Final = re.compile(r"^E +(\S.*)(?:\nE .*)*", re.MULTILINE)


class Located(NamedTuple):
    """Something of the report, with the state of its file that its line is of."""

    path: str
    left: Left
    edits: int
    """How many passes had edited the file."""


class Ran(NamedTuple):
    """The outcome of a command."""

    code: int
    lines: list[str]

    @property
    def causes(self) -> Counter[str]:
        """The errors that pytest shows, each with the number of tests that it ended."""
        reports = _REPORT.split("\n".join(self.lines))[1:]
        return Counter(errors[-1][:_WIDTH] for report in reports if (errors := _ERROR.findall(report)))

    def difference(self, before: Ran) -> list[str]:
        """The last lines of both runs, the errors of the tests that fail now, and new lines about failures."""
        old, earlier = set(before.lines), before.causes
        new = [line for line in self.lines if _BAD_TEST.match(line) and line not in old]
        ends = [
            f"{when}: {ran.lines[-1] if ran.lines else ''} (exit code {ran.code})"
            for when, ran in (("before", before), ("after", self))
        ]
        ends += [
            f"{number} test{'s' * (number > 1)} ({earlier[text]} before): {text}"
            for text, number in self.causes.most_common(_CAUSES)
        ]
        return [*ends, *new[:_LINES], *([f"and {len(new) - _LINES} more"] if len(new) > _LINES else [])]


class Tried(NamedTuple):
    """What came of trying the files."""

    untried: str = ""
    """Why nothing was tried; empty if something was."""
    undone: tuple[tuple[str, str], ...] = ()
    """The files that were put back, since they were imported before and could not be any more, each with the reason."""
    broken: tuple[tuple[str, str], ...] = ()
    """The files that cannot be imported, before and after, each with the reason."""
    tools: int = 0
    """How many tools the servers list."""
    check: tuple[str, ...] = ()
    """How the command ended before and after."""
    lacking: tuple[tuple[str, str], ...] = ()
    """The files that could not be tried, each with the reason."""
    started: tuple[tuple[str, str], ...] = ()
    """The servers that were started over stdio, each with how that ended."""
    worse: bool = False
    """Whether the command succeeded before and does not now."""


class Migration(NamedTuple):
    """The outcome of a run."""

    files: tuple[FixedFile, ...]
    """The files that change, by the paths that reports show."""
    left: tuple[Left, ...]
    """What is left; its lines are those of the files as they are after the run."""
    converted: tuple[tuple[str, str, int, str], ...]
    """The places that were converted: path, rule, line and tool."""
    failures: tuple[Failure, ...]
    tools: int
    removed: tuple[Left, ...] = ()
    """The clauses that caught everything and went, or raise again now, by their lines before the run."""
    tried: Tried | None = None
    """What came of importing the files, and of the command of the project; None if nothing was asked for."""
    parallel: tuple[str, ...] = ()
    """The functions that version 2 runs in threads, as they are not async; "every tool, …" if no tool is known."""

    @property
    def exit_code(self) -> int:
        """0 if nothing is left to do, 1 if something is, 2 if a file could not be read or written."""
        tried = self.tried or Tried()
        return 2 if self.failures else int(bool(self.left or tried.undone or tried.broken or tried.worse))
