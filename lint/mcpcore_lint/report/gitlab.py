"""GitLab's code quality report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.report import message_and_help
from mcpcore_lint.report.fingerprints import content_marks, fingerprints
from mcpcore_lint.report.json import dump

if TYPE_CHECKING:
    from mcpcore_lint.report import Outcome

_SEVERITIES: Final = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}


def render(outcome: Outcome) -> str:
    """The report."""
    marks = content_marks(outcome.diagnostics, outcome.source)
    issues = [
        {
            "description": message_and_help(each),
            "check_name": each.rule,
            "fingerprint": fingerprint,
            "severity": _SEVERITIES[each.severity],
            "location": {
                "path": each.path,
                "positions": {
                    "begin": {"line": each.span.line, "column": each.span.column},
                    "end": {"line": each.span.end_line, "column": each.span.end_column},
                },
            },
        }
        for each, fingerprint in zip(outcome.diagnostics, fingerprints(marks), strict=True)
    ]
    issues += [
        {
            "description": each.message,
            "check_name": "not-checked",
            "fingerprint": f"not-checked:{each.path}:{each.rule}:{number}",
            "severity": "critical",
            "location": {"path": each.path or ".", "lines": {"begin": 1}},
        }
        for number, each in enumerate(outcome.failures)
    ]
    return dump(issues)
