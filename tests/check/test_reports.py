"""Reports: complete, valid for the programs that read them, and not to be forged by a server."""

from __future__ import annotations

import cProfile
import json
import re
import sys
from pathlib import Path
from types import CodeType
from xml.etree import ElementTree as ET

import jsonschema
import pytest

from mcpcore.check import FORMATS
from mcpcore.check.model import CheckedTool, Probe, Report, ToolReport, broken
from mcpcore.check.reports import json_schema, render
from mcpcore.check.rules import QUESTIONS, RULES
from tests.sarif import validator

MANY = Path(__file__).parent / "servers" / "many.py"
ODD = "a\x1b[31mb\n::error::c\r</failure>]]>\x00\u202e\ud800\ufffe|@everyone`x`[l](javascript:1)<b>é日本" + "n" * 5_000


@pytest.fixture(scope="module")
def odd() -> Report:
    """A report in which every text of the server is hostile."""
    report = Report(target=ODD[:90], server=ODD[:90], protocol=ODD[:90], stopped=ODD[:90], file=f"{ODD[:40]}.py")
    for name in (ODD, f"{ODD} 2"):
        report.tools.append(ToolReport(name=name, tool=CheckedTool(name=name), calls=1, skipped=ODD[:90]))
    for rule in RULES:
        report.add(ODD, [broken(rule, ODD)], Probe(kind="hostile", tool=ODD, arguments={ODD: ODD}, argument=ODD))
    return report


@pytest.mark.parametrize("name", FORMATS)
def test_no_report_holds_controls_of_a_server(hostile, odd, name):
    for report in (hostile, odd):
        text = render(report, name)
        text.encode()
        if name == "json":
            text = json.dumps(json.loads(text))
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\ud800-\udfff]", text)
        assert "\n::error::" not in text


def test_a_check_that_ends_before_it_lists_tools_names_none():
    text = render(Report(target="server.py", stopped="it was interrupted"), "text")
    assert "The check ended early: it was interrupted." in text
    assert "Judged" not in text


def test_json_has_the_published_schema(hostile, odd):
    validator = jsonschema.Draft202012Validator(json_schema())
    for report in (hostile, odd):
        validator.validate(json.loads(render(report, "json")))
    data = json.loads(render(hostile, "json"))
    assert data["version"] == 2
    assert {name: grade["grade"] for name, grade in data["grades"].items()} == {
        question: hostile.grade(question) for question in QUESTIONS
    }
    assert "error failure-as-success in" in data["grades"]["failed"]["evidence"]
    assert data["summary"]["error"] == sum(finding["level"] == "error" for finding in data["findings"])


def test_junit_has_a_case_for_each_tool(hostile, odd):
    ET.fromstring(render(odd, "junit"))  # parses
    suite = ET.fromstring(render(hostile, "junit")).find("testsuite")

    cases = suite.findall("testcase")
    assert len(cases) == int(suite.get("tests")) == len(hostile.tools) + 1
    assert sum(case.find("failure") is not None for case in cases) == int(suite.get("failures"))
    skipped = {case.get("name") for case in cases if case.find("skipped") is not None}
    assert {"writes", "remote_schema"} <= skipped
    assert int(suite.get("skipped")) == len(skipped)
    fine = Report(target="server.py", tools=[ToolReport(name="t", tool=CheckedTool(name="t"), calls=1, judged=True)])
    (case,) = ET.fromstring(render(fine, "junit")).iter("testcase")
    assert list(case) == []


def test_sarif_fits_the_schema_of_the_standard(hostile, odd):
    for report in (hostile, odd):
        data = json.loads(render(report, "sarif"))
        validator().validate(data)
        run = data["runs"][0]
        places = [place["physicalLocation"] for result in run["results"] for place in result["locations"]]
        assert all(re.fullmatch("[!-~]+", place["artifactLocation"]["uri"]) for place in places)
        rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
        assert all(rules[result["ruleIndex"]] == result["ruleId"] for result in run["results"])
        marks = [result["partialFingerprints"]["mcpcoreCheck/v1"] for result in run["results"]]
        assert len(set(marks)) == len(marks)
        assert run["invocations"][0]["executionSuccessful"] is (report.stopped == "")


def test_markdown_has_no_markup_of_a_server(hostile, odd):
    for report in (hostile, odd):
        text = render(report, "markdown")
        assert "</testcase>" not in text
        assert "@everyone" not in text
        assert "](javascript" not in text
        tables = [line for line in text.split("\n") if line.startswith("|")]
        assert all(line.count("|") in {4, 5, 8} for line in tables)


def test_the_text_is_cut_where_a_server_is_long(odd):
    assert max(map(len, render(odd, "text").split("\n"))) < 12_000


def test_five_hundred_tools_are_checked_and_shown(checked):
    seen: list[tuple[int, int, str]] = []
    report = checked(sys.executable, "-S", str(MANY), timeout=20, progress=lambda *step: seen.append(step))

    assert len(report.tools) == 501
    assert sum(subject.calls > 0 for subject in report.tools) == 101
    assert seen[0] == (0, 500, "tool_0")
    assert seen[-1] == (500, 500, "")
    assert render(report, "text").count("\ntool_") == 100
    assert "400 not called" in render(report, "text")


def test_five_thousand_tools_that_are_not_called_cost_little_each(checked):
    """Counted instead of timed: a step for each pair of tools would take millions of calls."""
    with cProfile.Profile() as profile:
        report = checked(sys.executable, "-S", str(MANY), "writing", timeout=60)
        reports = {name: render(report, name) for name in FORMATS}

    assert (len(report.tools), report.called) == (5_001, 0)
    assert all("4999" in reports[name] for name in FORMATS if name != "text")
    # The encoder of JSON is called for each value. All others together:
    calls = sum(
        function.callcount
        for function in profile.getstats()
        if isinstance(function.code, CodeType) and "json" not in function.code.co_filename
    )
    assert calls < 5_000 * 400


def test_a_report_of_nothing_is_whole():
    report = Report(target="server.py")

    for name in FORMATS:
        assert "server.py" in render(report, name) or name == "sarif"
    assert "Nothing was tried: no tool was called." in render(report, "markdown")
