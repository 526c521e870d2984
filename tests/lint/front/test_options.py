"""Ordinary arguments are parsed as click parses them; all others are left to click."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hypothesis import example, given, strategies as st
from mcpcore_lint.cli import lint
from mcpcore_lint.options import OPTIONS, plain

NAMES = [option.name for option in OPTIONS]
VALUES = ["", "-", "--", "-x", "--fix", "json", "error", "error-contract,handler", "3", "-1", "007", "+1", "1_0", "a=b"]
VALUES += [".", "no-such-file", "x" * 12, "9" * 12, "\u0663", "\udc80", " 2"]
WORDS = st.one_of(
    st.sampled_from([*NAMES, *VALUES, "--help", "-h", "--version", "--sel", "--no-such"]),
    st.builds("{}={}".format, st.sampled_from(NAMES), st.sampled_from(VALUES)),
)


@given(st.lists(WORDS, max_size=6))
@example(["--select", "a", "b.py", "--select=b", "--jobs", "2", "--format", "json", "--format=full", "-"])
@example(["--output-file", "-", "--stdin-filename", "a.py", "--config", "no-such-file", "--explain=x"])
def test_plain_arguments_are_parsed_as_by_click(arguments):
    """The fast parser gives the same result as click, or None."""
    parsed = plain(arguments)
    if parsed is not None:
        params = lint.make_context("lint", list(arguments)).params
        assert (params.pop("paths"), params) == parsed


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_every_option_is_plain(option):
    """Each option is parsed without click if its value is valid."""
    taken = {"flag": [], "choice": list(option.choices[:1]), "number": ["2"]}.get(option.kind, ["no-such-file"])
    parsed = plain([option.name, *taken])
    assert parsed is not None
    assert {"flag": True, "number": 2, "rules": tuple(taken)}.get(option.kind, *taken) == parsed[1][option.key]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        ["--no-such"],
        ["--format", "yaml"],
        ["--jobs", "x"],
        ["--select"],
        ["--fix=1"],
        ["--"],
    ],
    ids=" ".join,
)
def test_errors_and_help_are_left_to_click(arguments):
    """The fast parser reports no errors itself."""
    assert plain(arguments) is None


def test_an_unreadable_path_is_left_to_click(project, monkeypatch):
    """Click says which argument cannot be read."""
    monkeypatch.setattr("os.access", lambda *_: False)
    assert plain([str(project.root / "server.py")]) is None


@pytest.mark.parametrize("start", ["-m mcpcore_lint", "-m mcpcore lint"])
def test_a_plain_run_loads_little(project, start):
    """Ordinary arguments load neither click nor dataclasses."""
    code = "import atexit, runpy, sys; atexit.register(lambda: print(sorted(sys.modules)))\n"
    name, *words = start.split()[1:]
    code += f"sys.argv[1:] = {[*words, '--no-cache', '--format', 'concise', '.']}\n"
    code += f"runpy.run_module({name!r}, run_name='__main__', alter_sys=True)"
    # Measuring coverage loads more modules.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=project.root, env=environment, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    loaded = set(done.stdout.splitlines()[-1].strip("[]").replace("'", "").split(", "))
    assert "mcpcore_lint.runner.checker" in loaded
    assert set() == loaded & {"click", "dataclasses", "inspect", "tokenize", "traceback", "textwrap"}
