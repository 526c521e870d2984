"""A baseline hides known findings, even if their lines move, and lists those that were fixed."""

from __future__ import annotations

import json

import pytest

from tests.lint.front.samples import CONFLICT, DIRECT, SERVER


@pytest.fixture
def known(project):
    """A project whose findings are in a baseline."""
    project.lint("--baseline", "known.json", "--write-baseline", code=0)
    return project


def test_known_findings_are_hidden(known):
    """Findings in the baseline are not reported."""
    result = known.lint("--baseline", "known.json", code=0)
    assert "No findings in 2 files, 1 tool (2 in the baseline)\n" == result.stdout


def test_lines_may_move(known):
    """Inserted lines and a changed indentation do not make a finding new."""
    known.write("server.py", "# A comment.\n\n" + SERVER.replace('if store.get("a"):', 'if  store.get( "a"):'))
    known.lint("--baseline", "known.json", code=0)


def test_lines_may_be_edited_and_files_renamed(known):
    """Editing the line of a finding, or renaming its file, does not make it new."""
    edited = SERVER.replace('not_found("There is nothing.")', 'not_found("Nothing.")')
    known.write("server.py", edited)
    assert "of the baseline fixed" not in known.lint("--baseline", "known.json", code=0).stdout
    known.write("server.py", edited + '    raise not_found("There is nothing.")\n')
    known.lint("--baseline", "known.json", code=1)
    (known.root / "server.py").unlink()
    known.write("deep/renamed.py", edited)
    known.write("deep/store.py", (known.root / "store.py").read_text())
    known.lint("--baseline", "known.json", code=0)
    known.write("copy.py", edited)
    assert 2 == len(known.findings("--baseline", "known.json", code=1))


def test_new_findings_are_reported(known):
    """A second finding on a line like a known one is new."""
    known.write("server.py", SERVER + '    raise not_found("There is nothing.")\n')
    assert [("server.py", 13, "error-contract-prefer-fail")] == known.findings("--baseline", "known.json", code=1)


def test_fixed_findings_are_reported(known):
    """Baseline entries that no longer occur are listed, unless the run did not check for them."""
    known.lint("--fix")
    result = known.lint("--baseline", "known.json", code=0)
    assert "1 finding of the baseline fixed; remove them with --write-baseline:\n  server.py: [error-contract-pr" in (
        result.stdout
    )
    assert "of the baseline fixed" not in known.lint("--baseline", "known.json", "--select", "handler").stdout
    assert "of the baseline fixed" not in known.lint("store.py", "--baseline", "known.json").stdout
    known.lint("--baseline", "known.json", "--write-baseline", code=0)
    assert 1 == len(json.loads((known.root / "known.json").read_text())["findings"])


def test_writing_for_some_files_keeps_the_others(known):
    """A run over some files rewrites only their entries in the baseline."""
    known.write("other.py", SERVER)
    known.lint("other.py", "--baseline", "known.json", "--write-baseline", code=0)
    known.lint("--baseline", "known.json", code=0)


def test_writing_for_some_rules_keeps_the_others(known):
    """A run of some rules rewrites only their entries in the baseline."""
    known.lint("--select", "handler", "--baseline", "known.json", "--write-baseline", code=0)
    known.lint("--ignore", "conformance", "--baseline", "known.json", "--write-baseline", code=0)
    known.lint("--baseline", "known.json", code=0)
    known.write("server.py", SERVER.replace('raise not_found("There is nothing.")', "pass"))
    known.lint("--select", DIRECT[2], "--baseline", "known.json", "--write-baseline", code=0)
    assert [CONFLICT[2]] == [
        finding["rule"] for finding in json.loads((known.root / "known.json").read_text())["findings"]
    ]


def test_writing_also_reports_the_remaining_findings(project):
    """The report after writing uses the requested format and file."""
    result = project.lint(
        "--baseline", "known.json", "--write-baseline", "--fix", "--format", "json", "--output-file", "r.json", code=0
    )
    assert "1 finding written to known.json\n" == result.stderr
    report = json.loads((project.root / "r.json").read_text())
    assert ([], 1, 1) == (report["diagnostics"], report["summary"]["baselined"], report["summary"]["fixed"])


def test_paths_are_relative_to_the_baseline(known):
    """A baseline works from whatever folder the command is run."""
    inner = known.root / "inner"
    inner.mkdir()
    known.lint("..", "--baseline", "../known.json", cwd=inner, code=0)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"version": 2}',
        '{"version": 1, "findings": [{"path": "a\\u0000", "fingerprint": ""}]}',
        '{"version": 1, "findings": [1]}',
        "[" * 100_000,
    ],
)
def test_an_invalid_baseline_is_rejected(project, text):
    """A damaged baseline stops the run."""
    project.write("known.json", text)
    assert "known.json: " in project.lint("--baseline", "known.json", code=2).stderr


def test_without_a_baseline(project):
    """Without `--baseline`, all findings are reported again."""
    assert [CONFLICT, DIRECT] == project.findings()
