"""Real processes on a terminal, through a pipe, and while files change."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import threading
import time

import pytest
from mcpcore_lint.runner.watch import watch

from tests.lint.front.conftest import command
from tests.lint.front.samples import CLEAN, SERVER
from tests.terminal import conftest as terminal

pytest.importorskip("pty")


def on_a_terminal(project, *args, env=None, until=None):
    """Run the command on a new terminal and return its output and exit code."""
    environment = {**os.environ, "TERM": "xterm", **(env or {})}
    return terminal.on_a_terminal(command(*args), project.root, environment, until=until)


def long_run(project):
    """Enough files for a run of noticeable length."""
    body = "# mcp\n" + "value = [1, 2, {'key': (3, 4)}, f(5, six=7), 'text', None]\n" * 1500
    for number in range(40):
        project.write(f"file_{number}.py", body)


def test_colour_on_a_terminal_only(project):
    """Colour is used on a terminal unless disabled; a pipe gets plain text unless it is forced."""
    text, code = on_a_terminal(project)
    assert 1 == code
    assert "\x1b[33m" in text
    assert "  see: mcpcore lint --explain " in text
    assert "checked" not in text
    for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}, {"NO_COLOR": "1", "FORCE_COLOR": "1"}):
        assert "\x1b" not in on_a_terminal(project, env=env)[0]
    assert "\x1b" not in project.process().stdout
    assert "\x1b[33m" in project.process(env={"FORCE_COLOR": "1"}).stdout
    assert "\x1b" not in project.process(env={"FORCE_COLOR": "1", "NO_COLOR": "1"}).stdout
    assert "\x1b" not in project.process("--output-file", "/dev/stdout", env={"FORCE_COLOR": "1"}).stdout


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16"])
@pytest.mark.parametrize("shape", ["json", "sarif", "gitlab", "junit", "github"])
def test_reports_for_programs_are_utf_8(project, encoding, shape):
    """A report for a program is UTF-8 whatever the output encoding, also when it is repeated."""
    project.write("caf\u00e9 \u65e5\u672c \U0001f600.py", SERVER)
    for _ in range(2):
        done = subprocess.run(
            command("--format", shape),
            cwd=project.root,
            env={**os.environ, "PYTHONIOENCODING": encoding},
            capture_output=True,
            check=False,
        )
        text = done.stdout.decode("utf-8")
        assert b"" == done.stderr
        if shape in {"json", "sarif", "gitlab"}:
            json.loads(text)
        assert ("caf%C3%A9" if shape == "sarif" else "caf\u00e9 \u65e5\u672c \U0001f600.py") in text


def test_progress_on_long_runs_on_a_terminal(empty):
    """On a terminal, a long run shows its progress and clears it at the end."""
    long_run(empty)
    empty.write("server.py", CLEAN)
    text, code = on_a_terminal(empty, "--jobs", "1")
    assert 0 == code
    assert " of 41 files" in text
    assert text.rpartition("\r\x1b[K")[2].startswith("\x1b[1mNo findings in 41 files")
    assert "checked" not in empty.process("--no-cache", "server.py").stderr


def test_a_reader_that_closes_the_pipe(project):
    """`mcpcore lint | head -1` prints no error."""
    for number in range(40):
        project.write(f"server_{number}.py", SERVER)
    child = subprocess.Popen(command(), cwd=project.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    child.stdout.readline()
    child.stdout.close()
    assert b"" == child.stderr.read()
    child.stderr.close()
    assert 1 == child.wait()


@pytest.mark.parametrize(
    ("args", "code"),
    [(["--list-rules"], 0), (["--explain", "no-fake-empty"], 0), (["--diff"], 1), (["-", "--fix"], 1), ([], 1)],
    ids=lambda args: " ".join(args) or "plain" if isinstance(args, list) else "",
)
def test_a_reader_that_closes_the_pipe_does_not_change_the_exit_code(project, args, code):
    """The exit code does not depend on whether the reader reads all output."""
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(
            command(*args), cwd=project.root, stdout=write, stderr=subprocess.PIPE, input=SERVER.encode(), check=False
        )
    finally:
        os.close(write)
    assert code == done.returncode
    assert b"BrokenPipe" not in done.stderr
    assert b"fault" not in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device here")
@pytest.mark.parametrize(
    "args",
    [[], ["--list-rules"], ["-", "--fix"], ["--output-file", "/dev/full"]],
    ids=lambda args: " ".join(args) or "plain" if isinstance(args, list) else "",
)
def test_a_full_disk(project, args):
    """Output that cannot be written ends the run with exit code 2 and a message on standard error."""
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            command(*args), cwd=project.root, stdout=full, stderr=subprocess.PIPE, input=SERVER.encode(), check=False
        )
        assert 2 == done.returncode
        assert b"cannot be written: No space left on device\n" in done.stderr
        assert b"fault" not in done.stderr
        silent = subprocess.run(command("--select", "nope"), cwd=project.root, stderr=full, check=False)
    assert 2 == silent.returncode


def test_output_errors_of_a_repeated_run(project):
    """A closed pipe or a full disk has the same effect when a report is repeated from the cache."""
    for path in project.root.iterdir():
        os.utime(path, (1, 1))
    os.utime(project.root, (1, 1))
    for _ in range(3):
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run(command(), cwd=project.root, stdout=write, stderr=subprocess.PIPE, check=False)
        os.close(write)
        assert (1, b"") == (done.returncode, done.stderr)
        assert 1 == project.process().returncode
        if os.path.exists("/dev/full"):
            with open("/dev/full", "wb") as full:
                done = subprocess.run(command(), cwd=project.root, stdout=full, stderr=subprocess.PIPE, check=False)
            assert 2 == done.returncode
            assert b"mcpcore lint: stdout cannot be written: No space left on device\n" == done.stderr.replace(
                b"<>", b""
            )


@pytest.mark.skipif(os.name == "nt", reason="a shell closes the streams")
@pytest.mark.parametrize(
    ("streams", "code"), [(">&-", 1), ("2>&-", 1), (">&- 2>&-", 1), ("--stdin-filename x.py <&-", 2)]
)
def test_closed_streams(project, streams, code):
    """Standard streams that are closed from the start cause no crash."""
    done = subprocess.run(
        f'"{sys.executable}" -m mcpcore_lint {streams}',
        shell=True,
        cwd=project.root,
        capture_output=True,
        check=False,
    )
    assert code == done.returncode
    assert b"fault" not in done.stderr
    assert b"Traceback" not in done.stderr


def test_terminals_that_lack_characters(project):
    """A report can be printed on a terminal that cannot display all of its characters."""
    project.write("naïve.py", CLEAN.replace("ping", "日本"))
    result = project.process("naïve.py", "server.py", env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert (1, "") == (result.returncode, result.stderr)
    result = project.process("na\udcff.py", env={"PYTHONIOENCODING": "ascii"})
    assert 2 == result.returncode
    assert "no such file or folder" in result.stderr


def test_standard_input_of_a_process(project):
    """An editor may send any bytes."""
    result = project.process("--stdin-filename", "server.py", "--format", "concise", input=b"x = '\xff'\n")
    assert (1, b"") == (result.returncode, result.stderr)
    assert b"server.py:1:6: error [parse-error]" in result.stdout
    kept = project.process("--stdin-filename", "server.py", "--fix", input=b"\xef\xbb\xbf" + SERVER.encode())
    assert kept.stdout.startswith(b"\xef\xbb\xbffrom typing")
    assert b'ctx.fail("no_match", "There is nothing.")' in kept.stdout


def test_watch(project):
    """`--watch` runs again when a file changes, survives a broken configuration, and ends on Ctrl-C."""
    pytest.importorskip("watchfiles")
    child = subprocess.Popen(
        command("--watch", "--format", "concise"), cwd=project.root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    try:
        # It watches before its first run, so a change right after the report is seen.
        assert "2 warnings" in _until(child, "2 warnings")
        project.settings("jobs = -1")
        assert "must be an integer" in _until(child, "must be an integer")
        (project.root / "pyproject.toml").unlink()
        _until(child, "2 warnings")
        project.write("server.py", CLEAN)
        assert "No findings" in _until(child, "No findings")
        child.send_signal(signal.SIGINT)
        assert b"Traceback" not in child.stdout.read()
        assert 130 == child.wait(10)
    finally:
        with child:
            child.kill()


def test_watch_sees_changes_made_by_editors(project):
    """Replaced files and folders that are added, removed and added again are noticed."""
    pytest.importorskip("watchfiles")
    project.write("deep/server.py", CLEAN)
    child = subprocess.Popen(
        command("--watch", "--format", "concise", "deep", "server.py"),
        cwd=project.root,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        _until(child, "in 2 files, 2 tools")
        for text, message in (
            (CLEAN, "No findings in 2 files"),
            (SERVER, "2 warnings in 2 files"),
            ("", "2 files, 1 tool"),
        ):
            project.write("server.py.new", text).replace(project.root / "server.py")
            _until(child, message)
        shutil.rmtree(project.root / "deep")
        _until(child, "deep: not checked in full")
        project.write("deep/more/server.py", CLEAN)
        project.write("deep/server.py", CLEAN)
        _until(child, "in 3 files, 2 tools")
        child.send_signal(signal.SIGINT)
        assert 130 == child.wait(10)
    finally:
        with child:
            child.kill()


def test_watch_sees_changes_during_a_run_and_folders_that_come_back(tmp_path):
    """A file that is written while it is checked is checked again, also in a folder that was removed or replaced."""
    pytest.importorskip("watchfiles")
    folder, other = tmp_path / "deep", tmp_path / "other"
    folder.mkdir()
    steps = [
        lambda: (folder / "a.py").write_text("a = 1"),
        lambda: shutil.rmtree(folder),
        folder.mkdir,
        lambda: (folder / "a.py").write_text("a = 1"),
        lambda: (other.mkdir(), folder.rename(tmp_path / "old"), other.rename(folder)),
        lambda: (folder / "b.py").write_text("b = 1"),
        lambda: (folder / "b.py").write_text("b = 2"),
        lambda: (folder / "b.py").rename(folder / "c.py"),
        lambda: signal.raise_signal(signal.SIGINT),
    ]
    left = list(steps)
    watchdog = threading.Timer(60, os.kill, (os.getpid(), signal.SIGINT))
    watchdog.start()
    try:
        assert 130 == watch([str(folder)], lambda: bool(left.pop(0)()))
    finally:
        watchdog.cancel()
    assert [] == left


def _until(child, text):
    seen = b""
    deadline = time.monotonic() + 20
    while text.encode() not in seen and time.monotonic() < deadline:
        ready, _, _ = select.select([child.stdout], [], [], 1)
        if ready:
            data = os.read(child.stdout.fileno(), 65536)
            if not data:
                break
            seen += data
    assert text.encode() in seen
    return seen.decode()


def test_interrupted_runs(empty):
    """Ctrl-C ends a run with exit code 130 and without a traceback."""
    long_run(empty)
    text, code = on_a_terminal(empty, until="checked")
    assert "Traceback" not in text
    assert 130 == code
