"""`mcpcore lint` on hostile sources, file names, options and configurations, in every format."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from xml.etree import ElementTree as ET

import pytest

from tests.terminal.conftest import HOSTILE, NAME, OBEYED, assert_clean, source

FORMATS = ("full", "concise", "json", "sarif", "github", "gitlab", "junit")


@pytest.fixture
def project(bench):
    """Hostile names of files and folders, each with a hostile source, one of them no valid Python."""
    ast.parse(source())
    bench.write("server.py", source())
    bench.write(f"a{NAME}/b{NAME}.py", source())
    bench.write("broken.py", source() + f"x = '{HOSTILE.partition(chr(13))[0]}' (\n")
    bench.write("nul.py", source() + "\x00\n")
    bench.write("bytes.py", b"# mcpcore \x9b\xff\n" + source().encode())
    bench.write("suppressed.py", source().replace("# \x1b", "# mcpcore: ignore[\x1b"))
    for path in bench.root.rglob("*"):
        os.utime(path, (1, 1))
    os.utime(bench.root, (1, 1))
    return bench


@pytest.mark.parametrize("shape", FORMATS)
def test_reports(project, shape):
    """Every format is free of what a terminal obeys, at first and when the outcome is given again, and parses."""
    first = project.run("lint", "--format", shape)
    assert first.code in {1, 2}
    assert_clean(first)
    assert project.run("lint", "--format", shape) == first
    if shape in {"json", "sarif", "gitlab"}:
        json.loads(first.stdout)
    if shape == "json":
        assert f"a{NAME}/b{NAME}.py" in {finding["path"] for finding in json.loads(first.stdout)["diagnostics"]}
    elif shape == "junit":
        ET.fromstring(first.stdout)


@pytest.mark.parametrize("shape", FORMATS)
def test_reports_in_files(project, shape):
    """A report in a file is shown on a terminal one day too."""
    assert project.run("lint", "--format", shape, "--output-file", "out.txt").code in {1, 2}
    assert OBEYED.findall((project.root / "out.txt").read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("shape", FORMATS)
def test_what_is_given_again(bench, shape):
    """An outcome that is remembered is as clean as when it was found."""
    for name in ("server.py", f"a{NAME}.py"):
        os.utime(bench.write(name, source()), (1, 1))
    os.utime(bench.root, (1, 1))
    runs = [bench.run("lint", "--format", shape) for _ in range(3)]
    assert_clean(runs[0])
    assert runs[1:] == runs[:1] * 2


@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("words", [(), ("--statistics",), ("--diff",), ("--format", "json"), ("--format", "github")])
def test_reports_on_a_terminal(project, words):
    """A terminal gets the program's own colours and links and no other sequence."""
    assert_clean(project.on_a_terminal("lint", *words), lines="--diff" not in words)
    assert_clean(project.on_a_terminal("lint", *words), lines="--diff" not in words)


@pytest.mark.parametrize(
    "words",
    [
        ("--statistics",),
        ("--statistics", "--format", "json"),
        ("--show-settings",),
        ("--show-settings", f"a{NAME}"),
        ("--explain-calls", "fetch"),
        ("--explain-calls", HOSTILE),
        ("--explain-calls", "swallow", f"a{NAME}"),
        ("--explain-calls", f"none{HOSTILE}"),
        ("--explain", HOSTILE),
        ("--explain", "no-fake-empty"),
        ("--list-rules",),
        ("--select", HOSTILE),
        ("--ignore", HOSTILE),
        ("--extend-select", HOSTILE),
        ("--fail-on", HOSTILE),
        ("--format", HOSTILE),
        ("--jobs", HOSTILE),
        ("--config", NAME),
        ("--config", f"a{NAME}"),
        ("--baseline", NAME),
        ("--baseline", NAME, "--write-baseline"),
        ("--baseline", f"{NAME}/x/y", "--write-baseline"),
        ("--output-file", f"{NAME}/x"),
        ("--output-file", f"a{NAME}/b{NAME}.py"),
        ("--changed-since", HOSTILE),
        ("--stdin-filename", f"a{NAME}"),
        ("--stdin-filename", "x.py", NAME),
        (NAME,),
        (NAME, "server.py"),
        (f"--{HOSTILE}",),
        (f"--fix={HOSTILE}",),
        ("--fix", "--unsafe-fixes"),
    ],
    ids=lambda words: " ".join(words).encode("unicode_escape").decode()[:50],
)
def test_options(project, words):
    """Options print and quote escaped text only."""
    assert_clean(project.run("lint", *words))


@pytest.mark.parametrize("shape", ["full", "concise", "json", "github"])
def test_a_baseline(project, shape):
    """The findings of a baseline, mended since, are printed without those characters."""
    project.run("lint", "--baseline", "known.json", "--write-baseline")
    for path in (project.root / "server.py", project.root / f"a{NAME}" / f"b{NAME}.py"):
        path.write_text("x = 1\n")
    output = project.run("lint", "--baseline", "known.json", "--format", shape)
    assert "of the baseline fixed" in output.stdout
    assert_clean(output)
    (project.root / "known.json").write_text(json.dumps({"version": HOSTILE, "findings": HOSTILE}))
    assert_clean(project.run("lint", "--baseline", "known.json", "--format", shape))


