"""`mcpcore run --fail`, its log, and `mcpcore fail-report`, with real servers in separate processes."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import time
from datetime import datetime, timedelta

import pytest
from click.testing import CliRunner
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult

from mcpcore.boundary.call_log import CallLog
from mcpcore.cli.root import cli

SERVER = '''
from typing import Literal

from mcpcore import Context, ErrorCode, FailureMode, Retry, Server, tool

SEATS = []
BUSY = FailureMode(
    "busy", ErrorCode.RATE_LIMITED, when="The desk is busy.", recovery="Wait.", retry=Retry.after(seconds=1)
)
UNCONFIRMED = FailureMode(
    "unconfirmed",
    ErrorCode.TIMEOUT,
    when="Nobody knows whether the seat is taken.",
    recovery="Look first.",
    effects="unknown",
    fallback_tool="seats",
)


@tool(errors=[BUSY, UNCONFIRMED])
async def take(ctx: Context[Literal["busy", "unconfirmed"]], seat: str) -> str:
    """Take a seat."""
    SEATS.append(seat)
    return seat


@tool(read_only=True)
def seats() -> list[str]:
    """The seats that are taken."""
    return SEATS


server = Server("seats", tools=[take, seats])
'''
FASTMCP = SERVER.replace(
    'server = Server("seats", tools=[take, seats])',
    """from fastmcp import FastMCP
from mcpcore.integrations.fastmcp import ContractMiddleware

