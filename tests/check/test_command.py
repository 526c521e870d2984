"""`mcpcore check` as a command: servers of each kind, formats, exit codes, consent and interruption."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.check.conftest import HOSTILE, SERVERS
from tests.serving import running
from tests.terminal.conftest import on_a_terminal

COMMAND = (sys.executable, "-m", "mcpcore", "check")


def test_a_file_with_a_plain_server_is_checked_and_findings_are_the_exit_code(command, tmp_path):
    report = tmp_path / "report.sarif"

    result = command(SERVERS / "plain.py", "--format", "sarif", "--output", report, "--timeout", 30)

    assert result.exit_code == 1
    assert result.stdout == ""
    assert "Wrote" in result.stderr
    results = json.loads(report.read_text())["runs"][0]["results"]
    assert {"echoes-input", "no-cause", "no-next-step", "not-called"} <= {result["ruleId"] for result in results}
    places = {result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in results}
    assert len(places) == 1
    assert places.pop().endswith("plain.py")


def test_a_server_whose_only_tool_hangs_does_not_pass(command, monkeypatch):
    answer = {"code": -32602, "message": "Unknown tool; do not retry. Available tools: hangs"}
    monkeypatch.setenv("HOSTILE_UNKNOWN", json.dumps(answer))

    result = command("--fail-on", "error", "--timeout", 0.5, "--", *HOSTILE, "hangs")

    assert result.exit_code == 1
    assert re.search(r"Does it say that it failed\? +no +1 of 3 calls: error no-answer in 2 calls\n", result.stdout)


@pytest.mark.parametrize(
    ("tool", "severity", "code"),
    [
        ("leaks_secret", "never", 0),
        ("leaks_secret", "error", 1),
        ("leaks_path", "error", 0),
        ("leaks_path", "warning", 1),
        (None, "warning", 0),
        (None, "note", 1),
    ],
)
def test_findings_of_a_severity_or_a_worse_one_fail(command, tool, severity, code, monkeypatch):
    monkeypatch.setenv("HOSTILE_UNKNOWN", json.dumps({"code": -32602, "message": "Unknown tool"}))
    server = (SERVERS / "good.py",) if tool is None else ("--", *HOSTILE, tool)

    assert command("--fail-on", severity, "--timeout", 30, *server).exit_code == code


def test_the_old_option_for_the_score_says_what_replaces_it(command):
    result = command("--fail-under", 80, "--", *HOSTILE, "as_declared")

    assert result.exit_code == 2
    assert re.search("--fail-under was removed.*\n.*--fail-on error", result.stderr)


@pytest.mark.parametrize(("severity", "code"), [("error", 1), ("note", 1), ("never", 0)])
def test_a_check_that_called_no_tool_tried_nothing_and_does_not_pass(command, severity, code):
    result = command("--fail-on", severity, "--", *HOSTILE, "writes")

    assert result.exit_code == code
    assert result.stdout.count("not tried") == 5
    assert "Nothing was tried: no tool was called." in result.stdout


def test_a_check_that_ended_early_does_not_pass(command):
    result = command("--fail-on", "error", "--limit", 0.1, "--timeout", 0.7, "--", *HOSTILE, "hangs", "accepts")

    assert result.exit_code == 1
    assert "The check is not complete: the limit of 0.1 s is over." in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "which server?"),
        (("--url", "ftp://x"), "is not an http URL"),
        (("--url", "http://127.0.0.1:1/mcp", "server.py"), "--url takes no other server"),
        (("http://127.0.0.1:1/mcp", "tool"), "check takes one server, but also got 'tool'"),
        (("env", "server.py"), "write mcpcore check -- env server.py"),
        (("--url", "http://127.0.0.1:1/mcp"), "cannot be checked"),
        (("--", "no-such-command"), "No such file or directory"),
        (("--", sys.executable, "-c", "import sys; sys.exit('no \\x1b[31mkey')"), "no \\u001b[31mkey"),
        (("--timeout", "0.3", "--", "sleep", "60"), "did not answer within 0.3 s"),
        (("--tool", "nowhere", "--", *HOSTILE, "accepts"), "it has no tool 'nowhere'"),
        (("--all", "--", *HOSTILE, "writes"), "there is no terminal"),
        (("--output", "/nowhere/report", "--", *HOSTILE, "writes"), "cannot be written"),
    ],
)
def test_what_cannot_be_checked_is_said(command, arguments, message):
    result = command(*arguments)

    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("listing", ['{"tools": 3}', '{"tools": [{"name": 3}]}', "refused", "nothing"])
def test_a_server_that_does_not_list_its_tools_cannot_be_checked(command, listing):
    code = f"""
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "tools/list":
        if {listing!r} == "nothing":
            continue
        answer = {{"error": {{"code": -32000, "message": "no"}}}}
        if {listing!r} != "refused":
            answer = {{"result": json.loads({listing!r})}}
    elif message.get("method") == "initialize":
        info = {{"name": "n", "version": "1"}}
        answer = {{"result": {{"protocolVersion": "2025-11-25", "capabilities": {{}}, "serverInfo": info}}}}
    elif "id" in message:
        answer = {{"error": {{"code": -32601, "message": "none"}}}}
    else:
        continue
    print(json.dumps({{"jsonrpc": "2.0", "id": message["id"], **answer}}), flush=True)
