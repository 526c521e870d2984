"""The reports of a check. All text of the server is escaped for the reader of the format."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final
from urllib.parse import quote
from xml.etree import ElementTree as ET

from mcpcore import __version__
from mcpcore.check.model import SERVER, UNKNOWN_TOOL, Finding, Probe, Report, Score, ToolReport, rounded
from mcpcore.check.rules import CAPS, CRITERIA, LEVELS, RULES
from mcpcore.reports import counted
from mcpcore.reports.markdown import inert
from mcpcore.values import site
from mcpcore.values.escaping import terminal_line
from mcpcore.wire.redaction import redact_text

# -- the call in which something was seen, in words and as a command ---------------------------------------------------

_MAX_ARGUMENTS: Final = 160
"""Characters of arguments that a report shows."""

_MAX_SEEN: Final = 1_000
"""Characters of what was seen that a report shows; the judge cuts the texts of answers earlier."""

_MAX_NAME: Final = 128
"""Characters of a tool's name; the specification allows no more."""

_KINDS: Final = {
    "unknown-tool": "a tool that does not exist",
    "missing": "without {}",
    "wrong-type": "a wrong type for {}",
    "out-of-range": "a value out of range for {}",
    "unknown": "an unknown argument",
    "valid": "valid arguments",
    "hostile": "a large text with line feeds for {}",
    "cancelled": "a cancelled call",
}


def in_words(probe: Probe) -> str:
    """What the call tries."""
    return _KINDS[probe.kind].format(named(probe.argument))


def as_command(probe: Probe) -> str:
    """The words of `mcpcore call` after the server, cut if the arguments are long."""
    arguments = json.dumps(probe.arguments, ensure_ascii=False)
    if len(arguments) > _MAX_ARGUMENTS:
        return f"{shlex.quote(named(probe.tool))} {arguments[:_MAX_ARGUMENTS]}…"
    return f"{shlex.quote(named(probe.tool))} {shlex.quote(arguments)}"


def named(name: str) -> str:
    """The name of a tool or an argument, cut if it is longer than names are."""
    return name if len(name) <= _MAX_NAME else f"{name[:_MAX_NAME]}…"


def seen(finding: Finding) -> str:
    """What was seen, without secrets: reports are kept and shown."""
    return redact_text(finding.message[:_MAX_SEEN])


def times(finding: Finding) -> str:
    """In how many calls it was seen, unless in one."""
    return f" ({finding.count} calls)" if finding.count > 1 else ""


# -- text for a terminal: each tool with its findings, then the score with its calculation -----------------------------

_COUNTED: Final = {
    "not-called": "not called, since they may change something; --all calls them.",
    "no-contract": "without a contract in tools/list.",
    "accepts-unknown-arguments": "accept arguments that the schema does not name.",
}
"""Notes that nearly every tool of a server would have; they are only counted."""

_MAX_NAMES: Final = 50
"""Tools that a check that ended early names; the JSON has all."""


def as_text(report: Report) -> str:
    """The report."""
    about = ", ".join(filter(None, (report.server, f"protocol {report.protocol}" if report.protocol else "")))
    lines = [f"{report.target}{f' ({about})' if about else ''}", ""]
    by_tool: dict[str, list[Finding]] = {}
    for finding in report.findings:
        by_tool.setdefault(finding.tool, []).append(finding)
    if SERVER in by_tool:
        lines += [SERVER, *_findings(by_tool[SERVER]), ""]
    for subject in report.tools:
        shown = [finding for finding in by_tool.get(subject.name, ()) if finding.rule.id not in _COUNTED]
        if shown or subject.calls:
            lines += [_heading(subject), *_findings(shown), ""]
    lines += _explained(report)
    lines += _summary(report)
    return "\n".join(map(terminal_line, lines)) + "\n"


