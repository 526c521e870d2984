"""SARIF 2.1.0, for code scanning. Source of the format: OASIS, sarif-v2.1.0, sections 3.13 to 3.58."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from mcpcore import __version__
from mcpcore.check.reports.call import as_command, in_words, named, seen, times
from mcpcore.check.reports.json import dump
from mcpcore.check.rules import RULES
from mcpcore.values import site
from mcpcore.values.escaping import terminal_line

if TYPE_CHECKING:
    from mcpcore.check.model import Finding, Report

_SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

_PAGE: Final = "reference/check"


def render(report: Report) -> str:
    """The report."""
    used = sorted({finding.rule.id for finding in report.findings})
    page = site.page(_PAGE)
    driver = {
        "name": "mcpcore check",
        "version": __version__,
        "semanticVersion": __version__,
        **({} if page is None else {"informationUri": page}),
        "rules": [_rule(name) for name in used],
    }
    notifications = (
        [{"level": "warning", "message": {"text": f"The check ended early: {_line(report.stopped)}."}}]
        if report.stopped
        else []
    )
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, used, report) for finding in report.findings],
        "invocations": [{"executionSuccessful": not report.stopped, "toolExecutionNotifications": notifications}],
        "properties": {"score": report.points, "formula": _line(report.formula)},
    }
    return dump({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]})


def _rule(name: str) -> dict[str, Any]:
    rule, page = RULES[name], site.page(f"{_PAGE}#{name}")
    return {
        "id": name,
        "shortDescription": {"text": rule.summary},
        "help": {"text": rule.fix},
        **({} if page is None else {"helpUri": page}),
        "defaultConfiguration": {"level": rule.level},
        "properties": {"tags": [rule.criterion or "note"]},
    }


def _result(finding: Finding, used: list[str], report: Report) -> dict[str, Any]:
    probe, rule = finding.probe, finding.rule
    call = "" if probe is None else f" With {in_words(probe)}: {as_command(probe)}"
    text = f"{named(finding.tool)}: {rule.summary}{times(finding)} Seen: {seen(finding)}.{call}"
    # Code scanning shows only results with a file; for a command or a URL, that is the root of the project.
    place = quote(report.file, errors="backslashreplace") if report.file is not None else "."
    identity = f"{rule.id}\0{finding.tool}".encode("utf-8", "backslashreplace")
    return {
        "ruleId": rule.id,
        "ruleIndex": used.index(rule.id),
        "level": rule.level,
        "message": {"text": _line(text)},
        "locations": [
            {
                "physicalLocation": {"artifactLocation": {"uri": place}},
                "logicalLocations": [{"name": _line(named(finding.tool)), "kind": "function"}],
            }
        ],
        "partialFingerprints": {"mcpcoreCheck/v1": hashlib.sha256(identity).hexdigest()},
    }


def _line(text: str) -> str:
    return terminal_line(text)
