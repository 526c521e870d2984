"""Report formats: each is complete and valid for the programs that read it."""

from __future__ import annotations

import json
from urllib.parse import unquote
from xml.etree import ElementTree as ET

import jsonschema
import pytest
from mcpcore_lint.diagnostics import Diagnostic, Failure, Related, Severity, Span
from mcpcore_lint.options import FORMATS
from mcpcore_lint.report import Outcome, render

from tests.sarif import validator

HOSTILE = "a\x1b[31mb\n::error::c\r</failure>]]>\x00\u202e\ud800 %25,:é日本"

ARTIFACT = {
    "type": "object",
    "required": ["uri"],
    "properties": {"uri": {"type": "string", "pattern": "^[!-~]+$"}, "uriBaseId": {"const": "%SRCROOT%"}},
    "additionalProperties": False,
}
REGION = {
    "type": "object",
    "required": ["startLine", "startColumn", "endLine", "endColumn"],
    "properties": {
        name: {"type": "integer", "minimum": 1} for name in ("startLine", "startColumn", "endLine", "endColumn")
    },
    "additionalProperties": False,
}
TEXT = {
    "type": "object",
    "required": ["text"],
    "properties": {"text": {"type": "string"}, "markdown": {"type": "string"}},
    "additionalProperties": False,
}
PLACE = {
    "type": "object",
    "required": ["physicalLocation"],
    "properties": {
        "id": {"type": "integer", "minimum": 0},
        "message": TEXT,
        "physicalLocation": {
            "type": "object",
            "required": ["artifactLocation"],
            "properties": {"artifactLocation": ARTIFACT, "region": REGION},
            "additionalProperties": False,
        },
    },
    "additionalProperties": False,
}
SARIF = {
    "type": "object",
    "required": ["version", "runs", "$schema"],
    "properties": {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "minItems": 1,
            "maxItems": 1,
            "items": {
                "type": "object",
                "required": ["tool", "results", "columnKind", "invocations"],
                "properties": {
                    "tool": {
                        "type": "object",
                        "required": ["driver"],
                        "properties": {
                            "driver": {
                                "type": "object",
                                "required": ["name", "version", "rules"],
                                "properties": {
                                    "rules": {
                                        "type": "array",
                                        "uniqueItems": True,
                                        "items": {
                                            "type": "object",
                                            "required": ["id"],
                                            "properties": {
                                                "id": {"type": "string"},
                                                "helpUri": {"type": "string", "pattern": "^https://"},
                                                "shortDescription": TEXT,
                                                "fullDescription": TEXT,
                                                "help": TEXT,
                                                "properties": {"type": "object"},
                                                "defaultConfiguration": {
                                                    "properties": {"level": {"enum": ["error", "warning", "note"]}}
                                                },
                                            },
                                            "additionalProperties": False,
                                        },
                                    }
                                },
                            }
                        },
                    },
                    "columnKind": {"const": "unicodeCodePoints"},
                    "newlineSequences": {"type": "array"},
                    "originalUriBaseIds": {"type": "object"},
                    "invocations": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "required": ["executionSuccessful"],
                            "properties": {
                                "executionSuccessful": {"type": "boolean"},
                                "toolExecutionNotifications": {
                                    "type": "array",
                                    "items": {
                                        "type": "object",
                                        "required": ["message"],
                                        "properties": {
                                            "level": {"const": "error"},
                                            "message": TEXT,
                                            "locations": {"type": "array", "items": PLACE},
                                        },
                                        "additionalProperties": False,
                                    },
                                },
                            },
                            "additionalProperties": False,
                        },
                    },
                    "results": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "required": ["ruleId", "ruleIndex", "level", "message", "locations", "partialFingerprints"],
                            "properties": {
                                "ruleId": {"type": "string"},
                                "ruleIndex": {"type": "integer", "minimum": 0},
                                "level": {"enum": ["error", "warning", "note"]},
                                "message": TEXT,
                                "locations": {"type": "array", "minItems": 1, "items": PLACE},
                                "relatedLocations": {"type": "array", "items": PLACE},
                                "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}},
                                "fixes": {
                                    "type": "array",
                                    "items": {
                                        "type": "object",
                                        "required": ["artifactChanges"],
                                        "properties": {
                                            "description": TEXT,
                                            "artifactChanges": {
                                                "type": "array",
                                                "minItems": 1,
                                                "items": {
                                                    "type": "object",
                                                    "required": ["artifactLocation", "replacements"],
                                                    "properties": {
                                                        "artifactLocation": ARTIFACT,
                                                        "replacements": {
                                                            "type": "array",
                                                            "minItems": 1,
                                                            "items": {
                                                                "type": "object",
                                                                "required": ["deletedRegion"],
                                                                "properties": {
                                                                    "deletedRegion": REGION,
                                                                    "insertedContent": TEXT,
                                                                },
                                                                "additionalProperties": False,
                                                            },
                                                        },
                                                    },
                                                    "additionalProperties": False,
                                                },
                                            },
                                        },
                                        "additionalProperties": False,
                                    },
                                },
                            },
                            "additionalProperties": False,
                        },
                    },
                },
                "additionalProperties": False,
            },
        },
    },
    "additionalProperties": False,
}
"""What SARIF 2.1.0 (sections 3.13 to 3.58) asks of the parts that are written here, and nothing else is written."""


