"""JUnit's XML: one failed test case for each finding, or one passed test case without findings."""

from typing import Final
from xml.etree import ElementTree as ET

from mcpcore_lint.output import escaped, printable
from mcpcore_lint.report import Outcome

_NONCHARACTERS: Final = {0xFFFE: "\\ufffe", 0xFFFF: "\\uffff"}
"""Characters that XML 1.0 cannot contain but terminals can show."""


def render(outcome: Outcome) -> str:
    """The report."""
    findings, failed = outcome.diagnostics, outcome.failures
    total = str(max(1, len(findings) + len(failed)))
    counts = {"tests": total, "failures": str(len(findings)), "errors": str(len(failed))}
    suites = ET.Element("testsuites", {"name": "mcpcore lint", **counts})
    suite = ET.SubElement(suites, "testsuite", {"name": "mcpcore lint", **counts})
    for finding in findings:
        path = outcome.place(finding.path)
        place = f"{path}:{finding.span.line}:{finding.span.column}"
        case = _case(suite, f"{finding.rule} {place}", path)
        case.set("line", str(finding.span.line))
        failure = ET.SubElement(case, "failure", {"type": finding.severity.label, "message": _line(finding.message)})
        failure.text = _line(f"{place}: {finding.message}") + (f"\n{_line(finding.help)}" if finding.help else "")
    for problem in failed:
        case = _case(suite, problem.rule or "read", outcome.place(problem.path))
        error = ET.SubElement(case, "error", {"message": _line(problem.message)})
        error.text = escaped(problem.detail).translate(_NONCHARACTERS)
    if not findings and not failed:
        ET.SubElement(suite, "testcase", {"name": "no findings", "classname": "mcpcore lint"})
    ET.indent(suites)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(suites, encoding="unicode")}\n'


def _case(suite: ET.Element, name: str, path: str) -> ET.Element:
    module = path.removesuffix(".py").replace("/", ".")
    return ET.SubElement(suite, "testcase", {"name": _line(name), "classname": _line(module), "file": _line(path)})


def _line(text: str) -> str:
    return printable(text).translate(_NONCHARACTERS)