server = FastMCP("seats", middleware=[ContractMiddleware()])
server.add_tool(take)
server.add_tool(seats)""",
)
SECRET = "hUnt3r2-Xq9"


@pytest.fixture(params=["server", "fastmcp"])
def served(request, tmp_path):
    """The path of a server in a file."""
    path = tmp_path / "server.py"
    path.write_text(FASTMCP if request.param == "fastmcp" else SERVER)
    return path


@pytest.mark.anyio
async def test_an_agent_meets_a_failure_on_demand(served, tmp_path):
    """The failure, the instructions, standard error and the log say that it was injected; the report judges the agent."""
    log, errors = tmp_path / "calls.jsonl", tmp_path / "stderr.txt"
    arguments = [
        "-m",
        "mcpcore",
        "run",
        str(served),
        "--fail",
        "take=unconfirmed,first=1,after",
        "--fail-log",
        str(log),
    ]
    parameters = StdioServerParameters(command=sys.executable, args=arguments)
    with errors.open("w") as errlog:
        async with Client(stdio_client(parameters, errlog=errlog), cache=None) as client:
            assert "under test" in client.instructions
            first = await client.call_tool("take", {"seat": SECRET})
            again = await client.call_tool("take", {"seat": SECRET})
            looked = await client.call_tool("seats", {})
            unknown = await client.call_tool("take", {"sea": "A1"})
            with pytest.raises(MCPError, match="tak"):
                await client.call_tool("tak", {})
    assert (True, False, False, True) == (first.is_error, again.is_error, looked.is_error, unknown.is_error)
    assert first.structured_content["error"]["injected"] is True
    assert "injected" not in unknown.structured_content["error"]
    assert {"result": [SECRET, SECRET]} == looked.structured_content, "the handler ran before the failure"
    assert "Failures are injected: take=unconfirmed,first=1,after. For tests only." in errors.read_text()
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert ["failure", "success", "success", "failure", "failure"] == [line["outcome"] for line in lines]
    assert [True, None, None, None, None] == [line.get("injected") for line in lines]
    assert {1} == {line["session"] for line in lines}
    assert SECRET not in log.read_text()
    moments = [datetime.fromisoformat(line["time"]) for line in lines]
    assert served.stat().st_mtime < moments[0].timestamp() <= moments[1].timestamp() <= time.time()
    lines[1]["time"] = (moments[0] + timedelta(seconds=1.26)).isoformat()
    log.write_text("\n".join(map(json.dumps, lines)))
    done = CliRunner().invoke(cli, ["fail-report", str(log)])
    assert 1 == done.exit_code
    assert "take failed: unconfirmed (injected)\n" in done.stdout
    assert "made the same call again after 1.3 s: against the advice\n" in done.stdout
    assert done.stdout.endswith("5 calls, 3 failures, 1 against the advice.\n")


def test_a_session_that_ended_leaves_its_number_to_nobody(tmp_path, caplog):
    """Three sessions have three numbers, although one has ended before the last begins; a bad line is left out."""

    class Session:
        pass

    log = CallLog(tmp_path / "calls.jsonl")
    first, second = Session(), Session()
    log.write({"name": "take"}, first, CallToolResult(content=[]))
    log.write({"name": "take"}, second, CallToolResult(content=[]))
    del first
    gc.collect()
    third = Session()
    log.write({"name": "take"}, third, CallToolResult(content=[]))
    log.write({"name": "\ud800"}, third, CallToolResult(content=[]))
    log.write({"name": "take"}, second, CallToolResult(content=[]))
    assert "a call could not be written to" in caplog.text
    log._file.close()  # a server has its log for as long as it runs
    lines = (tmp_path / "calls.jsonl").read_text().splitlines()
    assert [1, 2, 3, 2] == [json.loads(line)["session"] for line in lines]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--fail", "tak=busy"], "the server has no tool 'tak'; did you mean 'take'?"),
        (["--fail", "take=bus"], "the tool 'take' declares no reason 'bus'; declared are 'busy', 'unconfirmed'."),
        (["--fail", "seats=busy"], "the tool 'seats' declares no failure modes."),
        (
            ["--fail", "take"],
            "'take' is no failure to inject; write TOOL=REASON, such as place_order=declined, or all.",
        ),
        (["--fail", "take=busy,probability=2"], "probability takes a number above 0 and at most 1, not '2'."),
        (["--fail-log", "missing/calls.jsonl"], "--fail-log missing/calls.jsonl cannot be written"),
        (
            ["--fail", "take=busy", "--http", ":0", "--allow-host", "a b"],
            "--allow-host: 'a b' is not the name of a host",
        ),
    ],
)
def test_bad_input_says_what_there_is(options, message, served, tmp_path):
    """The server does not start, and the message names what could be meant."""
    command = [sys.executable, "-m", "mcpcore", "run", str(served), *options]
    done = subprocess.run(command, cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert (2, "") == (done.returncode, done.stdout)
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def call(tool, outcome="success", *, arguments="a", at=0.0, **facts):
    """A line of a log."""
    time = f"2026-11-29T10:00:{at:06.3f}Z"
    return {"time": time, "session": 1, "tool": tool, "arguments": arguments, "outcome": outcome, **facts}


def failed(tool="pay", *, kind="not_retryable", after=None, **facts):
    """A line of a failure with this retry advice."""
    retry = {"kind": kind} if after is None else {"kind": kind, "afterMs": after}
    return call(tool, "failure", reason="odd", advice="…", retry=retry, **facts)


UNKNOWN = {"effects": "unknown", "fallbackTool": "look"}
AFTER = {"kind": "retryable_after_ms", "after": 2000}


@pytest.mark.parametrize(
    ("lines", "verdict"),
    [
        ([failed()], "allowed"),
        ([failed(), call("pay")], "against the advice"),
        ([failed(), failed(), call("pay", arguments="b")], "against the advice"),
        ([failed(), call("pay", arguments="b")], "allowed"),
        ([failed(effects="unknown"), call("pay", arguments="b")], "unclear"),
        ([failed(), call("other")], "allowed"),
        ([failed(), call("other"), call("pay")], "unclear"),
        ([failed(), failed("other"), call("pay")], "against the advice"),
        ([failed(kind="retryable_immediate"), call("pay")], "allowed"),
        ([failed(**AFTER), call("pay", at=1)], "against the advice"),
        ([failed(**AFTER), call("pay", at=1.99)], "allowed"),
        ([failed(**AFTER), call("other", at=1), call("pay", at=1.5)], "against the advice"),
        ([failed(**UNKNOWN), call("look"), call("pay")], "allowed"),
        ([failed(**UNKNOWN), failed("look"), call("pay")], "against the advice"),
        ([failed(**UNKNOWN), call("other"), call("pay")], "against the advice"),
        ([failed(**UNKNOWN), call("look")], "allowed"),
        ([failed(), {**call("pay"), "session": 2}], "allowed"),
    ],
)
def test_the_advice_judges_what_came_next(lines, verdict, tmp_path):
    """A repeat is allowed where the failure said so; otherwise the verdict is "unclear"."""
    log = tmp_path / "calls.jsonl"
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = CliRunner().invoke(cli, ["fail-report", str(log), "--format", "json"])
    report = json.loads(done.stdout)
    assert verdict == report["failures"][0]["verdict"], report["failures"][0]["then"]
    assert done.exit_code == (1 if report["against"] else 0)
    assert len(lines) == report["calls"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *(
            ("\n".join(map(json.dumps, (failed(), {**failed(), **facts}))), message)
            for facts, message in (
                ({"session": [1]}, "line 2: session has a value of the wrong type"),
                ({"effects": ["none"]}, "line 2: effects has a value of the wrong type"),
                ({"fallbackTool": ["a"]}, "line 2: fallbackTool has a value of the wrong type"),
                ({"arguments": {"a": 1}}, "line 2: arguments has a value of the wrong type"),
                ({"reason": {"x": 1}}, "line 2: reason has a value of the wrong type"),
                # A time without a zone cannot be compared with the others.
                ({"time": "2026-01-01T00:00:00"}, "line 2 is not from a log of calls"),
            )
        ),
        ("hello\n", "line 1 is not from a log of calls"),
        (json.dumps(call("pay")) + '\n{"tool": 1}\n', "line 2 is not from a log of calls"),
        (json.dumps(call("pay")) + '\n\n{"tool": 1}\n', "line 3 is not from a log of calls"),
        (json.dumps(call("pay", "perhaps")) + "\n", "line 1: the outcome is neither success nor failure"),
    ],
)
def test_a_line_that_is_not_from_a_log_is_named(text, message, tmp_path):
    """A log may come from anywhere. The message names the line, and nothing is reported."""
    log = tmp_path / "calls.jsonl"
    log.write_text(text)
    done = CliRunner().invoke(cli, ["fail-report", str(log)])
    assert (2, "") == (done.exit_code, done.stdout)
    assert message in done.stderr


def test_names_in_a_log_are_shown_on_one_line(tmp_path):
    """Neither a terminal nor a reader of the report takes them for something else."""
    path = tmp_path / "calls.jsonl"
    path.write_text(json.dumps(failed("\ud800\x1b[2J\npay failed: declined") | {"reason": "\u202e"}))
    done = CliRunner().invoke(cli, ["fail-report", str(path)])
    assert done.stdout.startswith("\\ud800\\u001b[2J\\npay failed: declined failed: \\u202e\n    advice: ")
    assert 4 == done.stdout.count("\n"), "a failure has three lines, and the summary is one"


def test_a_long_log_takes_time_by_its_length(tmp_path):
    """A session of 40,000 failed calls, of which each differs, took minutes when each was compared with all others."""
    path = tmp_path / "calls.jsonl"
    path.write_text("\n".join(json.dumps(failed() | {"arguments": str(number)}) for number in range(40_000)))
    began = time.process_time()
    done = CliRunner().invoke(cli, ["fail-report", str(path)])
    assert "40000 calls, 40000 failures" in done.stdout.replace(",0", "0")
    assert time.process_time() - began < 30


def test_a_file_that_is_not_there(tmp_path):
    """The message says so."""
    done = CliRunner().invoke(cli, ["fail-report", str(tmp_path / "calls.jsonl")])
    assert 2 == done.exit_code
    assert "cannot be read: No such file or directory." in done.stderr


PLAIN = '''
from mcp.server.mcpserver import MCPServer

server = MCPServer("seats", instructions="Take seats.")
SEATS = []


@server.tool()
def take(seat: str) -> str:
    """Take a seat."""
    SEATS.append(seat)
    return ",".join(SEATS)


server.run()
'''
OVERLAY = """
version = 1

