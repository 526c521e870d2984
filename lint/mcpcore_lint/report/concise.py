"""A line a finding: `path:line:column: severity rule message`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpcore_lint.report import summary

if TYPE_CHECKING:
    from mcpcore_lint.report import Outcome


def render(outcome: Outcome) -> str:
    """The report."""
    lines = [
        f"{outcome.place(each.path)}:{each.span.line}:{each.span.column}: {each.severity.label} [{each.rule}] {each.message}"
        f"{' (fixable)' if each.fix else ''}"
        for each in outcome.diagnostics
    ]
    lines += [f"{outcome.place(each.path)}: not checked in full: {each.message}" for each in outcome.failures]
    lines += [*outcome.notes, summary(outcome)]
    return "\n".join(lines) + "\n"
