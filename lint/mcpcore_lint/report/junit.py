"""JUnit's XML: a test case a finding; one that passed where there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from mcpcore_lint.report import Outcome


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
        failure = ET.SubElement(case, "failure", {"type": each.severity.label, "message": _clean(each.message)})
        failure.text = _clean(f"{place}: {each.message}" + (f"\n{each.help}" if each.help else ""))
    for one in failed:
        error = ET.SubElement(
            _case(suite, one.rule or "read", outcome.place(one.path)), "error", {"message": _clean(one.message)}
        )
        error.text = _clean(one.detail)
    if not found and not failed:
        ET.SubElement(suite, "testcase", {"name": "no findings", "classname": "mcpcore lint"})
    ET.indent(suites)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(suites, encoding="unicode")}\n'


def _case(suite: ET.Element, name: str, path: str) -> ET.Element:
    module = path.removesuffix(".py").replace("/", ".")
    return ET.SubElement(suite, "testcase", {"name": _clean(name), "classname": _clean(module), "file": _clean(path)})


def _clean(text: str) -> str:
    """`text` with escapes for the characters that XML 1.0 cannot hold."""
    return "".join(
        character
        if character in "\t\n\r"
        or "\x20" <= character <= "\ud7ff"
        or "\ue000" <= character <= "\ufffd"
        or character > "\uffff"
        else f"\\x{ord(character):02x}"
        if ord(character) < 0x100
        else f"\\u{ord(character):04x}"
        for character in text
    )
