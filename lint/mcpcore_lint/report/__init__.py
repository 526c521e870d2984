"""Reports: one module for each format, with a function `render` that turns an outcome into text."""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING

from mcpcore_lint.dataclasses import light
from mcpcore_lint.diagnostics import Diagnostic, Failure, Severity
from mcpcore_lint.output import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mcpcore_lint.codemods.rewrite import Rewriters


@light
class Outcome:
    """The outcome of a run, for a report."""

    diagnostics: tuple[Diagnostic, ...]
    failures: tuple[Failure, ...] = ()
    files: int = 0
    tools: int = 0
    suppressed: int = 0
    baselined: int = 0
    fixed: int = 0
    source: Callable[[str], str | None] = lambda path: None  # noqa: ARG005
    """The text of a file by its report path, for excerpts; None if it cannot be read."""
    rewriters: Rewriters | None = None
    """They make the edits of fixes; None leaves them out."""
    place: Callable[[str], str] = lambda path: path
    """A report path relative to the current folder, so that the reader can open it."""
    color: bool = False
    notes: tuple[str, ...] = ()
    unsafe: bool = False
    """Whether unsafe fixes were requested."""
    unseen: str = ""
    """Why the run saw no tools, if some were expected."""

    def count(self, severity: Severity) -> int:
        """The number of findings with a severity."""
        return sum(diagnostic.severity is severity for diagnostic in self.diagnostics)


def render(name: str, outcome: Outcome) -> str:
    """The report in one of the formats. It ends with a line break unless it is empty."""
    text: str = import_module(f"mcpcore_lint.report.{name}").render(outcome)
    return text


def statistics(name: str, outcome: Outcome) -> str:
    """The number of findings of each rule, the largest first: as JSON for that format, and otherwise as a table."""
    from collections import Counter

    counts = Counter((diagnostic.rule, diagnostic.severity) for diagnostic in outcome.diagnostics)
    fixable = Counter((diagnostic.rule, diagnostic.severity) for diagnostic in outcome.diagnostics if diagnostic.fix)
    rows = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
    if name == "json":
        import json

        rules = [
            {"rule": rule, "severity": severity.label, "count": count, "fixable": fixable[rule, severity]}
            for (rule, severity), count in rows
        ]
        report = {"version": 1, "statistics": rules, "failures": len(outcome.failures), "files": outcome.files}
        return json.dumps(report, indent=2) + "\n"
    width = max((len(rule) for rule, _ in counts), default=0)
    lines = []
    for (rule, severity), count in rows:
        fixes = f"  {fixable[rule, severity]} fixable" if fixable[rule, severity] else ""
        lines.append(f"{count:>6}  {rule:<{width}}  {severity.label:<7}{fixes}".rstrip())
    return closed(lines, outcome)


def closed(lines: Iterable[str], outcome: Outcome) -> str:
    """A report of lines, with those for failures, the notes and the summary at the end."""
    failures = [
        f"{outcome.place(failure.path)}: not checked in full: {failure.message}" for failure in outcome.failures
    ]
    return "".join(f"{printable(line)}\n" for line in [*lines, *failures, *outcome.notes, summary(outcome)])


def lines_of(text: str) -> list[str]:
    """The lines as Python counts them. A form feed does not end a line."""
    return re.split(r"\r\n|\r|\n", text) if "\r" in text else text.split("\n")


def page(rule: str) -> str | None:
    """The address of a rule's page; None for rules of other packages, and while the project has no site."""
    from mcpcore.values import site
    from mcpcore_lint import ids

    return site.page(f"rules/{rule}") if ids.is_id(rule) else None


def message_and_help(diagnostic: Diagnostic) -> str:
    """The message and the next step in one text, for formats with one field for both."""
    return f"{diagnostic.message}. Next: {diagnostic.help}" if diagnostic.help else diagnostic.message


def summary(outcome: Outcome) -> str:
    """The closing line, which counts the findings, and the places if some findings were combined."""
    if not outcome.files and not outcome.failures:
        return "No Python files were found, so nothing was checked"
    parts = [
        f"{count} {severity.label if count == 1 or severity is Severity.INFO else severity.label + 's'}"
        for severity in sorted(Severity, reverse=True)
        if (count := outcome.count(severity))
    ]
    files = f"{outcome.files} file{'' if outcome.files == 1 else 's'}"
    tools = f"{outcome.tools} tool{'' if outcome.tools == 1 else 's'}"
    text = f"{', '.join(parts) if parts else 'No findings'} in {files}, {tools}"
    places = sum(diagnostic.places for diagnostic in outcome.diagnostics)
    extra = {
        "places": places if places > len(outcome.diagnostics) else 0,
        "fixed": outcome.fixed,
        "suppressed": outcome.suppressed,
        "in the baseline": outcome.baselined,
        "not checked in full": len(outcome.failures),
    }
    counts = ", ".join(f"{count} {word}" for word, count in extra.items() if count)
    return f"{text}{f' ({counts})' if counts else ''}{f': {outcome.unseen}' if outcome.unseen else ''}"
