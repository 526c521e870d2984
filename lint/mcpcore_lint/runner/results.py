"""The outcome of checking a file (`FileResult`), a project (`Report`) and the projects of a command (`Result`)."""

import os
from collections.abc import Iterable
from typing import Final, NamedTuple, TypeVar

from mcpcore_lint.dataclasses import cached_method
from mcpcore_lint.diagnostics import Diagnostic, Failure, Fix, Related, grouped
from mcpcore_lint.paths import below
from mcpcore_lint.records import ToolRecord
from mcpcore_lint.runner.files import content_of

T = TypeVar("T", "Diagnostic", "Failure", "Related")


class FileResult(NamedTuple):
    """The result of checking a file."""

    path: str
    """As diagnostics show it; empty for files that have nothing to do with MCP, and so cannot have any."""
    digest: bytes
    """Identifies the content; empty if the result must not be cached."""
    has_suppressions: bool = False
    diagnostics: tuple[Diagnostic, ...] = ()
    """The findings before suppressions. Some may be in other files."""
    failures: tuple[Failure, ...] = ()
    tools: tuple[ToolRecord, ...] = ()
    external: tuple[str | None, ...] = ()
    """The tools of other servers that the file lists as `external_tools=`; None for unknown names."""
    consulted: tuple[str, ...] = ()
    """Absolute paths of the other files that the result depends on."""
    missing: tuple[str, ...] = ()
    """Absolute paths, without `.py`, of imported modules that do not exist."""


def failed(failure: Failure) -> FileResult:
    """The result of a file that could not be checked."""
    return FileResult(failure.path, b"", failures=(failure,))


class Report(NamedTuple):
    """The outcome of a run over one project.

    ```python
    from mcpcore_lint import lint_paths

    report = lint_paths(folder)
    if not report.diagnostics and not report.failures:
        print(f"no findings in {report.files} files")
    ```
    """

    diagnostics: tuple[Diagnostic, ...] = ()
    """The findings that are not suppressed, in the order of files and lines."""
    failures: tuple[Failure, ...] = ()
    """The reasons why the run is incomplete, such as unreadable files."""
    files: int = 0
    """The number of Python files."""
    tools: tuple[ToolRecord, ...] = ()
    """Every tool, resource and prompt."""
    suppressed: int = 0
    """The number of suppressed findings."""
    judged: int = 0
    """The number of files that were checked again instead of being read from the cache."""
    inputs: tuple[str, ...] | None = None
    """Other files and folders that the outcome depends on; None if they are not all known."""


class Result:
    """The outcome of a command: the reports of all projects, with paths relative to one folder."""

    def __init__(self, base: str) -> None:
        """Start empty. `base` is the top of the repository, or else the outermost project."""
        self.base = base
        self.diagnostics: list[Diagnostic] = []
        self.failures: list[Failure] = []
        self.files = 0
        self.tools = 0
        """The number of tools, without those that tests register."""
        self.registered = 0
        """The same number with resources and prompts."""
        self.suppressed = 0
        self.inputs: list[str] | None = []
        """Files and folders that the outcome depends on; None if they are not all known."""
        self.texts: dict[str, str | None] = {}
        """Texts by report path, as they were checked or, if that is unknown, as they were first read."""

    def absolute(self, path: str) -> str:
        """The file behind a report path."""
        return os.path.normpath(os.path.join(self.base, path))

    def source(self, path: str) -> str | None:
        """The text of a file by its report path."""
        if path not in self.texts:
            raw = content_of(self.absolute(path))
            self.texts[path] = None if raw is None else decoded(path, raw)
        return self.texts[path]

    @cached_method
    def place(self, path: str) -> str:
        """A report path as seen from the current folder, or the absolute path if that is shorter."""
        absolute = self.absolute(path) if path else self.base
        try:
            relative = os.path.relpath(absolute)
        except ValueError:  # another drive
            relative = absolute
        return min(relative, absolute, key=len).replace(os.sep, "/")

    def shown(self, absolute: str) -> str:
        """The report path of a file."""
        return below(absolute, self.base)

    def add(self, report: Report, root: str) -> None:
        """Add the report of a project."""

        def moved(item: T) -> T:
            """A finding, a related place or a failure, with its path relative to the base."""
            if root == self.base:
                return item
            return item._replace(path=below(os.path.normpath(os.path.join(root, item.path)), self.base))

        self.diagnostics += (
            moved(diagnostic)._replace(related=tuple(map(moved, diagnostic.related)))
            for diagnostic in report.diagnostics
        )
        self.failures += map(moved, report.failures)
        self.files += report.files
        registered = [tool for tool in report.tools if not tool.in_test]
        self.registered += len(registered)
        # A tool that each mode of a server registers is one tool.
        serving = {tool.server for tool in registered if tool.flavour == "lowlevel" and tool.name is not None}
        tools = [
            tool
            for tool in registered
            # The handler that passes the calls on is not one of the tools.
            if tool.kind == "tool" and not (tool.flavour == "lowlevel" and tool.name is None and tool.server in serving)
        ]
        self.tools += len({tool if tool.name is None else (tool.name, tool.handler, tool.path) for tool in tools})
        self.suppressed += report.suppressed
        if report.inputs is None:
            self.inputs = None
        elif self.inputs is not None:
            self.inputs += report.inputs


