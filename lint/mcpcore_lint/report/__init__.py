"""Reports: one module a format, each a function of the outcome to text."""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, Final

from mcpcore_lint.dataclasses import light
from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.output import printable

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpcore_lint.diagnostics import Diagnostic, Failure

FORMATS: Final = ("full", "concise", "json", "sarif", "github", "gitlab", "junit")
"""The formats, each a module of this package with a function `render`."""

PAGES: Final = "https://mcpcore.dev/rules/"
"""Where the page of each rule stands."""


@light
class Outcome:
    """What a run found, ready to be told."""

    diagnostics: tuple[Diagnostic, ...]
    failures: tuple[Failure, ...] = ()
    files: int = 0
    tools: int = 0
    suppressed: int = 0
    baselined: int = 0
    fixed: int = 0
    source: Callable[[str], str | None] = lambda path: None  # noqa: ARG005
    """The text of a file by its path in the report, for excerpts; None where it cannot be had."""
    place: Callable[[str], str] = lambda path: path
    """A path of the report as the reader can open it: relative to the folder that the command runs in."""
    color: bool = False
    notes: tuple[str, ...] = ()
    unsafe: bool = False
    """Whether unsafe fixes were asked for."""
    unseen: str = ""
    """Why the run saw no tools, where it should have seen some."""
    columns: int | None = None
    """How wide a narrow terminal is that the report goes to."""

    def count(self, severity: Severity) -> int:
        """How many findings are of a severity."""
        return sum(each.severity is severity for each in self.diagnostics)


def render(name: str, outcome: Outcome) -> str:
    """The report in a format, ending with a line break unless it is empty."""
    made: str = import_module(f"mcpcore_lint.report.{name}").render(outcome)
    return made


def statistics(name: str, outcome: Outcome) -> str:
    """How often each rule found something, most often first: as JSON in that format, as a table in all others."""
    from collections import Counter

    counts = Counter((each.rule, each.severity) for each in outcome.diagnostics)
    fixable = Counter((each.rule, each.severity) for each in outcome.diagnostics if each.fix)
    rows = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    if name == "json":
        import json

        found = [
            {"rule": rule, "severity": severity.label, "count": count, "fixable": fixable[rule, severity]}
            for (rule, severity), count in rows
        ]
        report = {"version": 1, "statistics": found, "failures": len(outcome.failures), "files": outcome.files}
        return json.dumps(report, indent=2) + "\n"
    width = max((len(rule) for rule, _ in counts), default=0)
    lines = []
    for (rule, severity), count in rows:
        mendable = f"  {fixable[rule, severity]} fixable" if fixable[rule, severity] else ""
        lines.append(f"{count:>6}  {rule:<{width}}  {severity.label:<7}{mendable}".rstrip())
    lines += [f"{outcome.place(each.path)}: not checked in full: {each.message}" for each in outcome.failures]
    return "".join(f"{printable(line)}\n" for line in [*lines, *outcome.notes, summary(outcome)])


def lines_of(text: str) -> list[str]:
    """The lines as Python counts them: a form feed ends none."""
    return re.split(r"\r\n|\r|\n", text) if "\r" in text else text.split("\n")


def page(rule: str) -> str | None:
    """The address of a rule's page; None for the rules of other packages."""
    from mcpcore_lint import ids

    return f"{PAGES}{rule}" if ids.is_id(rule) else None


def told(each: Diagnostic) -> str:
    """A finding and what to do next, for readers that have one text for both."""
    return f"{each.message}. Next: {each.help}" if each.help else each.message


def summary(outcome: Outcome) -> str:
    """The findings counted, in a sentence."""
    parts = [
        f"{count} {severity.label if count == 1 or severity is Severity.INFO else severity.label + 's'}"
        for severity in sorted(Severity, reverse=True)
        if (count := outcome.count(severity))
    ]
    files = f"{outcome.files} file{'' if outcome.files == 1 else 's'}"
    tools = f"{outcome.tools} tool{'' if outcome.tools == 1 else 's'}"
    told = f"{', '.join(parts) if parts else 'No findings'} in {files}, {tools}"
    more = [
        f"{count} {word}"
        for count, word in (
            (outcome.fixed, "fixed"),
            (outcome.suppressed, "suppressed"),
            (outcome.baselined, "in the baseline"),
            (len(outcome.failures), "not checked in full"),
        )
        if count
    ]
    if more:
        told = f"{told} ({', '.join(more)})"
    return f"{told}: {outcome.unseen}" if outcome.unseen else told