def _heading(subject: ToolReport) -> str:
    calls = counted(subject.calls, "call")
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
        counted(sum(subject.calls for subject in report.tools), "call"),
        *(counted(_count(report, level), level) for level in ("error", "warning")),
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


def _count(report: Report, level: str) -> int:
    return sum(finding.rule.level == level for finding in report.findings)


# -- JSON for programs -------------------------------------------------------------------------------------------------

VERSION: Final = 1
"""While it is 1, keys may be added, but not renamed or removed."""


def as_json(report: Report) -> str:
    """The report."""
    return dumped(
        {
            "version": VERSION,
            "target": report.target,
            "server": report.server,
            "protocol": report.protocol,
            "seed": report.seed,
            "score": _points(report.points),
            "formula": report.formula,
            "cappedBy": report.score.capped_by,
            "criteria": _json_criteria(report.score),
            "tools": [_json_tool(subject) for subject in report.tools if subject.name != UNKNOWN_TOOL],
            "findings": [_json_finding(finding) for finding in report.findings],
            "summary": {
                "calls": sum(subject.calls for subject in report.tools),
                "stopped": report.stopped,
                **{level: sum(f.rule.level == level for f in report.findings) for level in LEVELS},
            },
        }
    )


def dumped(value: object) -> str:
    """Indented JSON. What UTF-8 cannot encode is escaped."""
    text = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    return text.encode("utf-8", "backslashreplace").decode()


def _points(points: float | None) -> int | None:
    return None if points is None else rounded(points)


def _json_criteria(score: Score) -> list[dict[str, Any]]:
    return [
        {
            "id": criterion.id,
            "weight": criterion.weight,
            "met": score.met.get(criterion.id, 0),
            "judged": score.judged.get(criterion.id, 0),
        }
        for criterion in CRITERIA.values()
    ]


def _json_tool(subject: ToolReport) -> dict[str, Any]:
    assert subject.tool is not None
    return {
        "name": subject.name,
        "readOnly": subject.tool.read_only,
        "calls": subject.calls,
        "skipped": subject.skipped,
        "score": _points(subject.points),
        "criteria": _json_criteria(subject.score),
    }


def _json_finding(finding: Finding) -> dict[str, Any]:
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


# -- SARIF 2.1.0, for code scanning; OASIS, sarif-v2.1.0, sections 3.13 to 3.58 ----------------------------------------

_SARIF_SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

_PAGE: Final = "reference/check"