"""
    result = command("--timeout", 1, "--", sys.executable, "-S", "-c", code)

    assert result.exit_code == 2
    assert "did not list its tools" in result.stderr


def test_a_running_server_is_checked_over_http(command):
    serve = [*COMMAND[:-1], "run", str(SERVERS / "good.py"), "--http", "127.0.0.1:0"]
    with running(serve, r"at (http://\S+)", stop=signal.SIGINT, code=130) as match:
        result = command("--url", match[1], "--format", "json", "--timeout", 20)

    report = json.loads(result.stdout)
    assert (result.exit_code, report["target"]) == (0, match[1])
    assert {grade["grade"] for grade in report["grades"].values()} == {"yes"}


def on_terminal(arguments: list[str], answer: bytes, env: dict[str, str]) -> tuple[str, int]:
    """What the command writes to a terminal on which `answer` is typed when it asks.

    It is typed again every five seconds, as somebody at a keyboard would: Python checks for signals before it reads,
    so a Ctrl+C between the two is first seen with the next one.
    """
    command = [sys.executable, *arguments]
    return on_a_terminal(command, ".", {**os.environ, **env}, until="[y/N]", typed=answer, every=5)


def test_a_terminal_is_asked_before_tools_are_called_that_may_change_something(tmp_path):
    log = tmp_path / "log"
    arguments = ["-m", "mcpcore", "check", "--all", "--", *HOSTILE, "writes"]

    text, _ = on_terminal(arguments, b"y\n", {"HOSTILE_LOG": str(log), "TERM": "xterm"})

    assert "Call 1 tools that may change something: writes? [y/N]" in text
    assert "called" in log.read_text()
    assert "[....................] 0/1 writes" in text


def test_ctrl_c_at_the_question_ends_the_check(tmp_path):
    log = tmp_path / "log"
    arguments = ["-m", "mcpcore", "check", "--all", "--", *HOSTILE, "writes", "accepts"]

    text, code = on_terminal(arguments, b"\x03", {"HOSTILE_LOG": str(log)})

    assert code == 130
    assert "it was interrupted" in text
    assert "called" not in log.read_text()


def test_yes_answers_the_question(command, tmp_path, monkeypatch):
    monkeypatch.setenv("HOSTILE_LOG", str(tmp_path / "log"))

    result = command("--all", "--yes", "--", *HOSTILE, "writes")

    assert "called" in (tmp_path / "log").read_text()
    assert "accepts-bad-arguments" in result.stdout


def test_an_interrupted_check_reports_what_it_saw_and_leaves_no_process(tmp_path):
    log = tmp_path / "log"
    env = {**os.environ, "HOSTILE_LOG": str(log), "HOSTILE_CHILD": "1"}
    with subprocess.Popen(
        [*COMMAND, "--", *HOSTILE, "accepts", "hangs", "echoes"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=env,
    ) as process:
        pids = wait_for_pids(log)
        time.sleep(1)  # the first tool answers immediately
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)

    assert process.returncode == 130
    assert "The check ended early: it was interrupted." in out
    assert "Judged: accepts.\nJudged only in part: hangs, echoes.\n" in out
    assert not re.search(r"^(?:Does|Is) .*\? +yes", out, re.MULTILINE)
    assert err == ""
    assert not [pid for pid in pids if is_running(pid)]


def test_an_interrupted_check_has_the_exit_code_of_an_interruption(command, tmp_path, monkeypatch):
    monkeypatch.setenv("HOSTILE_LOG", str(tmp_path / "log"))

    def interrupt() -> None:
        wait_for_pids(tmp_path / "log", 1)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    result = command("--", *HOSTILE, "hangs")
    thread.join()

    assert result.exit_code == 130


def wait_for_pids(log: Path, count: int = 2) -> list[int]:
    """The ids of the server and of its child, when as many run."""
    until = time.monotonic() + 20
    while time.monotonic() < until:
        lines = log.read_text().split("\n") if log.exists() else []
        pids = [int(line.removeprefix("pid ")) for line in lines if line.startswith("pid ")]
        if len(pids) >= count:
            return pids
        time.sleep(0.02)
    pytest.fail("the server did not start")


def is_running(pid: int) -> bool:
    """Whether a process runs; one that has ended may still have an entry."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
