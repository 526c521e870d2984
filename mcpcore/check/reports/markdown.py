"""Markdown for a pull request or a job summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpcore.check.model import UNKNOWN_TOOL, rounded
from mcpcore.check.reports.call import in_words, named, seen, times
from mcpcore.check.rules import CAPS, CRITERIA
from mcpcore.reports.markdown import inert

if TYPE_CHECKING:
    from mcpcore.check.model import Report


def render(report: Report) -> str:
    """The report."""
    about = ", ".join(filter(None, (report.server, f"protocol {report.protocol}" if report.protocol else "")))
    points = "no score" if report.points is None else f"{rounded(report.points)} of 100"
    lines = [f"# {inert(report.target)}: {points}", ""]
    lines += [f"{inert(about)}.", ""] if about else []
    if report.points is None:
        lines += [f"There is no score: {inert(report.formula)}.", ""]
    else:
        lines += [f"Score: {report.formula}", ""]
        lines += [f"{CAPS} Here: {', '.join(report.score.capped_by)}.", ""] if report.score.capped_by else []
    lines += ["| criterion | weight | met | judged |", "|---|---:|---:|---:|"]
    for criterion in CRITERIA.values():
        met, judged = report.score.met.get(criterion.id, 0), report.score.judged.get(criterion.id, 0)
        lines.append(f"| {criterion.question} | {criterion.weight} | {met} | {judged} |")
    lines += ["", "| tool | calls | score |", "|---|---:|---:|"]
    for subject in report.tools:
        score = subject.points if subject.name != UNKNOWN_TOOL else None
        shown = inert(subject.skipped or "") if score is None else str(rounded(score))
        lines.append(f"| {inert(named(subject.name))} | {subject.calls} | {shown} |")
    found = [finding for finding in report.findings if finding.rule.level != "note"]
    if found:
        lines += ["", "| finding | tool | seen | with |", "|---|---|---|---|"]
    for finding in found:
        call = "" if finding.probe is None else in_words(finding.probe)
        rule = f"{finding.rule.level} {finding.rule.id}: {finding.rule.summary}{times(finding)}"
        lines.append(f"| {rule} | {inert(named(finding.tool))} | {inert(seen(finding))} | {inert(call)} |")
    return "\n".join(lines) + "\n"
