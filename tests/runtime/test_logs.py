"""Log records go to the application's logging if it is set up, and otherwise once to standard error, one line each."""

from __future__ import annotations

import logging
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

PROGRAM = """
import logging, sys, anyio
{setup}
from mcpcore import Context, ErrorCode, FailureMode, Server, tool
from mcp import Client

@tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="Gone.", recovery="Search.")])
def f(ctx: Context, crash: bool) -> None:
    if crash:
        raise KeyError("hunter2")
    raise ctx.fail("gone")

{made}
{after}

async def main():
    async with Client(server) as client:
        await client.call_tool("f", {{"crash": True}})
        await client.call_tool("f", {{"crash": False}})

anyio.run(main)
"""


MADE = {
    "server": 'server, second = Server("s", tools=[f]), Server("t")',
    # This test creates no `Server` because the SDK would set up logging, which FastMCP leaves to the application.
    "fastmcp": """
from fastmcp import FastMCP
from mcpcore.integrations.fastmcp import ContractMiddleware
mcp = FastMCP("s", middleware=[ContractMiddleware()])
mcp.add_tool(f)
server = mcp._mcp_server
""",
}


Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run the program on a door, in a process that is forked, since it is a script."""

    def run_program(door: str, setup: str = "", after: str = "") -> subprocess.CompletedProcess[str]:
        script = tmp_path / "program.py"
        script.write_text(PROGRAM.format(setup=textwrap.dedent(setup), after=textwrap.dedent(after), made=MADE[door]))
        return subprocess.run([sys.executable, script], capture_output=True, text=True, check=True, timeout=60)

    return run_program


@pytest.mark.server_only("FastMCP sets up no root logger, so only Python's handler of last resort is there")
def test_without_logging_setup_each_record_is_printed_once_on_standard_error(served_by: str, run: Run) -> None:
    """Crashes have a traceback, failures an audit record, and standard output is left to the protocol."""
    done = run(served_by)
    assert "" == done.stdout
    assert 1 == done.stderr.count("ERROR mcpcore: 'f' failed unexpectedly")
    assert 2 == done.stderr.count(" mcpcore.audit: {")
    assert "\n  KeyError: 'hunter2'\n" in done.stderr


@pytest.mark.parametrize(
    ("setup", "after", "framework"),
    [
        ("logging.basicConfig(format='APP %(name)s %(message)s', level='INFO')", "", "fastmcp"),
        ("", "logging.basicConfig(format='APP %(name)s %(message)s', level='INFO', force=True)", "server"),
    ],
)
def test_an_application_that_sets_up_logging_decides_alone(setup: str, after: str, framework: str, run: Run) -> None:
    """It may do so before or after the server is created."""
    done = run(framework, setup, after)
    for count, text in (
        (1, "APP mcpcore 'f' failed unexpectedly"),
        (1, "'f' failed unexpectedly"),
        (2, "APP mcpcore.audit {"),
        (2, '"correlationId"'),
    ):
        assert count == done.stderr.count(text)


@pytest.mark.parametrize(
    ("framework", "after"),
    [("fastmcp", "logging.getLogger('mcpcore').setLevel(logging.CRITICAL + 1)"), ("server", "sys.stderr = None")],
)
def test_a_silenced_logger_and_a_process_without_standard_error_print_nothing(
    framework: str, after: str, run: Run
) -> None:
    """The usual means of the standard library work, and some hosts start their servers without standard error."""
    assert "" == run(framework, after=after).stderr


def test_a_failing_stream_is_reported_by_logging(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is raised."""
    from mcpcore.values.logs import _Plain

    stands_in_for = logging.NullHandler()
    handler = _Plain([stands_in_for])
    failed: list[logging.LogRecord] = []
    monkeypatch.setattr(handler, "handleError", failed.append)
    monkeypatch.setattr(sys, "stderr", object())
    logging.getLogger().addHandler(stands_in_for)
    try:
        handler.emit(logging.makeLogRecord({"msg": "x"}))
    finally:
        logging.getLogger().removeHandler(stands_in_for)
    assert 1 == len(failed)
    handler.emit(logging.makeLogRecord({"msg": "x"}))
    assert 1 == len(failed)
