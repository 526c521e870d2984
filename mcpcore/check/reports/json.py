"""JSON for programs. While `version` is 1, keys may be added but not renamed or removed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from mcpcore.check.model import UNKNOWN_TOOL, rounded
from mcpcore.check.reports.call import in_words, seen
from mcpcore.check.rules import CRITERIA, LEVELS

if TYPE_CHECKING:
    from mcpcore.check.model import Finding, Report, Score, ToolReport

VERSION: Final = 1


def render(report: Report) -> str:
    """The report."""
    return dump(
        {
            "version": VERSION,
            "target": report.target,
            "server": report.server,
            "protocol": report.protocol,
            "seed": report.seed,
            "score": _points(report.points),
            "formula": report.formula,
            "cappedBy": report.score.capped_by,
            "criteria": _criteria(report.score),
            "tools": [_tool(subject) for subject in report.tools if subject.name != UNKNOWN_TOOL],
            "findings": [_finding(finding) for finding in report.findings],
            "summary": {
                "calls": sum(subject.calls for subject in report.tools),
                "stopped": report.stopped,
                **{level: sum(f.rule.level == level for f in report.findings) for level in LEVELS},
            },
        }
    )


def dump(value: object) -> str:
    """Indented JSON. What UTF-8 cannot encode is escaped."""
    text = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    return text.encode("utf-8", "backslashreplace").decode()


def _points(points: float | None) -> int | None:
    return None if points is None else rounded(points)


def _criteria(score: Score) -> list[dict[str, Any]]:
    return [
        {
            "id": criterion.id,
            "weight": criterion.weight,
            "met": score.met.get(criterion.id, 0),
            "judged": score.judged.get(criterion.id, 0),
        }
        for criterion in CRITERIA.values()
    ]


def _tool(subject: ToolReport) -> dict[str, Any]:
    assert subject.tool is not None
    return {
        "name": subject.name,
        "readOnly": subject.tool.read_only,
        "calls": subject.calls,
        "skipped": subject.skipped,
        "score": _points(subject.points),
        "criteria": _criteria(subject.score),
    }


def _finding(finding: Finding) -> dict[str, Any]:
    probe = finding.probe
    return {
        "rule": finding.rule.id,
        "level": finding.rule.level,
        "criterion": finding.rule.criterion,
        "tool": finding.tool,
        "summary": finding.rule.summary,
        "seen": seen(finding),
        "fix": finding.rule.fix,
        "calls": finding.count,
        "call": None
        if probe is None
        else {"kind": probe.kind, "tool": probe.tool, "says": in_words(probe), "arguments": probe.arguments},
    }


def json_schema() -> dict[str, Any]:
    """The JSON Schema of the report."""
    text, count = {"type": "string"}, {"type": "integer", "minimum": 0}
    score = {"type": ["integer", "null"], "minimum": 0, "maximum": 100}

    def object_of(properties: dict[str, Any]) -> dict[str, Any]:
        return {"type": "object", "properties": properties, "required": list(properties)}

    criteria = {
        "type": "array",
        "items": object_of({"id": {"enum": list(CRITERIA)}, "weight": count, "met": count, "judged": count}),
    }
    tool = object_of(
        {
            "name": text,
            "readOnly": {"type": "boolean"},
            "calls": count,
            "skipped": {**text, "description": "Why it was not called, or not to the end; empty otherwise."},
            "score": score,
            "criteria": criteria,
        }
    )
    call = object_of({"kind": text, "tool": text, "says": text, "arguments": {"type": "object"}})
    finding = object_of(
        {
            "rule": text,
            "level": {"enum": list(LEVELS)},
            "criterion": {"enum": [*CRITERIA, None]},
            "tool": text,
            "summary": text,
            "seen": text,
            "fix": text,
            "calls": {**count, "description": "The number of calls in which it was seen."},
            "call": {"anyOf": [call, {"type": "null"}], "description": "The first of these calls."},
        }
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The report of mcpcore check",
        "description": "Written by `mcpcore check --format json`.",
        **object_of(
            {
                "version": {"const": VERSION},
                "target": text,
                "server": text,
                "protocol": text,
                "seed": {"type": "integer"},
                "score": {**score, "description": "null if no tool was called, or the check ended early."},
                "formula": {**text, "description": "The calculation of the score with its numbers."},
                "cappedBy": {
                    "type": "array",
                    "items": text,
                    "description": "The rules whose errors lower the score to a cap.",
                },
                "criteria": criteria,
                "tools": {"type": "array", "items": tool},
                "findings": {"type": "array", "items": finding},
                "summary": object_of({"calls": count, "stopped": text, **dict.fromkeys(LEVELS, count)}),
            }
        ),
    }
