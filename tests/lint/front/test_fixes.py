"""Fixes on disk: what they write, what they leave alone, and what happens when something comes between."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import time

import pytest
from mcpcore_lint.rule import Invalid
from mcpcore_lint.runner import fixer

from tests.lint.front.conftest import command
from tests.lint.front.samples import CONFLICT, DIRECT, SERVER, STORE
from tests.lint.test_cases import ALL, read


def test_fix_writes_and_is_idle_the_second_time(project):
    """`--fix` mends what it can, tells what remains, and finds nothing to do when it runs again."""
    result = project.lint("--fix", "--format", "concise", code=1)
    assert "1 warning in 2 files, 1 tool (1 fixed)" in result.stdout
    mended = (project.root / "server.py").read_text()
    assert SERVER.replace('not_found("There is nothing.")', 'ctx.fail("no_match", "There is nothing.")') == mended
    project.lint("--fix", code=1)
    assert mended == (project.root / "server.py").read_text()


def test_diff_writes_nothing(project):
    """`--diff` shows what `--fix` would do and leaves every file alone."""
    before = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in project.root.iterdir()}
    result = project.lint("--diff", code=1)
    assert '-        raise not_found("There is nothing.")\n' in result.stdout
    assert '+        raise ctx.fail("no_match", "There is nothing.")\n' in result.stdout
    assert "1 fix in 1 file would be made" in result.stderr
    assert before == {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in project.root.iterdir()}
    project.write("server.py", "x = 1\n")
    assert "" == project.lint("--diff", code=0).stdout


def test_diff_applies(repository):
    """The patch that `--diff` prints is one that git applies, and comes to what `--fix` writes."""
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
    """Line ends and a byte-order mark are as they were."""
    raw = bom + SERVER.replace("\n", newline).encode()
    path = project.write("server.py", raw)
    path.chmod(0o640)
    project.lint("--fix")
    assert raw.replace(b'not_found("There', b'ctx.fail("no_match", "There') == path.read_bytes()
    assert 0o640 == path.stat().st_mode & 0o777


def test_only_what_is_told_is_mended(repository):
    """`--fix` leaves alone what the baseline or `--changed-since` keep back."""
    repository.lint("--baseline", "b.json", "--write-baseline", code=0)
    repository.lint("--baseline", "b.json", "--fix", code=0)
    repository.lint("--changed-since", "HEAD", "--fix", code=0)
    assert "" == repository.lint("--changed-since", "HEAD", "--diff", code=0).stdout
    assert SERVER == (repository.root / "server.py").read_text()


def test_a_file_changed_meanwhile_is_not_overwritten(project, monkeypatch):
    """A file that somebody saves again and again while it is being mended keeps what was saved, and the run says so."""

    whole = fixer.make_pass
    saved = []

    def slow(*args, **options):
        saved.append(f"# saved meanwhile, {len(saved)}\n")
        project.write("server.py", SERVER + saved[-1])
        return whole(*args, **options)

    monkeypatch.setattr(fixer, "make_pass", slow)
    result = project.lint("--fix", "--format", "concise", code=2)
    assert "server.py: not checked in full: not fixed: it was changed by someone else meanwhile" in result.stdout
    assert SERVER + saved[-1] == (project.root / "server.py").read_text()


@pytest.mark.parametrize("option", ["--fix", "--diff"])
def test_edits_are_made_to_the_text_that_was_judged(project, monkeypatch, option):
    """A file that is saved between the look at it and its mending is looked at again, and what was saved is mended."""

    make = fixer.Mending.make
    changed = SERVER.replace('"""Fetch a value."""', '"""Fetch a value, whatever it may be."""')

    def late(*args):
        if (project.root / "server.py").read_text() == SERVER:
            project.write("server.py", changed)
        return make(*args)

    monkeypatch.setattr(fixer.Mending, "make", late)
    result = project.lint(option, "--format", "concise", code=1)
    mended = changed.replace('not_found("There is nothing.")', 'ctx.fail("no_match", "There is nothing.")')
    assert (mended if option == "--fix" else changed) == (project.root / "server.py").read_text()
    if option == "--diff":
        assert '+        raise ctx.fail("no_match", "There is nothing.")\n' in result.stdout


def test_what_killed_runs_left_behind_goes(project):
    """The temporary file of a run that was killed goes with the next one that mends something beside it."""
    old, fresh = project.write(".mcpcore-old", "x"), project.write(".mcpcore-new", "x")
    os.utime(old, (1, 1))
    assert 1 == project.process("--fix").returncode
    assert (False, True) == (old.exists(), fresh.exists())


def test_what_is_renamed_is_renamed_everywhere(empty):
    """A fix that renames a reason comes after those that write it; where several files have it, it keeps its name."""
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
    """A file that may not be written is told and left as it is; the others are mended."""
    project.write("other.py", SERVER)
    path = project.root / "server.py"
    path.chmod(0o444)
    result = project.lint("--fix", "--format", "concise", code=2)
    assert "server.py: not checked in full: not fixed: the file is read-only\n" in result.stdout
    assert SERVER == path.read_text()
    assert SERVER != (project.root / "other.py").read_text()


def test_other_encodings(project):
    """A file stays in the encoding that it declares; a fix that this one cannot hold is not made."""
    raw = b"# coding: latin-1\n# caf\xe9\n" + SERVER.encode()
    path = project.write("server.py", raw)
    project.lint("--fix")
    assert raw.replace(b'not_found("There', b'ctx.fail("no_match", "There') == path.read_bytes()


@pytest.mark.parametrize(
    ("head", "stands"),
    [
        ("#!/usr/bin/env python\n# coding: utf-8\n", True),
        ("# SPDX-License-Identifier: MIT\n", True),
        ("# Tools come first.\n", False),
    ],
)
def test_imports_of_the_standard_library_come_first(project, head, stands):
    """Below the head of a file, above the imports of others; a comment that belongs to one of these stays with it."""
    server = SERVER.replace("from typing import Literal\n\n", "").replace('Context[Literal["no_match"]]', "Context")
    path = project.write("server.py", head + server)
    project.lint("--fix")
    assert path.read_text().startswith(f"{head}from typing import Literal\n\nfrom mcpcore") is stands
    assert "from typing import Literal" in path.read_text()


def test_links_stay_links(project):
    """Mending a link mends what it leads to."""
    (project.root / "server.py").rename(project.root / "real.txt")
    (project.root / "server.py").symlink_to("real.txt")
    project.lint("--fix")
    assert (project.root / "server.py").is_symlink()
    assert 'ctx.fail("no_match", "There is nothing.")' in (project.root / "real.txt").read_text()


def test_killed_runs_leave_nothing_broken(project):
    """A `--fix` run that is killed leaves each file as it was or mended, and a cache that the next run can use."""
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
        texts = {path.read_text() for path in project.root.glob("server*.py")}
        assert texts <= {old, new}
    project.lint("--fix")
    assert {new} == {path.read_text() for path in project.root.glob("server*.py")}
    assert project.found() == project.found("--no-cache")


def test_a_broken_cache_is_no_cache(project):
    """Whatever happened to the cache, the findings are the same."""
    expected = [CONFLICT, DIRECT]
    folder = project.root.parent / "cache"
    project.lint()
    (file,) = folder.iterdir()
    whole = file.read_bytes()
    for broken in (b"", whole[: len(whole) // 2], whole[:-3] + b"xyz", b"\0" * 100):
        file.write_bytes(broken)
        assert expected == project.found()
    project.lint("--no-cache")
    file.unlink()
    project.lint("--no-cache")
    assert [] == list(folder.iterdir())


@pytest.mark.parametrize("unsafe", [(), ("--unsafe-fixes",)], ids=["safe", "unsafe"])
def test_diff_shows_exactly_what_fix_writes(empty, unsafe):
    """Over the cases of all rules, each a file of one project, the patch of `--diff` comes to what `--fix` writes."""
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
    fixed = empty.lint("--fix", *options, "--format", "json").stdout
    count = json.loads(fixed)["summary"]["fixed"]
    files = len(empty.git("diff", "--name-only").splitlines())
    assert f"{count} fixes in {files} files would be made" in patch.stderr
    assert count > 50
    mended = empty.git("diff")
    empty.git("checkout", "-q", ".")
    empty.write("../fix.patch", patch.stdout)
    empty.git("apply", "../fix.patch")
    assert mended == empty.git("diff")


def test_fix_mends_nothing_that_the_change_does_not_concern(repository):
    """Where `--fix` itself makes a file differ from the revision, it does not go on to all that was in it before."""
    line = '    if store.get("a"):'
    marked = SERVER.replace(line, f"{line}  # mcpcore: ignore[error-contract-conformance] known")
    repository.write("server.py", marked)
    repository.git("commit", "-qam", "second")
    repository.write("store.py", STORE.replace('raise conflict("It changed.")', 'return ""').replace("conflict, ", ""))
    assert {("server.py", 10, "unused-ignore")} == set(repository.found("--changed-since", "HEAD", code=1))
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
def test_libcst_is_loaded_only_to_write(project, options, text, loaded):
    """A run that changes nothing, or shows its findings without edits, never loads libcst."""
    project.write("server.py", text)
    run = [sys.executable, "-X", "importtime", *command(*options)[1:]]
    done = subprocess.run(run, cwd=project.root, capture_output=True, text=True, check=False)
    assert loaded == bool(re.search(r"\| +libcst$", done.stderr, re.MULTILINE))
    assert done.stdout
