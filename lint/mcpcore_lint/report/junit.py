"""JUnit's XML: a test case a finding; one that passed where there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from xml.etree import ElementTree as ET

from mcpcore_lint.output import escaped, printable

if TYPE_CHECKING:
    from mcpcore_lint.report import Outcome

_NONCHARACTERS: Final = {0xFFFE: "\\ufffe", 0xFFFF: "\\uffff"}
"""What XML 1.0 cannot hold, and a terminal does not mind."""


def render(outcome: Outcome) -> str:
    """The report."""
    found, failed = outcome.diagnostics, outcome.failures
    total = str(max(1, len(found) + len(failed)))
    counts = {"tests": total, "failures": str(len(found)), "errors": str(len(failed))}
    suites = ET.Element("testsuites", {"name": "mcpcore lint", **counts})
    suite = ET.SubElement(suites, "testsuite", {"name": "mcpcore lint", **counts})
    for each in found:
        path = outcome.place(each.path)
        place = f"{path}:{each.span.line}:{each.span.column}"
        case = _case(suite, f"{each.rule} {place}", path)
        case.set("line", str(each.span.line))
        failure = ET.SubElement(case, "failure", {"type": each.severity.label, "message": _line(each.message)})
        failure.text = _line(f"{place}: {each.message}") + (f"\n{_line(each.help)}" if each.help else "")
    for one in failed:
        error = ET.SubElement(
            _case(suite, one.rule or "read", outcome.place(one.path)), "error", {"message": _line(one.message)}
        )
        error.text = escaped(one.detail).translate(_NONCHARACTERS)
    if not found and not failed:
        ET.SubElement(suite, "testcase", {"name": "no findings", "classname": "mcpcore lint"})
    ET.indent(suites)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(suites, encoding="unicode")}\n'


def _case(suite: ET.Element, name: str, path: str) -> ET.Element:
    module = path.removesuffix(".py").replace("/", ".")
    return ET.SubElement(suite, "testcase", {"name": _line(name), "classname": _line(module), "file": _line(path)})


def _line(text: str) -> str:
    return printable(text).translate(_NONCHARACTERS)
