"""JSON for programs. While `version` is 1, keys may be added but not renamed or removed."""

import json
from typing import Any

from mcpcore_lint.diagnostics import Diagnostic, Severity, Span
from mcpcore_lint.report import Outcome, page


def render(outcome: Outcome) -> str:
    """The report."""
    report = {
        "version": 1,
        "diagnostics": [_diagnostic(diagnostic, outcome) for diagnostic in outcome.diagnostics],
        "failures": [
            {
                "path": outcome.place(failure.path),
                "rule": failure.rule,
                "message": failure.message,
                "detail": failure.detail,
            }
            for failure in outcome.failures
        ],
        "summary": {
            "files": outcome.files,
            "tools": outcome.tools,
            "suppressed": outcome.suppressed,
            "baselined": outcome.baselined,
            "fixed": outcome.fixed,
            **{severity.label: outcome.count(severity) for severity in sorted(Severity, reverse=True)},
        },
        "notes": [*outcome.notes, *filter(None, [outcome.unseen])],
    }
    return dump(report)


def dump(report: object) -> str:
    """Indented JSON. Only what UTF-8 cannot encode is escaped, such as invalid bytes in a file name."""
    text = json.dumps(report, indent=2, ensure_ascii=False) + "\n"
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _diagnostic(diagnostic: Diagnostic, outcome: Outcome) -> dict[str, Any]:
    return {
        "rule": diagnostic.rule,
        "severity": diagnostic.severity.label,
        "path": outcome.place(diagnostic.path),
        **_span(diagnostic.span),
        "message": diagnostic.message,
        "help": diagnostic.help,
        "tool": diagnostic.tool or (diagnostic.tools[0] if len(diagnostic.tools) == 1 else None),
        "tools": list(diagnostic.tools),
        "url": page(diagnostic.rule),
        "related": [
            {"path": outcome.place(place.path), **_span(place.span), "message": place.message}
            for place in diagnostic.related
        ],
        "fix": _fix(diagnostic, outcome),
    }


def _span(span: Span) -> dict[str, int]:
    return {"line": span.line, "column": span.column, "endLine": span.end_line, "endColumn": span.end_column}


def _fix(diagnostic: Diagnostic, outcome: Outcome) -> dict[str, Any] | None:
    if diagnostic.fix is None or outcome.rewriters is None:
        return None
    edits = [{"start": edit.start, "end": edit.end, "text": edit.text} for edit in outcome.rewriters.edits(diagnostic)]
    return {"title": diagnostic.fix.title, "safety": diagnostic.fix.safety, "edits": edits} if edits else None