def decoded(path: str, raw: bytes) -> str:
    """The text of a Python file, even if it is not valid Python."""
    from mcpcore_lint.engine.syntax.source import Source, SourceError

    try:
        return Source.from_bytes(path, raw).text
    except SourceError:
        return raw.decode("utf-8", "replace")


# -- findings with the same cause --------------------------------------------------------------------------------------

# A helper that builds a failure for a hundred tools is fixed in one place, so it is one finding that names the tools.
# On a server without mcpcore every tool of a file may fail in the same wrong way, so a report has one entry for it.
# Suppressions, the baseline and `--changed-since` still apply to each place.

_NAMED: Final = 3
"""How many tools a message names. The others are counted."""


def name_tools(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Combine the findings that several tools share, and name the tools at the end of the message."""
    merged: dict[object, Diagnostic] = {}
    for number, diagnostic in enumerate(diagnostics):
        if not diagnostic.tools:
            merged[number] = diagnostic
            continue
        key = (diagnostic.rule, diagnostic.path, diagnostic.span, diagnostic.message)
        first = merged.get(key)
        if first is not None:
            diagnostic = first._replace(  # noqa: PLW2901 - the same finding, with one more tool
                tools=(*first.tools, *diagnostic.tools), related=(*first.related, *diagnostic.related)
            )
        merged[key] = diagnostic
    return [_named(diagnostic) if diagnostic.tools else diagnostic for diagnostic in merged.values()]


def _named(diagnostic: Diagnostic) -> Diagnostic:
    tools = sorted(set(diagnostic.tools))
    more = len(tools) - _NAMED
    names = ", ".join(tools[:_NAMED]) + (f" and {more} more" if more > 0 else "")
    return diagnostic._replace(
        message=f"{diagnostic.message} ({'tools' if len(tools) > 1 else 'tool'}: {names})",
        tools=tuple(tools),
        related=tuple(sorted(set(diagnostic.related))),
    )


def fold(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Combine the findings of one rule in one file where they fold. The others become places of the first."""
    # A finding that does not fold stays alone.
    folded = grouped(
        diagnostics, lambda finding: (finding.rule, finding.severity, finding.path) if finding.folds else id(finding)
    )
    return [_together(group) if len(group) > 1 else group[0] for group in folded.values()]


def _together(group: list[Diagnostic]) -> Diagnostic:
    first, *others = group
    places = [Related(other.path, other.span, other.message) for other in others]
    fixes = [diagnostic.fix for diagnostic in group if diagnostic.fix is not None]
    fix = fixes[0] if fixes else None
    if fix is not None and len(fixes) > 1:
        # An edit that two of them share is made once.
        edits = tuple(dict.fromkeys(edit for finding in fixes for edit in finding.edits))
        safe = all(finding.safety == "safe" for finding in fixes)
        fix = Fix(f"{fix.title}, and {len(fixes) - 1} more", edits, "safe" if safe else "unsafe")
    return first._replace(
        message=f"{first.message}; {len(others)} more like it in this file",
        related=(*first.related, *places),
        tools=tuple(
            sorted({tool for finding in group for tool in (finding.tools or (finding.tool,)) if tool is not None})
        ),
        fix=fix,
        places=len(group),
    )
