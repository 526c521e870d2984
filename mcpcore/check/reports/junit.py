"""JUnit's XML: a test case for each tool, which fails if it has a finding that is not a note."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from xml.etree import ElementTree as ET

from mcpcore.check.model import SERVER
from mcpcore.check.reports.call import as_command, in_words, named, seen, times
from mcpcore.values.escaping import terminal_line

if TYPE_CHECKING:
    from mcpcore.check.model import Finding, Report

_SUITE: Final = "mcpcore check"
_NOT_IN_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot contain, not even escaped."""


def render(report: Report) -> str:
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
    suite = ET.SubElement(suites, "testsuite", {"name": _line(f"{_SUITE} {report.target}"), **counted})
    if early:
        case = ET.SubElement(suite, "testcase", {"name": "(to the end)", "classname": _line(report.target)})
        ET.SubElement(case, "error", {"message": _line(f"the check ended early: {report.stopped}")})
    for name in names:
        case = ET.SubElement(suite, "testcase", {"name": _line(named(name)), "classname": _line(report.target)})
        found = by_tool.get(name)
        if found is not None:
            message = "; ".join(finding.rule.id for finding in found)
            failure = ET.SubElement(case, "failure", {"type": found[0].rule.level, "message": message})
            failure.text = "\n".join(map(_described, found))
        elif name in skipped:
            ET.SubElement(case, "skipped", {"message": _line(skipped[name])})
    ET.indent(suites)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(suites, encoding="unicode")}\n'


def _described(finding: Finding) -> str:
    probe = finding.probe
    call = "" if probe is None else f"\n  with: {_line(in_words(probe))}: {_line(as_command(probe))}"
    rule = finding.rule
    head = f"{rule.level} {rule.id}: {rule.summary}{times(finding)}"
    return f"{head}\n  seen: {_line(seen(finding))}{call}\n  fix: {rule.fix}"


def _line(text: str) -> str:
    line = terminal_line(text).encode("utf-8", "backslashreplace").decode()
    return _NOT_IN_XML.sub(lambda found: f"\\u{ord(found[0]):04x}", line)
