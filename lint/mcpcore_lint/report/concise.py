"""One line for each finding: `path:line:column: severity [rule] message`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpcore_lint.output import printable
from mcpcore_lint.report import summary

if TYPE_CHECKING:
    from mcpcore_lint.diagnostics import Diagnostic
    from mcpcore_lint.report import Outcome


def render(outcome: Outcome) -> str:
    """The report."""
    lines = [
        f"{outcome.place(each.path)}:{each.span.line}:{each.span.column}: {each.severity.label} "
        f"[{each.rule}] {each.message}{_fixable(each, outcome)}"
        for each in outcome.diagnostics
    ]
    lines += [f"{outcome.place(each.path)}: not checked in full: {each.message}" for each in outcome.failures]
    return "".join(f"{printable(line)}\n" for line in [*lines, *outcome.notes, summary(outcome)])


def _fixable(each: Diagnostic, outcome: Outcome) -> str:
    if each.fix is None:
        return ""
    return " (fixable)" if each.fix.safety == "safe" or outcome.unsafe else " (fixable with --unsafe-fixes)"