def as_sarif(report: Report) -> str:
    """The report."""
    used = sorted({finding.rule.id for finding in report.findings})
    page = site.page(_PAGE)
    driver = {
        "name": "mcpcore check",
        "version": __version__,
        "semanticVersion": __version__,
        **({} if page is None else {"informationUri": page}),
        "rules": [_sarif_rule(name) for name in used],
    }
    notifications = (
        [{"level": "warning", "message": {"text": f"The check ended early: {terminal_line(report.stopped)}."}}]
        if report.stopped
        else []
    )
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_sarif_result(finding, used, report) for finding in report.findings],
        "invocations": [{"executionSuccessful": not report.stopped, "toolExecutionNotifications": notifications}],
        "properties": {"score": report.points, "formula": terminal_line(report.formula)},
    }
    return dumped({"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]})


def _sarif_rule(name: str) -> dict[str, Any]:
    rule, page = RULES[name], site.page(f"{_PAGE}#{name}")
    return {
        "id": name,
        "shortDescription": {"text": rule.summary},
        "help": {"text": rule.fix},
        **({} if page is None else {"helpUri": page}),
        "defaultConfiguration": {"level": rule.level},
        "properties": {"tags": [rule.criterion or "note"]},
    }


def _sarif_result(finding: Finding, used: list[str], report: Report) -> dict[str, Any]:
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
        "message": {"text": terminal_line(text)},
        "locations": [
            {
                "physicalLocation": {"artifactLocation": {"uri": place}},
                "logicalLocations": [{"name": terminal_line(named(finding.tool)), "kind": "function"}],
            }
        ],
        "partialFingerprints": {"mcpcoreCheck/v1": hashlib.sha256(identity).hexdigest()},
    }


# -- Markdown for a pull request or a job summary ----------------------------------------------------------------------


def as_markdown(report: Report) -> str:
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
    findings = [finding for finding in report.findings if finding.rule.level != "note"]
    if findings:
        lines += ["", "| finding | tool | seen | with |", "|---|---|---|---|"]
    for finding in findings:
        call = "" if finding.probe is None else in_words(finding.probe)
        rule = f"{finding.rule.level} {finding.rule.id}: {finding.rule.summary}{times(finding)}"
        lines.append(f"| {rule} | {inert(named(finding.tool))} | {inert(seen(finding))} | {inert(call)} |")
    return "\n".join(lines) + "\n"


# -- JUnit's XML: a test case for each tool, which fails if it has a finding that is not a note ------------------------

_SUITE: Final = "mcpcore check"
_NOT_IN_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot contain, not even escaped."""


def as_junit(report: Report) -> str:
    """The report."""
    by_tool: dict[str, list[Finding]] = {}
    for finding in report.findings:
        if finding.rule.level != "note":
            by_tool.setdefault(finding.tool, []).append(finding)
    names = [*((SERVER,) if SERVER in by_tool else ()), *(subject.name for subject in report.tools)]
    skipped = {subject.name: subject.skipped for subject in report.tools if not (subject.calls and subject.judged)}
    failing = sum(name in by_tool for name in names)
    waiting = sum(name in skipped and name not in by_tool for name in names)
    early = bool(report.stopped)
    counts = {"tests": len(names) + early, "failures": failing, "errors": int(early), "skipped": waiting}
    counted = {name: str(count) for name, count in counts.items()}
    suites = ET.Element("testsuites", {"name": _SUITE, **counted})
    suite = ET.SubElement(suites, "testsuite", {"name": _xml_line(f"{_SUITE} {report.target}"), **counted})
    if early:
        case = ET.SubElement(suite, "testcase", {"name": "(to the end)", "classname": _xml_line(report.target)})
        ET.SubElement(case, "error", {"message": _xml_line(f"the check ended early: {report.stopped}")})
    for name in names:
        case = ET.SubElement(suite, "testcase", {"name": _xml_line(named(name)), "classname": _xml_line(report.target)})
        findings = by_tool.get(name)
        if findings is not None:
            message = "; ".join(finding.rule.id for finding in findings)
            failure = ET.SubElement(case, "failure", {"type": findings[0].rule.level, "message": message})
            failure.text = "\n".join(map(_described, findings))
        elif name in skipped:
            ET.SubElement(case, "skipped", {"message": _xml_line(skipped[name])})
    ET.indent(suites)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(suites, encoding="unicode")}\n'


def _described(finding: Finding) -> str:
    probe = finding.probe
    call = "" if probe is None else f"\n  with: {_xml_line(in_words(probe))}: {_xml_line(as_command(probe))}"
    rule = finding.rule
    head = f"{rule.level} {rule.id}: {rule.summary}{times(finding)}"
    return f"{head}\n  seen: {_xml_line(seen(finding))}{call}\n  fix: {rule.fix}"


def _xml_line(text: str) -> str:
    line = terminal_line(text).encode("utf-8", "backslashreplace").decode()
    return _NOT_IN_XML.sub(lambda match: f"\\u{ord(match[0]):04x}", line)


# -- the formats -------------------------------------------------------------------------------------------------------

_WRITERS: Final[Mapping[str, Callable[[Report], str]]] = {
    "text": as_text,
    "json": as_json,
    "sarif": as_sarif,
    "markdown": as_markdown,
    "junit": as_junit,
}


def render(report: Report, name: str) -> str:
    """The report in a format of `FORMATS`."""
    return _WRITERS[name](report)
