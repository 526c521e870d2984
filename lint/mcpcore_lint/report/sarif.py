"""SARIF 2.1.0, for code scanning. Source of the format: OASIS, sarif-v2.1.0, sections 3.13 to 3.58."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from mcpcore_lint.codemods.rewrite import Rewriters
from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.report import PAGES, message_and_help, page
from mcpcore_lint.report.fingerprints import fingerprints
from mcpcore_lint.report.json import dump

if TYPE_CHECKING:
    from mcpcore_lint.diagnostics import Diagnostic, Span
    from mcpcore_lint.report import Outcome
    from mcpcore_lint.syntax.source import Source

_LEVELS: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_ROOT: Final = "%SRCROOT%"


def render(outcome: Outcome) -> str:
    """The report."""
    from mcpcore_lint.rules import all_rules

    used = sorted({each.rule for each in outcome.diagnostics})
    known = all_rules()
    rules = []
    for name in used:
        rule = known.get(name)
        entry: dict[str, Any] = {"id": name}
        if (address := page(name)) is not None:
            entry["helpUri"] = address
        if rule is not None:
            entry |= {
                "shortDescription": {"text": _plain(rule.summary)},
                "fullDescription": {"text": _plain(rule.why)},
                "help": {"text": _plain(rule.how_to_fix), "markdown": rule.how_to_fix},
                "defaultConfiguration": {"level": _LEVELS[rule.severity]},
                "properties": {"tags": [rule.family]},
            }
        rules.append(entry)
    marks = fingerprints(outcome.diagnostics, outcome.source)
    rewriters = Rewriters(outcome.source)
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "mcpcore lint",
                "version": _version(),
                "semanticVersion": _version(),
                "informationUri": PAGES,
                "rules": rules,
            }
        },
        "columnKind": "unicodeCodePoints",
        "newlineSequences": ["\r\n", "\n", "\r"],
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The root of the project."}}},
        "results": [
            _result(each, used.index(each.rule), mark, rewriters)
            for each, mark in zip(outcome.diagnostics, marks, strict=True)
        ],
        "invocations": [
            {
                "executionSuccessful": not outcome.failures,
                "toolExecutionNotifications": [
                    {
                        "level": "error",
                        "message": {"text": each.message},
                        "locations": [{"physicalLocation": {"artifactLocation": _artifact(each.path)}}],
                    }
                    for each in outcome.failures
                ],
            }
        ],
    }
    report = {
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [run],
    }
    return dump(report)


def _result(each: Diagnostic, index: int, mark: str, rewriters: Rewriters) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": each.rule,
        "ruleIndex": index,
        "level": _LEVELS[each.severity],
        "message": {"text": message_and_help(each)},
        "locations": [{"physicalLocation": _location(each.path, each.span)}],
        "partialFingerprints": {"mcpcore/v1": mark},
    }
    if each.related:
        result["relatedLocations"] = [
            {"id": number, "physicalLocation": _location(place.path, place.span), "message": {"text": place.message}}
            for number, place in enumerate(each.related, 1)
        ]
    edits = rewriters.edits(each)
    if each.fix is not None and edits:
        source = rewriters.source(each.path)
        assert source is not None
        replacements = [
            {"deletedRegion": _region(source, edit.start, edit.end), "insertedContent": {"text": edit.text}}
            for edit in edits
        ]
        result["fixes"] = [
            {
                "description": {"text": each.fix.title},
                "artifactChanges": [{"artifactLocation": _artifact(each.path), "replacements": replacements}],
            }
        ]
    return result


def _region(source: Source, start: int, end: int) -> dict[str, int]:
    line, column = source.position(start)
    end_line, end_column = source.position(end)
    return {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}


def _location(path: str, span: Span) -> dict[str, Any]:
    region = {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": max(span.end_column, 1),
    }
    return {"artifactLocation": _artifact(path), "region": region}


def _artifact(path: str) -> dict[str, str]:
    raw = path.encode("utf-8", "surrogateescape")
    if path.startswith("/"):
        return {"uri": f"file://{quote(raw)}"}
    if path[1:3] in {":/", ":\\"}:
        return {"uri": f"file:///{quote(raw, safe='/:')}"}
    return {"uri": quote(raw) or ".", "uriBaseId": _ROOT}


def _plain(text: str) -> str:
    return text.replace("`", "")


def _version() -> str:
    from mcpcore import __version__

    return __version__