def hostile():
    """An outcome in which every string tries to break the report."""
    finding = Diagnostic(
        "no-fake-empty",
        Severity.WARNING,
        "a b/é%,:\n日本\udcff.py",
        Span(1, 3, 1, 5),
        HOSTILE,
        HOSTILE,
        (Related("other.py", Span(2, 1, 2, 4), HOSTILE),),
        None,
        HOSTILE,
    )
    failure = Failure("bad\x1b.py", HOSTILE, "no-fake-empty", HOSTILE)
    text = "\t日本 = '\x1b[31m\x0c\u2028' # " + "long " * 100 + "\nsecond\n"
    return Outcome((finding, finding), (failure,), 1, 1, source=lambda path: text, notes=(HOSTILE,))


@pytest.mark.parametrize("name", FORMATS)
def test_hostile_texts(name):
    """No string from a file gets control of a terminal, a workflow or a parser."""
    text = render(name, hostile())
    assert "\x1b" not in text
    assert "\x00" not in text
    assert text.endswith("\n")
    assert all(line.startswith(("::warning ", "::error ", "a\\u001b", "2 warnings")) for line in text.splitlines()) or (
        name != "github"
    )
    text.encode("utf-8", "strict" if name in {"json", "sarif", "gitlab", "junit"} else "backslashreplace")


def test_sarif_is_valid(project):
    """SARIF matches the standard's schema, with fixes, related places and failures."""
    project.write("bad é %.py", "def f(:\n")
    report = json.loads(project.lint(".", "gone.py", "--format", "sarif", code=2).stdout)
    for data in (report, json.loads(render("sarif", hostile()))):
        jsonschema.validate(data, SARIF)
        validator().validate(data)
    (run,) = report["runs"]
    results = {result["ruleId"]: result for result in run["results"]}
    for name, result in results.items():
        assert name == run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"]
    uri = results["parse-error"]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert ("bad%20%C3%A9%20%25.py", "bad é %.py") == (uri, unquote(uri))
    (related,) = results["error-contract-conformance"]["relatedLocations"]
    assert "store.py" == related["physicalLocation"]["artifactLocation"]["uri"]
    (change,) = results["error-contract-prefer-fail"]["fixes"][0]["artifactChanges"]
    assert "server.py" == change["artifactLocation"]["uri"]
    assert run["invocations"][0]["executionSuccessful"] is False


def test_sarif_columns_and_fingerprints(project):
    """Columns count characters, and a fingerprint does not change when lines move."""
    project.write(
        "wide.py", 'from mcpcore import tool\n\n@tool(errors=[], title="😀日")\ndef x() -> str:\n    """Do."""\n'
    )

    def result():
        run = json.loads(project.lint("wide.py", "--format", "sarif").stdout)["runs"][0]
        (finding,) = [finding for finding in run["results"] if finding["ruleId"] == "error-contract-empty"]
        return finding["locations"][0]["physicalLocation"]["region"], finding["partialFingerprints"]

    region, mark = result()
    assert {"startLine": 3, "startColumn": 14, "endLine": 3, "endColumn": 16} == region
    project.write("wide.py", "\n\n" + (project.root / "wide.py").read_text())
    region, same = result()
    assert (5, mark) == (region["startLine"], same)


def test_sarif_paths_start_at_the_repository(repository):
    """Code scanning resolves paths from the top of the repository, wherever the command runs."""
    repository.write("inner/server.py", (repository.root / "server.py").read_text())
    repository.settings("", "inner")
    text = repository.lint("--format", "sarif", cwd=repository.root / "inner").stdout
    results = json.loads(text)["runs"][0]["results"]
    uris = {result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in results}
    assert {"inner/server.py"} == uris


