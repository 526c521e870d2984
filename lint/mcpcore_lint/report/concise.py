"""One line for each finding: `path:line:column: severity [rule] message`."""

from mcpcore_lint.diagnostics import Diagnostic
from mcpcore_lint.report import Outcome, closed


def render(outcome: Outcome) -> str:
    """The report."""
    return closed((_line(diagnostic, outcome) for diagnostic in outcome.diagnostics), outcome)


def _line(diagnostic: Diagnostic, outcome: Outcome) -> str:
    place = f"{outcome.place(diagnostic.path)}:{diagnostic.span.line}:{diagnostic.span.column}"
    line = f"{place}: {diagnostic.severity.label} [{diagnostic.rule}] {diagnostic.message}"
    if diagnostic.fix is None:
        return line
    return (
        f"{line} (fixable)"
        if diagnostic.fix.safety == "safe" or outcome.unsafe
        else f"{line} (fixable with --unsafe-fixes)"
    )
