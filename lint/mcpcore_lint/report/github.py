"""Workflow commands, which GitHub Actions shows as annotations of the changed lines.

Paths are relative to the top of the repository, as Actions expects, whatever folder the step runs in.
"""

import re
from typing import Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.output import printable
from mcpcore_lint.report import Outcome, message_and_help, summary

_COMMANDS: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(outcome: Outcome) -> str:
    """The report."""
    lines = []
    for diagnostic in outcome.diagnostics:
        span = diagnostic.span
        place = f"file={_property(diagnostic.path)},line={span.line},endLine={span.end_line},col={span.column}"
        if span.end_line == span.line:
            place += f",endColumn={span.end_column}"
        text = _text(message_and_help(diagnostic))
        lines.append(f"::{_COMMANDS[diagnostic.severity]} {place},title={_property(diagnostic.rule)}::{text}")
    lines += [
        f"::error file={_property(failure.path)},title=not checked in full::{_text(failure.message)}"
        for failure in outcome.failures
    ]
    lines += [printable(note) for note in (*outcome.notes, summary(outcome))]
    return "\n".join(lines) + "\n"


def _text(text: str) -> str:
    lines = re.split("(\r|\n)", text.replace("%", "%25"))
    return "".join({"\r": "%0D", "\n": "%0A"}.get(line, printable(line)) for line in lines)


def _property(text: str) -> str:
    return _text(text).replace(":", "%3A").replace(",", "%2C")
