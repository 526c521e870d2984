"""What came of a migration, and of trying what it wrote."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Final, NamedTuple

from mcpcore_lint.diagnostics import Failure
from mcpcore_lint.migrate.lowlevel import REGISTERS
from mcpcore_lint.migrate.model import Left
from mcpcore_lint.runner.patch import FixedFile

_GENERATED: Final = re.compile(
    r"\A(?:(?!from |import |\w+ *=).*\n){0,9}(?!from |import |\w+ *=).*(?:\bDO NOT EDIT\b|@generated\b)"
)
"""What the first lines of a file say, above its code, if something else writes it."""
_LINES: Final = 20
"""How many new lines of a command are shown."""
_CAUSES, _WIDTH = 10, 200
"""How many errors of tests are shown, and how much of each."""
_BAD_TEST: Final = re.compile(r"FAILED|FAIL:|ERROR: \S+ \(|ERROR \S+(?:::|\.py(?: - |$))")
"""A line of pytest or unittest about a test, which a line of a log is not."""
_TEST: Final = re.compile(r"(\S+ .*?)(?:\[.*?\])?(?= - |$)")
"""The test in such a line, and the case of it, before the error."""
_REPORT: Final = re.compile(r"^_+ (?!_ )(?:ERROR at .* of )?(.+?)(?:\[.*\])? _+$", re.MULTILINE)
"""The line of pytest above what it says about a test that failed."""
_SUMMARY: Final = re.compile(r"\b\d+ (?:passed|failed|errors?|skipped)\b.* in [\d.]+s")
"""The line of pytest below everything that it says, unless the process goes on to complain."""
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
    def end(self) -> str:
        """How it ended."""
        # A plugin or the shell may print more below the summary.
        ends = [line for line in self.lines if _SUMMARY.search(line)] or self.lines or [""]
        return f"{ends[-1]} (exit code {self.code})"

    def causes(self, explained: Collection[str] = ()) -> Counter[str]:
        """The errors that pytest shows of tests without an explanation, each with the number of tests that it ended."""
        _, *parts = _REPORT.split("\n".join(self.lines))
        reports = [text for name, text in zip(parts[::2], parts[1::2], strict=True) if name not in explained]
        # The last error of a report ended the test; those above are its causes.
        return Counter(errors[-1][:_WIDTH] for report in reports if (errors := _ERROR.findall(report)))

    @property
    def failed(self) -> list[tuple[str, str, str]]:
        """The lines about tests that failed, behind the test and the case of it."""
        lines = [line for line in self.lines if _BAD_TEST.match(line)]
        return [(match[1], match[0], line) for line in lines if (match := _TEST.match(line))]

    def difference(self, before: Ran, reasons: Mapping[tuple[str, str], str]) -> list[str]:
        """The ends of both runs, the errors of tests without a reason, and the tests with one or that failed only now.

        Args:
            before: The first run.
            reasons: Why tests fail now, by the paths of their files and their names.
        """
        old = {case for _, case, _ in before.failed}
        new: dict[str, list[str]] = {}
        for test, case, line in self.failed:
            if case not in old:
                new.setdefault(test, []).append(line)
        explained = {test: why for test in new for (path, name), why in reasons.items() if _is_of(test, path, name)}
        earlier = before.causes()
        causes = self.causes([test.partition("::")[2].replace("::", ".") for test in explained])
        alike = [
            f"{number} test{'s' * (number > 1)} ({earlier[text]} before): {text}"
            for text, number in causes.most_common(_CAUSES)
        ]
        ordered = [*explained, *(test for test in new if test not in explained)]
        tests = [_shown(test, new[test], explained.get(test, "")) for test in ordered]
        rest = [f"and {len(tests) - _LINES} more"] if len(tests) > _LINES else []
        return [f"before: {before.end}", f"after: {self.end}", *alike, *tests[:_LINES], *rest]


def _is_of(test: str, path: str, name: str) -> bool:
    """Whether a line of pytest is about a test in a file; the two may be relative to other folders."""
    file, _, inside = test.rpartition(" ")[2].partition("::")
    # The colons end both names: `test_a` is not `test_ab`, and a class that fails as a whole is explained by its test.
    return f"{name}::".startswith(f"{inside}::") and (
        f"/{path}".endswith(f"/{file}") or f"/{file}".endswith(f"/{path}")
    )


def _shown(test: str, lines: list[str], why: str = "") -> str:
    """The line about a test, or about all cases of one, with the reason."""
    if len(lines) == 1 and not why:
        return lines[0]
    cases = f" ({len(lines)} cases)" if len(lines) > 1 else ""
    return f"{test}{cases}{why and f': {why}'}"


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
    runs: tuple[Ran, ...] = ()
    """The outcome of the command before and after."""
    check: tuple[str, ...] = ()
    """What these say."""
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
    admits: bool = False
    """Whether output schemas may change; True if no tool is known."""

    @property
    def generated(self) -> list[str]:
        """The paths of the files that change and say that they are generated."""
        return [file.path for file in self.files if _GENERATED.match(file.before)]

    @property
    def adapted(self) -> list[FixedFile]:
        """The files with a low-level server whose handlers are now those of version 2."""
        made = [file for file in self.files if not REGISTERS.search(file.after.encode()) and "Server(" in file.after]
        return [file for file in made if REGISTERS.search(file.before.encode())]

    @property
    def exit_code(self) -> int:
        """0 if nothing is left to do, 1 if something is, 2 if a file could not be read or written."""
        tried = self.tried or Tried()
        return 2 if self.failures else int(bool(self.left or tried.undone or tried.broken or tried.worse))
