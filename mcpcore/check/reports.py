"""The reports of a check. All text of the server is escaped for the reader of the format."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final
from urllib.parse import quote
from xml.etree import ElementTree as ET

from mcpcore import __version__
from mcpcore.check import LEVELS
from mcpcore.check.model import SERVER, UNKNOWN_TOOL, Finding, Probe, Report, ToolReport
from mcpcore.check.rules import GRADES, QUESTIONS, RULES, Question
from mcpcore.reports import counted
from mcpcore.reports.markdown import inert
from mcpcore.values import site
from mcpcore.values.escaping import terminal_line
from mcpcore.wire.redaction import redact_text

# -- the call in which something was seen, in words and as a command ---------------------------------------------------

# Characters of arguments that a report shows.
_MAX_ARGUMENTS: Final = 160

# Characters of what was seen that a report shows; the judge cuts the texts of answers earlier.
_MAX_SEEN: Final = 1_000

# Characters of a tool's name; the specification allows no more.
_MAX_NAME: Final = 128

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


# -- text for a terminal: each tool with its findings, then the grades with their evidence -----------------------------

# Notes that nearly every tool of a server would have; they are only counted.
_COUNTED: Final = {
    "not-called": "not called, because the call may change something; --all makes such calls.",
    "no-contract": "without a contract in tools/list.",
    "accepts-unknown-arguments": "accept arguments that the schema does not name.",
}

# Tools that a check that ended early names; the JSON has all.
_MAX_NAMES: Final = 50


def as_text(report: Report) -> str:
    """The report."""
    about = _about(report)
    lines = [f"{report.target}{f' ({about})' if about else ''}", ""]
    by_tool = _by_tool(report.findings)
    if SERVER in by_tool:
        lines += [SERVER, *_findings(by_tool[SERVER]), ""]
    for subject in report.tools:
        shown = [finding for finding in by_tool.get(subject.name, ()) if finding.rule.id not in _COUNTED]
        if shown or subject.calls:
            lines += [_heading(subject), *_findings(shown), ""]
    lines += _explained(report)
    lines += _summary(report)
    return "\n".join(map(terminal_line, lines)) + "\n"


def _by_tool(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    by_tool: dict[str, list[Finding]] = {}
    for finding in findings:
        by_tool.setdefault(finding.tool, []).append(finding)
    return by_tool


def _about(report: Report) -> str:
    return ", ".join(filter(None, (report.server, f"protocol {report.protocol}" if report.protocol else "")))


def _heading(subject: ToolReport) -> str:
    said = [counted(subject.calls, "call")]
    if subject.tool is not None:
        grades = {question: subject.grade(question) for question in QUESTIONS}
        said += [f"{name} {grade}" for name, grade in grades.items() if grade not in {"yes", "not tried"}]
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
    lines = [f"{'question':<30} {'grade':<9} evidence"]
    for question, asked in QUESTIONS.items():
        lines.append(f"{asked:<30} {report.grade(question):<9} {evidence(report, question)}".rstrip())
    lines.append("")
    tools = [subject for subject in report.tools if subject.name != UNKNOWN_TOOL]
    calls = counted(sum(subject.calls for subject in report.tools), "call")
    lines.append(f"{report.called} of {len(tools)} tools called, {calls}, {report.totals}.")
    if report.stopped:
        lines.append(f"The check ended early: {report.stopped}.")
        if tools:
            lines.append(f"Judged: {_names(subject for subject in tools if subject.calls and subject.judged)}.")
            lines.append(f"Judged only in part: {_names(subject for subject in tools if not subject.judged)}.")
    elif not report.called:
        lines.append(_NOTHING_TRIED)
    for name, words in _COUNTED.items():
        number = sum(finding.rule.id == name for finding in report.findings)
        if number:
            lines.append(f"{number} {words}")
    return lines


_NOTHING_TRIED: Final = (
    "Nothing was tried: no tool was called. Annotate tools that change nothing with readOnlyHint, or check a "
    "disposable server with --all."
)


def evidence(report: Report, question: Question) -> str:
    """The calls behind a grade: how many are all right, how many only a reader can judge, and the broken rules."""
    if report.grade(question) == "not tried":
        return ""
    counts = report.marks[question]
    judged = counts["met"] + counts["warning"] + counts["error"]
    parts = [f"{counts['met']} of {counted(judged, 'call')}"] if judged else []
    parts += [f"{counts['note']} unclear"] if counts["note"] else []
    rules: Counter[str] = Counter()
    for finding in report.findings:
        if finding.rule.question == question and finding.rule.level != "note":
            rules[finding.rule.id] += finding.count
    findings = ", ".join(f"{RULES[name].level} {name} in {counted(number, 'call')}" for name, number in rules.items())
    return ", ".join(parts) + (f": {findings}" if findings else "")


def _names(subjects: Iterable[ToolReport]) -> str:
    names = [named(subject.name) for subject in subjects]
    more = [f"{len(names) - _MAX_NAMES} more"] if len(names) > _MAX_NAMES else []
    return ", ".join([*names[:_MAX_NAMES], *more]) or "none"


# -- JSON for programs -------------------------------------------------------------------------------------------------

VERSION: Final = 2
"""While it is 2, keys may be added, but not renamed or removed. Version 1 had a score from 0 to 100."""


def as_json(report: Report) -> str:
    """The report."""
    return dumped(
        {
            "version": VERSION,
            "target": report.target,
            "server": report.server,
            "protocol": report.protocol,
            "seed": report.seed,
            "grades": {
                name: {"question": asked, **_json_grade(report, name), "evidence": evidence(report, name)}
                for name, asked in QUESTIONS.items()
            },
            "tools": [
                {
                    "name": subject.name,
                    "readOnly": subject.tool.read_only,
                    "calls": subject.calls,
                    "skipped": subject.skipped,
                    "grades": {name: _json_grade(subject, name) for name in QUESTIONS},
                }
                for subject in report.tools
                if subject.tool is not None
            ],
            "findings": [_json_finding(finding) for finding in report.findings],
            "summary": {
                "calls": sum(subject.calls for subject in report.tools),
                "called": report.called,
                "stopped": report.stopped,
                **{str(level): report.count(level) for level in LEVELS},
            },
        }
    )


def dumped(value: object) -> str:
    """Indented JSON. What UTF-8 cannot encode is escaped."""
    text = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    return text.encode("utf-8", "backslashreplace").decode()


def _json_grade(subject: Report | ToolReport, question: Question) -> dict[str, Any]:
    counts = subject.marks[question]
    calls = {"met": counts["met"], "missed": counts["error"] + counts["warning"], "unclear": counts["note"]}
    return {"grade": subject.grade(question), **calls}


def _json_finding(finding: Finding) -> dict[str, Any]:
    probe = finding.probe
    return {
        "rule": finding.rule.id,
        "level": finding.rule.level,
        "question": finding.rule.question,
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

    def object_of(properties: dict[str, Any]) -> dict[str, Any]:
        return {"type": "object", "properties": properties, "required": list(properties)}

    def of_each_question(schema: dict[str, Any]) -> dict[str, Any]:
        return object_of({name: schema for name in QUESTIONS})  # noqa: C420 - a copy for each

    grade = {
        "grade": {"enum": list(GRADES), "description": "; ".join(f"{name}: {when}" for name, when in GRADES.items())},
        "met": {**count, "description": "The calls that are all right."},
        "missed": {**count, "description": "The calls with an error or a warning."},
        "unclear": {**count, "description": "The calls that only a reader can judge."},
    }
    tool = object_of(
        {
            "name": text,
            "readOnly": {"type": "boolean"},
            "calls": count,
            "skipped": {**text, "description": "Why it was not called, or not to the end; empty otherwise."},
            "grades": of_each_question({"$ref": "#/$defs/grade"}),
        }
    )
    call = object_of({"kind": text, "tool": text, "says": text, "arguments": {"type": "object"}})
    finding = object_of(
        {
            "rule": text,
            "level": {"enum": list(LEVELS)},
            "question": {"enum": [*QUESTIONS, None]},
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
        "description": f"Version {VERSION}, written by `mcpcore check --format json`.",
        **object_of(
            {
                "version": {"const": VERSION},
                "target": text,
                "server": text,
                "protocol": text,
                "seed": {"type": "integer"},
                "grades": of_each_question(
                    {"$ref": "#/$defs/grade", **object_of({"question": text, "evidence": text})}
                ),
                "tools": {"type": "array", "items": tool},
                "findings": {"type": "array", "items": finding},
                "summary": object_of(
                    {
                        "calls": count,
                        "called": {**count, "description": "The tools that were called."},
                        "stopped": {**text, "description": "Why the check ended early; empty otherwise."},
                        **{level: {**count, "description": "The findings of this level."} for level in LEVELS},
                    }
                ),
            }
        ),
        "$defs": {"grade": object_of(grade)},
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
        "properties": {"grades": {name: report.grade(name) for name in QUESTIONS}},
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
        "properties": {"tags": [rule.question or "server"]},
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
    about = _about(report)
    lines = [f"# {inert(report.target)}: {report.totals}", ""]
    lines += [f"{inert(about)}.", ""] if about else []
    lines += [f"The check ended early: {inert(report.stopped)}.", ""] if report.stopped else []
    lines += [] if report.called else [_NOTHING_TRIED, ""]
    lines += ["| question | grade | evidence |", "|---|---|---|"]
    lines += [f"| {asked} | {report.grade(name)} | {evidence(report, name)} |" for name, asked in QUESTIONS.items()]
    lines += ["", f"| tool | calls | {' | '.join(QUESTIONS)} |", f"|---|---:|{'---|' * len(QUESTIONS)}"]
    for subject in report.tools:
        if subject.tool is not None:
            grades = " | ".join(subject.grade(name) for name in QUESTIONS)
            calls = f"{subject.calls}, {inert(subject.skipped)}" if subject.skipped else str(subject.calls)
            lines.append(f"| {inert(named(subject.name))} | {calls} | {grades} |")
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
# What XML 1.0 cannot contain, not even escaped.
_NOT_IN_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def as_junit(report: Report) -> str:
    """The report."""
    by_tool = _by_tool(finding for finding in report.findings if finding.rule.level != "note")
    names = [*((SERVER,) if SERVER in by_tool else ()), *(subject.name for subject in report.tools)]
    skipped = {subject.name: subject.skipped for subject in report.tools if not (subject.calls and subject.judged)}
    failing = sum(name in by_tool for name in names)
    waiting = sum(name in skipped and name not in by_tool for name in names)
    early = bool(report.stopped)
    counts = {"tests": len(names) + early, "failures": failing, "errors": int(early), "skipped": waiting}
    counted = {name: str(count) for name, count in counts.items()}
    suites = ET.Element("testsuites", {"name": _SUITE, **counted})
    suite = ET.SubElement(suites, "testsuite", {"name": _xml_line(f"{_SUITE} {report.target}"), **counted})
    properties = ET.SubElement(suite, "properties")
    for name in QUESTIONS:
        ET.SubElement(properties, "property", {"name": f"grade.{name}", "value": report.grade(name)})
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
