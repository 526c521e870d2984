"""GitLab's code quality report."""

from typing import Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.report import Outcome, message_and_help
from mcpcore_lint.report.fingerprints import content_marks, fingerprints
from mcpcore_lint.report.json import dump

_SEVERITIES: Final = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}


def render(outcome: Outcome) -> str:
    """The report."""
    marks = content_marks(outcome.diagnostics, outcome.source)
    issues = [
        {
            "description": message_and_help(diagnostic),
            "check_name": diagnostic.rule,
            "fingerprint": fingerprint,
            "severity": _SEVERITIES[diagnostic.severity],
            "location": {
                "path": diagnostic.path,
                "positions": {
                    "begin": {"line": diagnostic.span.line, "column": diagnostic.span.column},
                    "end": {"line": diagnostic.span.end_line, "column": diagnostic.span.end_column},
                },
            },
        }
        for diagnostic, fingerprint in zip(outcome.diagnostics, fingerprints(marks), strict=True)
    ]
    issues += [
        {
            "description": failure.message,
            "check_name": "not-checked",
            "fingerprint": f"not-checked:{failure.path}:{failure.rule}:{number}",
            "severity": "critical",
            "location": {"path": failure.path or ".", "lines": {"begin": 1}},
        }
        for number, failure in enumerate(outcome.failures)
    ]
    return dump(issues)