[[tools.take]]
reason = "taken"
code = "CONFLICT"
when = "The seat is taken."
recovery = "Choose another seat."
match.text = "taken"
"""


@pytest.mark.anyio
async def test_the_proxy_fails_on_demand_with_what_the_overlay_declares(tmp_path):
    """A server in any language fails with the reasons of its overlay; the server's own answers pass unchanged."""
    server, overlay = tmp_path / "plain.py", tmp_path / "seats.toml"
    log, errors = tmp_path / "calls.jsonl", tmp_path / "stderr.txt"
    server.write_text(PLAIN)
    overlay.write_text(OVERLAY)
    options = ["--overlay", str(overlay), "--fail", "take=taken,first=1", "--fail", "take=taken,after,first=1"]
    arguments = ["-m", "mcpcore", "proxy", *options, "--fail-log", str(log), "--", sys.executable, str(server)]
    parameters = StdioServerParameters(command=sys.executable, args=arguments)
    with errors.open("w") as errlog:
        async with Client(stdio_client(parameters, errlog=errlog), cache=None) as client:
            assert client.instructions.startswith("Take seats.\n\nThis server is under test")
            answers = [await client.call_tool("take", {"seat": seat}) for seat in "ABC"]
    assert [True, True, False] == [answer.is_error for answer in answers]
    assert "B,C" == answers[2].content[0].text, "the second call reached the server before it failed"
    for answer in answers[:2]:
        error = answer.structured_content["error"]
        assert ("taken", True, "CONFLICT") == (error["data"]["reason"], error["injected"], error["name"])
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert ["failure", "failure", "success"] == [line["outcome"] for line in lines]
    assert "Failures are injected: take=taken,first=1, take=taken,after,first=1." in errors.read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--fail", "all"],
            "no overlay says how the tools fail, so none can fail on demand; name one with --overlay",
        ),
        (["--overlay", "seats.toml", "--fail", "seats=taken"], "the contract has no tool 'seats'; it has 'take'"),
        (["--contract", "seats.toml", "--fail", "take=gone"], "the tool 'take' declares no reason 'gone'"),
    ],
)
def test_the_proxy_says_what_the_contract_has(options, message, tmp_path):
    """The server is not started."""
    (tmp_path / "seats.toml").write_text(OVERLAY)
    command = [sys.executable, "-m", "mcpcore", "proxy", *options, "--", "true"]
    done = subprocess.run(command, cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert (2, "") == (done.returncode, done.stdout)
    assert message in done.stderr
