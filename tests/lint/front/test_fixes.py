"""Fixes on disk: which bytes they write, which they keep, and what happens on concurrent changes."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import textwrap
import time

import pytest
from mcpcore_lint.rule import Invalid
from mcpcore_lint.runner import fix

from tests.lint.front.conftest import command
from tests.lint.front.samples import CONFLICT, DIRECT, SERVER, STORE
from tests.lint.test_cases import ALL, read


def test_fix_writes_and_is_idle_the_second_time(project):
    """`--fix` makes every fix, reports the remaining findings, and changes nothing when it runs again."""
    assert "1 warning in 2 files, 1 tool (1 fixed)" in project.lint("--fix", "--format", "concise", code=1).stdout
    mended = (project.root / "server.py").read_text()
    assert SERVER.replace('not_found("There is nothing.")', 'ctx.fail("no_match", "There is nothing.")') == mended
    project.lint("--fix", code=1)
    assert mended == (project.root / "server.py").read_text()


def test_diff_writes_nothing(project):
    """`--diff` shows the changes that `--fix` would make and leaves every file alone."""
    before = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in project.root.iterdir()}
    result = project.lint("--diff", code=1)
    assert '-        raise not_found("There is nothing.")\n' in result.stdout
    assert '+        raise ctx.fail("no_match", "There is nothing.")\n' in result.stdout
    assert "1 fix in 1 file would be made" in result.stderr
    assert before == {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in project.root.iterdir()}
    project.write("server.py", "x = 1\n")
    assert "" == project.lint("--diff", code=0).stdout


def test_diff_applies(repository):
    """Applying the patch of `--diff` with git gives the same files as `--fix`."""
    patch = repository.lint("--diff", code=1).stdout
    repository.lint("--fix")
    mended = (repository.root / "server.py").read_text()
    repository.git("checkout", "-q", ".")
    repository.write("../fix.patch", patch)
    repository.git("apply", "../fix.patch")
    assert mended == (repository.root / "server.py").read_text()


@pytest.mark.parametrize("newline", ["\r\n", "\n"], ids=["crlf", "lf"])
@pytest.mark.parametrize("bom", [b"\xef\xbb\xbf", b""], ids=["bom", "plain"])
def test_bytes_outside_of_the_fix_stay(project, newline, bom):
    """Line ends and a byte-order mark are kept."""
    raw = bom + SERVER.replace("\n", newline).encode()
    path = project.write("server.py", raw)
    path.chmod(0o640)
    project.lint("--fix")
    assert raw.replace(b'not_found("There', b'ctx.fail("no_match", "There') == path.read_bytes()
    assert 0o640 == path.stat().st_mode & 0o777


def test_only_reported_findings_are_fixed(repository):
    """`--fix` ignores findings that the baseline or `--changed-since` hides."""
    repository.lint("--baseline", "b.json", "--write-baseline", code=0)
    repository.lint("--baseline", "b.json", "--fix", code=0)
    repository.lint("--changed-since", "HEAD", "--fix", code=0)
    assert "" == repository.lint("--changed-since", "HEAD", "--diff", code=0).stdout
    assert SERVER == (repository.root / "server.py").read_text()


def test_a_file_changed_meanwhile_is_not_overwritten(project, monkeypatch):
    """A file that is saved again and again during the run keeps the saved text, and the run reports that."""

    whole = fix.make_pass
    saved = []

    def slow(*args, **options):
        saved.append(f"# saved meanwhile, {len(saved)}\n")
        project.write("server.py", SERVER + saved[-1])
        return whole(*args, **options)

    monkeypatch.setattr(fix, "make_pass", slow)
    result = project.lint("--fix", "--format", "concise", code=2)
    assert "server.py: not checked in full: not fixed: it was changed by someone else meanwhile" in result.stdout
    assert SERVER + saved[-1] == (project.root / "server.py").read_text()


@pytest.mark.parametrize("option", ["--fix", "--diff"])
def test_edits_are_made_to_the_text_that_was_checked(project, monkeypatch, option):
    """A file saved between its check and its fix is checked again, and the saved text is fixed."""

    lint = fix.lint_groups
    changed = SERVER.replace('"""Fetch a value."""', '"""Fetch a value, whatever it may be."""')

    def late(*args, **options):
        result = lint(*args, **options)
        if (project.root / "server.py").read_text() == SERVER:
            project.write("server.py", changed)
        return result

    monkeypatch.setattr(fix, "lint_groups", late)
    result = project.lint(option, "--format", "concise", code=1)
    mended = changed.replace('not_found("There is nothing.")', 'ctx.fail("no_match", "There is nothing.")')
    assert (mended if option == "--fix" else changed) == (project.root / "server.py").read_text()
    if option == "--diff":
        assert '+        raise ctx.fail("no_match", "There is nothing.")\n' in result.stdout


def test_a_reason_is_renamed_everywhere_or_nowhere(empty):
    """A fix that renames a reason is made after those that write it; a reason that several files use keeps its name."""
    entry = 'FailureMode("NoMatch", ErrorCode.NOT_FOUND, when="None.", recovery="Call search_keys to find one.")'
    head = "from mcpcore import Context, ErrorCode, FailureMode, not_found, tool\n"
    handler = """

        @tool(errors={errors})
        async def fetch() -> str:
            \"\"\"Fetch.\"\"\"
            raise not_found("There is nothing.")
        """
    empty.write("one.py", head + textwrap.dedent(handler.format(errors=f"[{entry}]")))
    empty.write("shared.py", f"from mcpcore import ErrorCode, FailureMode\n\nERRORS = [{entry}]\n")
    empty.write("two.py", head + "from shared import ERRORS\n" + textwrap.dedent(handler.format(errors="ERRORS")))
    empty.lint("--fix", "--unsafe-fixes", code=1)
    texts = {name: (empty.root / f"{name}.py").read_text() for name in ("one", "two", "shared")}
    assert ["shared", "two"] == sorted(name for name, text in texts.items() if "NoMatch" in text)
    assert 'raise ctx.fail("no_match", "There is nothing.")' in texts["one"]
    assert 'raise ctx.fail("NoMatch", "There is nothing.")' in texts["two"]


def test_read_only_files_stay(project):
    """A file that cannot be written is reported and unchanged; the others are fixed."""
    project.write("other.py", SERVER)
    path = project.root / "server.py"
    path.chmod(0o444)
    result = project.lint("--fix", "--format", "concise", code=2)
    assert "server.py: not checked in full: not fixed: the file is read-only\n" in result.stdout
    assert SERVER == path.read_text()
    assert SERVER != (project.root / "other.py").read_text()


def test_other_encodings(project):
    """A file keeps its declared encoding; a fix that the encoding cannot represent is not made."""
    raw = b"# coding: latin-1\n# caf\xe9\n" + SERVER.encode()
    path = project.write("server.py", raw)
    project.lint("--fix")
    assert raw.replace(b'not_found("There', b'ctx.fail("no_match", "There') == path.read_bytes()


@pytest.mark.parametrize("head", ["#!/usr/bin/env python\n# coding: utf-8\n", "# SPDX-License-Identifier: MIT\n"])
def test_imports_of_the_standard_library_come_first(project, head):
    """They go below the comments at the top of the file and above third-party imports."""
    server = SERVER.replace("from typing import Literal\n\n", "").replace('Context[Literal["no_match"]]', "Context")
    path = project.write("server.py", head + server)
    project.lint("--fix")
    assert path.read_text().startswith(f"{head}from typing import Literal\n\nfrom mcpcore")


def test_links_stay_links(project):
    """Fixing a link fixes the file that it points to."""
    (project.root / "server.py").rename(project.root / "real.txt")
    (project.root / "server.py").symlink_to("real.txt")
    project.lint("--fix")
    assert (project.root / "server.py").is_symlink()
    assert 'ctx.fail("no_match", "There is nothing.")' in (project.root / "real.txt").read_text()


def test_killed_runs_leave_nothing_broken(project):
    """A killed `--fix` run leaves each file as it was or fixed, and a usable cache."""
    old = SERVER
    new = SERVER.replace('not_found("There is nothing.")', 'ctx.fail("no_match", "There is nothing.")')
    for number in range(24):
        project.write(f"server_{number}.py", old)
    for delay in (0.1, 0.2, 0.3, 0.4, 0.6):
        child = subprocess.Popen(
            command("--fix"), cwd=project.root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        time.sleep(delay)
        child.send_signal(signal.SIGKILL)
        child.wait()
        assert {path.read_text() for path in project.root.glob("server*.py")} <= {old, new}
    project.lint("--fix")
    assert {new} == {path.read_text() for path in project.root.glob("server*.py")}
    assert project.findings() == project.findings("--no-cache")


def test_a_broken_cache_is_ignored(project):
    """Whatever happened to the cache, the findings are the same."""
    expected = [CONFLICT, DIRECT]
    folder = project.root.parent / "cache"
    project.lint()
    (file,) = folder.iterdir()
    whole = file.read_bytes()
    for broken in (b"", whole[: len(whole) // 2], whole[:-3] + b"xyz", b"\0" * 100):
        file.write_bytes(broken)
        assert expected == project.findings()
    project.lint("--no-cache")
    file.unlink()
    project.lint("--no-cache")
    assert [] == list(folder.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("unsafe", [(), ("--unsafe-fixes",)], ids=["safe", "unsafe"])
def test_diff_shows_exactly_what_fix_writes(empty, unsafe):
    """For one project made of all rule cases, the patch of `--diff` gives the same files as `--fix`."""
    for rule, path in ALL:
        case = read(path)
        if isinstance(case, Invalid):
            for name, text in ({"case.py": case.code} | dict(case.files)).items():
                empty.write(f"{rule.id}_{path.stem}/{name}", text)
    empty.git("init", "-q")
    empty.git("add", ".")
    empty.git("commit", "-qm", "cases")
    options = ("--select", "all", *unsafe)
    patch = empty.lint("--diff", *options, code=1)
    assert "" == empty.git("status", "--porcelain")
    count = json.loads(empty.lint("--fix", *options, "--format", "json").stdout)["summary"]["fixed"]
    files = len(empty.git("diff", "--name-only").splitlines())
    assert f"{count} fixes in {files} files would be made" in patch.stderr
    assert count > 50
    mended = empty.git("diff")
    empty.git("checkout", "-q", ".")
    empty.write("../fix.patch", patch.stdout)
    empty.git("apply", "../fix.patch")
    assert mended == empty.git("diff")


def test_fix_does_not_widen_changed_since(repository):
    """A file that differs from the revision only because `--fix` edited it gets no further fixes."""
    line = '    if store.get("a"):'
    marked = SERVER.replace(line, f"{line}  # mcpcore: ignore[error-contract-conformance] known")
    repository.write("server.py", marked)
    repository.git("commit", "-qam", "second")
    repository.write("store.py", STORE.replace('raise conflict("It changed.")', 'return ""').replace("conflict, ", ""))
    assert {("server.py", 10, "unused-ignore")} == set(repository.findings("--changed-since", "HEAD", code=1))
    repository.lint("--changed-since", "HEAD", "--fix", code=0)
    assert SERVER == (repository.root / "server.py").read_text()


@pytest.mark.parametrize(
    ("options", "text", "loaded"),
    [
        (["--fix", "--unsafe-fixes"], SERVER.replace("not_found(", 'ctx.fail("no_match", '), False),
        (["--format", "json"], SERVER.replace("not_found(", 'ctx.fail("no_match", '), False),
        (["--format", "full"], SERVER, False),
        (["--format", "json"], SERVER, True),
        (["--diff"], SERVER, True),
    ],
)
def test_libcst_is_loaded_only_for_edits(project, options, text, loaded):
    """A run that changes nothing, or shows its findings without edits, never loads libcst."""
    project.write("server.py", text)
    run = [sys.executable, "-X", "importtime", *command(*options)[1:]]
    done = subprocess.run(run, cwd=project.root, capture_output=True, text=True, check=False)
    assert loaded == bool(re.search(r"\| +libcst$", done.stderr, re.MULTILINE))
    assert done.stdout


@pytest.mark.parametrize("option", ["--statistics", "--format=concise", "--format=full", "--fix"])
def test_a_fix_that_libcst_cannot_make_is_not_announced(project, option):
    """libcst cannot follow a long sum, so a finding in one is not called fixable."""
    text = SERVER.replace('"There is nothing."', '"a" + \\\n' + " + ".join(['"b"'] * 800))
    path = project.write("server.py", text)
    result = project.lint(option, code=1)
    assert "error-contract-prefer-fail" in result.stdout
    assert "fix" not in re.sub("[0-9]+ fixed", "", result.stdout)
    assert text == path.read_text()