def test_gitlab(project):
    """Each finding has the fields of a code quality report and a unique fingerprint."""
    issues = json.loads(project.lint("--format", "gitlab").stdout) + json.loads(render("gitlab", hostile()))
    for issue in issues:
        assert {"description", "check_name", "fingerprint", "severity", "location"} == set(issue)
        assert issue["severity"] in {"info", "minor", "major", "critical", "blocker"}
        assert issue["location"]["path"]
    assert len(issues) == len({issue["fingerprint"] for issue in issues})


def test_junit(project):
    """The counts match the elements, and a clean run is one passed test."""
    suites = ET.fromstring(project.lint("--format", "junit").stdout)
    assert ("2", 2, 2) == (
        suites.get("failures"),
        len(list(suites.iter("failure"))),
        len(list(suites.iter("testcase"))),
    )
    clean = ET.fromstring(project.lint("store.py", "--format", "junit", code=0).stdout)
    assert ("1", "0") == (clean.get("tests"), clean.get("failures"))
    assert "日本" in ET.fromstring(render("junit", hostile()))[0][0][0].get("message")
    odd = Outcome((Diagnostic("no-fake-empty", Severity.INFO, "a\udcff.py", Span(1, 1, 1, 2), "it is odd", ""),))
    assert "a\\udcff.py" == ET.fromstring(render("junit", odd))[0][0].get("file")


def test_github_paths_start_at_the_repository(repository):
    """GitHub resolves annotations from the top of the repository, wherever the step runs."""
    repository.write("inner/server.py", (repository.root / "server.py").read_text())
    text = repository.lint("--format", "github", cwd=repository.root / "inner").stdout
    assert "file=inner/server.py,line=11," in text


def test_github():
    """Properties and messages of workflow commands are escaped, each by its own rules."""
    first = render("github", hostile()).splitlines()[0]
    assert first.startswith("::warning file=a b/é%25%2C%3A%0A日本")
    assert "%0A::error::c%0D" in first


def test_json(project):
    """JSON has everything that a program needs to show a finding and to apply its fix."""
    report = project.json()
    (direct,) = [finding for finding in report["diagnostics"] if finding["rule"] == "error-contract-prefer-fail"]
    assert {
        "rule",
        "severity",
        "path",
        "line",
        "column",
        "endLine",
        "endColumn",
        "message",
        "help",
        "tool",
        "tools",
        "url",
        "related",
        "fix",
    } == set(direct)
    text = (project.root / "server.py").read_text()
    for edit in reversed(direct["fix"]["edits"]):
        text = text[: edit["start"]] + edit["text"] + text[edit["end"] :]
    compile(text, "server.py", "exec")
    assert ("fetch", "safe", 0, 2) == (
        direct["tool"],
        direct["fix"]["safety"],
        report["summary"]["error"],
        report["summary"]["warning"],
    )


def test_excerpts():
    """The caret points at the right column after tabs, wide characters and form feeds, and in long lines."""

    def excerpt(text, span):
        finding = Diagnostic("no-fake-empty", Severity.ERROR, "x.py", span, "m")
        lines = render("full", Outcome((finding,), source=lambda path: text)).splitlines()
        return lines[2].partition("| ")[2], lines[3].partition("| ")[2]

    for code, caret, text, span in (
        ("    x = f()", "        ^^^", "\tx = f()", Span(1, 6, 1, 9)),
        ("日本 = f()", "       ^^^", "日本 = f()", Span(1, 6, 1, 9)),
        ("b = f()", "    ^^^", "a\n\x0cb\nb = f()", Span(3, 5, 3, 8)),
        ("é = f()", "    ^^^", "a\x0c\x1c\u2028\r\né = f()\r", Span(2, 5, 2, 8)),
        ("f(", "^^ ...", "f(\n1)", Span(1, 1, 2, 3)),
    ):
        assert (code, caret) == excerpt(text, span)
    line, caret = excerpt("x" * 500 + "f()" + "y" * 500, Span(1, 501, 1, 504))
    assert len(line) < 140
    assert "f()" == line[caret.index("^") : caret.rindex("^") + 1]
    assert len(excerpt("z" * 9000, Span(1, 1, 1, 9001))[1]) < 140


def test_related_places(project):
    """The full report shows the call path, and the source line of the place at its end."""
    text = project.lint().stdout
    assert "  ::: store.py:11:9 it is raised here: fetch > Store.get > Store._request\n" in text
    assert '11 |         raise conflict("It changed.")\n   |         ^' in text
