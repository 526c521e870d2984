"""Workflow commands, which GitHub Actions shows as annotations of the changed lines.

Paths are relative to the top of the repository, as Actions expects, whatever folder the step runs in.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.output import printable
from mcpcore_lint.report import message_and_help, summary

if TYPE_CHECKING:
    from mcpcore_lint.report import Outcome

_COMMANDS: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(outcome: Outcome) -> str:
    """The report."""
    lines = []
    for each in outcome.diagnostics:
        span = each.span
        place = f"file={_property(each.path)},line={span.line},endLine={span.end_line},col={span.column}"
        if span.end_line == span.line:
            place += f",endColumn={span.end_column}"
        lines.append(
            f"::{_COMMANDS[each.severity]} {place},title={_property(each.rule)}::{_text(message_and_help(each))}"
        )
    lines += [
        f"::error file={_property(each.path)},title=not checked in full::{_text(each.message)}"
        for each in outcome.failures
    ]
    lines += [printable(each) for each in (*outcome.notes, summary(outcome))]
    return "\n".join(lines) + "\n"


def _text(text: str) -> str:
    lines = re.split("(\r|\n)", text.replace("%", "%25"))
    return "".join({"\r": "%0D", "\n": "%0A"}.get(each, printable(each)) for each in lines)


def _property(text: str) -> str:
    return _text(text).replace(":", "%3A").replace(",", "%2C")