@pytest.mark.parametrize("name", ["server.py", NAME])
@pytest.mark.parametrize("options", [(), ("--format", "json"), ("--format", "concise")], ids=str)
def test_standard_input(bench, name, options):
    """A source from standard input is as hostile as one from a file, and so is the name that it is given."""
    for text in (source(), source() + "x = (\n"):
        assert_clean(bench.run("lint", "--stdin-filename", name, *options, stdin=text.encode()))


CONFIGURATIONS = {
    "no TOML": f"x = {HOSTILE}",
    "unknown key": f"[tool.mcpcore.lint]\n{json.dumps(HOSTILE)} = 1",
    "kind of a value": f"[tool.mcpcore.lint]\nselect = {json.dumps(HOSTILE)}",
    "unknown rule": f"[tool.mcpcore.lint]\nselect = [{json.dumps(HOSTILE)}]",
    "unknown format": f"[tool.mcpcore.lint]\nformat = {json.dumps(HOSTILE)}",
    "severity": f"[tool.mcpcore.lint.severity]\n{json.dumps(HOSTILE)} = {json.dumps(HOSTILE)}",
    "per file": f"[tool.mcpcore.lint.per-file]\n{json.dumps(HOSTILE)} = {json.dumps(HOSTILE)}",
    "section": f"[tool.mcpcore]\n{json.dumps(HOSTILE)} = 1\nlint = {json.dumps(HOSTILE)}",
    "exclude": f"[tool.mcpcore.lint]\nexclude = [{json.dumps(HOSTILE)}]\nroot-packages = [{json.dumps(HOSTILE)}]",
    "cache": f"[tool.mcpcore.lint]\ncache-dir = {json.dumps(NAME.replace(chr(0), ''))}",
}


@pytest.mark.parametrize("kind", CONFIGURATIONS)
@pytest.mark.parametrize("words", [(), ("--show-settings",), ("--format", "json")], ids=str)
def test_configurations(bench, kind, words):
    """Keys and values of a configuration are quoted without those characters."""
    # TOML has no pairs of surrogates, which JSON writes for tag characters.
    bench.write(f"a{NAME}/pyproject.toml", CONFIGURATIONS[kind].replace("\\udb40\\udc", "tag"))
    bench.write(f"a{NAME}/server.py", source())
    assert_clean(bench.run("lint", *words, f"a{NAME}"))


def test_a_rule_that_crashes(bench):
    """The traceback of a rule of another package, and its texts, are printed without those characters."""
    bench.write("server.py", source())
    program = f"""
import sys
from mcpcore_lint import rules
from mcpcore_lint.rules.handler import no_swallowed_error
def crash(self, *_):
    raise ValueError({HOSTILE!r})
for rule in rules.all_rules().values():
    for name in ("check_tool", "check_handler", "check_file"):
        if name in vars(type(rule)):
            setattr(type(rule), name, crash)
from mcpcore_lint.options import plain
from mcpcore_lint.command import run
sys.exit(run(*plain(sys.argv[1:])))
"""
    for words in ((), ("--format", "json"), ("--format", "junit"), ("--format", "concise")):
        done = subprocess.run(
            [sys.executable, "-c", program, "--no-cache", *words],
            cwd=bench.root, env=bench.environment(), capture_output=True, check=False,
        )  # fmt: skip
        assert done.returncode == 2
        assert "crashed" in done.stdout.decode()
        assert OBEYED.findall(done.stdout.decode() + done.stderr.decode()) == []


@pytest.mark.skipif(os.name == "nt", reason="such names are not possible there")
def test_a_patch_is_exact_where_it_is_applied(bench):
    """In a pipe or a file a patch fits the files byte for byte, odd names included, and a note says what it holds."""
    bench.write(f"a{NAME}.py", source())
    subprocess.run(["git", "init", "-q"], cwd=bench.root, check=True)
    output = bench.run("lint", "--diff", f"a{NAME}.py")
    assert "\x1b" in output.stdout
    assert "control characters" in output.stderr
    assert OBEYED.findall(output.stderr) == []
    header = [line for line in output.stdout.split("\n") if line.startswith(("--- ", "+++ "))]
    assert len(header) == 2
    assert OBEYED.findall("".join(header)) == []
    bench.run("lint", "--diff", "--output-file", "fix.patch", f"a{NAME}.py")
    raw = output.stdout.encode()
    assert (bench.root / "fix.patch").read_bytes() == raw
    subprocess.run(["git", "apply", "-"], cwd=bench.root, input=raw, check=True)
    patched = (bench.root / f"a{NAME}.py").read_bytes()
    bench.write(f"a{NAME}.py", source())
    bench.run("lint", "--fix", f"a{NAME}.py")
    assert (bench.root / f"a{NAME}.py").read_bytes() == patched


@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
def test_a_patch_on_a_terminal(bench):
    """A terminal shows the patch escaped, and says so."""
    bench.write("server.py", source())
    output = bench.on_a_terminal("lint", "--diff")
    assert "are shown escaped" in output.stdout
    assert_clean(output, lines=False)
