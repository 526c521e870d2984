"""SARIF 2.1.0, for code scanning. Source of the format: OASIS, sarif-v2.1.0, sections 3.13 to 3.58."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from mcpcore_lint.diagnostics import Diagnostic, Severity, Span
from mcpcore_lint.report import Outcome, message_and_help, page
from mcpcore_lint.report.fingerprints import content_marks, fingerprints
from mcpcore_lint.report.json import dump

if TYPE_CHECKING:
    from mcpcore_lint.codemods.rewrite import Rewriters

_LEVELS: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_ROOT: Final = "%SRCROOT%"


def render(outcome: Outcome) -> str:
    """The report."""
    from mcpcore import __version__
    from mcpcore.values import site

    # Only the rules with findings: each result names its rule by the index in this list.
    used = sorted({diagnostic.rule for diagnostic in outcome.diagnostics})
    marks = fingerprints(content_marks(outcome.diagnostics, outcome.source))
    pages = site.page("rules/")
    driver = {
        "name": "mcpcore lint",
        "version": __version__,
        "semanticVersion": __version__,
        **({} if pages is None else {"informationUri": pages}),
        "rules": [_rule(name) for name in used],
    }
    failures = [
        {
            "level": "error",
            "message": {"text": failure.message},
            "locations": [{"physicalLocation": {"artifactLocation": _artifact(failure.path)}}],
        }
        for failure in outcome.failures
    ]
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "newlineSequences": ["\r\n", "\n", "\r"],
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The root of the project."}}},
        "results": [
            _result(diagnostic, used.index(diagnostic.rule), mark, outcome.rewriters)
            for diagnostic, mark in zip(outcome.diagnostics, marks, strict=True)
        ],
        "invocations": [{"executionSuccessful": not failures, "toolExecutionNotifications": failures}],
    }
    schema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
    return dump({"$schema": schema, "version": "2.1.0", "runs": [run]})


def _rule(name: str) -> dict[str, Any]:
    from mcpcore_lint.rules import all_rules

    rule, address = all_rules().get(name), page(name)
    entry: dict[str, Any] = {"id": name} | ({"helpUri": address} if address is not None else {})
    if rule is not None:
        entry |= {
            "shortDescription": {"text": _plain(rule.summary)},
            "fullDescription": {"text": _plain(rule.why)},
            "help": {
                "text": f"{_plain(rule.how_to_fix)} See: mcpcore lint --explain {name}",
                "markdown": f"{rule.how_to_fix}\n\nSee: `mcpcore lint --explain {name}`",
            },
            "defaultConfiguration": {"level": _LEVELS[rule.severity]},
            "properties": {"tags": [rule.family]},
        }
    return entry


def _result(diagnostic: Diagnostic, index: int, mark: str, rewriters: Rewriters | None) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": diagnostic.rule,
        "ruleIndex": index,
        "level": _LEVELS[diagnostic.severity],
        "message": {"text": message_and_help(diagnostic)},
        "locations": [{"physicalLocation": _location(diagnostic.path, diagnostic.span)}],
        "partialFingerprints": {"mcpcore/v1": mark},
    }
    if diagnostic.related:
        result["relatedLocations"] = [
            {"id": number, "physicalLocation": _location(place.path, place.span), "message": {"text": place.message}}
            for number, place in enumerate(diagnostic.related, 1)
        ]
    edits = rewriters.edits(diagnostic) if rewriters is not None else ()
    source = rewriters.source(diagnostic.path) if rewriters is not None else None
    if diagnostic.fix is not None and edits and source is not None:
        replacements = [
            {
                "deletedRegion": _region(Span(*source.position(edit.start), *source.position(edit.end))),
                "insertedContent": {"text": edit.text},
            }
            for edit in edits
        ]
        change = {"artifactLocation": _artifact(diagnostic.path), "replacements": replacements}
        result["fixes"] = [{"description": {"text": diagnostic.fix.title}, "artifactChanges": [change]}]
    return result


def _region(span: Span) -> dict[str, int]:
    # A rule of another package may end a span in column 0 of a later line, and the format counts from 1.
    end = max(span.end_column, 1)
    return {"startLine": span.line, "startColumn": span.column, "endLine": span.end_line, "endColumn": end}


def _location(path: str, span: Span) -> dict[str, Any]:
    return {"artifactLocation": _artifact(path), "region": _region(span)}


def _artifact(path: str) -> dict[str, str]:
    # A name on Linux may have bytes that are not UTF-8, which `quote` refuses as text.
    raw = path.encode("utf-8", "surrogateescape")
    if path.startswith("/"):
        return {"uri": f"file://{quote(raw)}"}
    # A drive of Windows, whose colon and slashes stay readable.
    if path[1:3] in {":/", ":\\"}:
        return {"uri": f"file:///{quote(raw, safe='/:')}"}
    # Relative to a root without an address, since the report is read on another machine than it was written on.
    return {"uri": quote(raw) or ".", "uriBaseId": _ROOT}


def _plain(text: str) -> str:
    return text.replace("`", "")
