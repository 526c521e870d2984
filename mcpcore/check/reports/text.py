"""The report for a terminal: each tool with its findings, then the score with its calculation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mcpcore.check.model import SERVER, UNKNOWN_TOOL, rounded
from mcpcore.check.reports.call import as_command, in_words, named, seen, times
from mcpcore.check.rules import CAPS, CRITERIA
from mcpcore.values.escaping import terminal_line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcpcore.check.model import Finding, Report, ToolReport

_COUNTED: Final = {
    "not-called": "not called, since they may change something; --all calls them.",
    "no-contract": "without a contract in tools/list.",
    "accepts-unknown-arguments": "accept arguments that the schema does not name.",
}
"""Notes that nearly every tool of a server would have; they are only counted."""

_MAX_NAMES: Final = 50
"""Tools that a check that ended early names; the JSON has all."""


def render(report: Report) -> str:
    """The report."""
    about = ", ".join(filter(None, (report.server, f"protocol {report.protocol}" if report.protocol else "")))
    lines = [f"{report.target}{f' ({about})' if about else ''}", ""]
    by_tool: dict[str, list[Finding]] = {}
    for finding in report.findings:
        by_tool.setdefault(finding.tool, []).append(finding)
    if SERVER in by_tool:
        lines += [SERVER, *_findings(by_tool[SERVER]), ""]
    for subject in report.tools:
        found = [finding for finding in by_tool.get(subject.name, ()) if finding.rule.id not in _COUNTED]
        if found or subject.calls:
            lines += [_heading(subject), *_findings(found), ""]
    lines += _explained(report)
    lines += _summary(report)
    return "\n".join(map(terminal_line, lines)) + "\n"


def _heading(subject: ToolReport) -> str:
    calls = _counted(subject.calls, "call")
    said = [calls] if subject.points is None else [calls, f"score {rounded(subject.points)}"]
    said += [subject.skipped] if subject.skipped else []
    return f"{named(subject.name)}  {' · '.join(said)}"


def _findings(findings: list[Finding]) -> list[str]:
    lines = []
    for finding in findings:
        lines.append(f"  {finding.rule.level} {finding.rule.id}{times(finding)}: {seen(finding)}")
        if finding.probe is not None:
            lines.append(f"    with {in_words(finding.probe)}: {as_command(finding.probe)}")
    return lines


def _explained(report: Report) -> list[str]:
    """Each broken rule once, with its remedy."""
    rules = dict.fromkeys(finding.rule for finding in report.findings if finding.rule.id not in _COUNTED)
    lines: list[str] = []
    for rule in rules:
        lines += [f"{rule.id}: {rule.summary}", f"  {rule.fix}"]
    return [*lines, ""] if lines else []


def _summary(report: Report) -> list[str]:
    lines = [f"{'criterion':<10} {'weight':>6} {'met':>11}"]
    for criterion in CRITERIA.values():
        judged = report.score.judged.get(criterion.id, 0)
        counts = f"{report.score.met[criterion.id]} of {judged}" if judged else "not judged"
        lines.append(f"{criterion.id:<10} {criterion.weight:>6} {counts:>11}  {criterion.question}")
    lines.append("")
    tools = [subject for subject in report.tools if subject.name != UNKNOWN_TOOL]
    called = sum(subject.calls > 0 for subject in tools)
    if report.points is None:
        lines.append(f"No score: {report.formula}.")
    else:
        lines += [f"Score: {rounded(report.points)} of 100", f"  {report.formula}"]
        if report.score.capped_by:
            lines.append(f"  {CAPS} Here: {', '.join(report.score.capped_by)}.")
    totals = [
        f"{called} of {len(tools)} tools called",
        _counted(sum(subject.calls for subject in report.tools), "call"),
        *(_counted(_count(report, level), level) for level in ("error", "warning")),
    ]
    lines.append(f"{', '.join(totals)}.")
    if report.stopped and tools:
        lines.append(f"Judged: {_names(subject for subject in tools if subject.points is not None)}.")
        lines.append(f"Not judged to the end: {_names(subject for subject in tools if not subject.judged)}.")
    for name, words in _COUNTED.items():
        number = sum(finding.rule.id == name for finding in report.findings)
        if number:
            lines.append(f"{number} {words}")
    return lines


def _names(subjects: Iterable[ToolReport]) -> str:
    names = [named(subject.name) for subject in subjects]
    more = [f"{len(names) - _MAX_NAMES} more"] if len(names) > _MAX_NAMES else []
    return ", ".join([*names[:_MAX_NAMES], *more]) or "none"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _count(report: Report, level: str) -> int:
    return sum(finding.rule.level == level for finding in report.findings)
