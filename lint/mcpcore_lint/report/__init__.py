"""Reports: one module a format, each a function of the outcome to text."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Final

from mcpcore_lint.diagnostics import Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcpcore_lint.diagnostics import Diagnostic, Failure

FORMATS: Final = ("full", "concise", "json", "sarif", "github", "gitlab", "junit")
"""The formats, each a module of this package with a function `render`."""

PAGES: Final = "https://mcpcore.dev/rules/"
"""Where the page of each rule stands."""


@dataclass(frozen=True, slots=True)
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
    summaries: Mapping[str, str] = field(default_factory=dict[str, str])
    """The one-line summary of each rule, by id."""

    def count(self, severity: Severity) -> int:
        """How many findings are of a severity."""
        return sum(each.severity is severity for each in self.diagnostics)


def render(name: str, outcome: Outcome) -> str:
    """The report in a format, ending with a line break unless it is empty."""
    made: str = import_module(f"mcpcore_lint.report.{name}").render(outcome)
    return made


def page(rule: str) -> str:
    """The address of a rule's page."""
    return f"{PAGES}{rule}"


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
    return f"{told} ({', '.join(more)})" if more else told
