"""One line for each finding: `path:line:column: severity [rule] message`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpcore_lint.report import closed

if TYPE_CHECKING:
    from mcpcore_lint.diagnostics import Diagnostic
    from mcpcore_lint.report import Outcome


def render(outcome: Outcome) -> str:
    """The report."""
    return closed((_line(each, outcome) for each in outcome.diagnostics), outcome)


def _line(each: Diagnostic, outcome: Outcome) -> str:
    place = f"{outcome.place(each.path)}:{each.span.line}:{each.span.column}"
    line = f"{place}: {each.severity.label} [{each.rule}] {each.message}"
    if each.fix is None:
        return line
    return (
        f"{line} (fixable)" if each.fix.safety == "safe" or outcome.unsafe else f"{line} (fixable with --unsafe-fixes)"
    )
