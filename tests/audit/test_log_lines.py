"""A failure recorded in a file has at most one log line, and only if the log level includes it."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from pathlib import Path

import pytest

from mcpcore.audit import AuditTrail

PROGRAM = """
import logging, sys, anyio
from mcpcore import Context, ErrorCode, FailureMode, Server, tool
from mcp import Client
{setup}

@tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="Gone.", recovery="Search.")])
def f(ctx: Context, crash: bool) -> None:
    if crash:
        raise KeyError("hunter2")
    raise ctx.fail("gone", "Nothing is left.")

async def main():
    async with Client(Server("s", tools=[f], audit=sys.argv[1])) as client:
        await client.call_tool("f", {{"crash": True}})
        await client.call_tool("f", {{"crash": False}})

anyio.run(main)
"""


def stderr_of(path: Path, setup: str = "") -> str:
    script = path.with_name("program.py")  # unlike the words of -c, a script runs in a process that is forked
    script.write_text(PROGRAM.format(setup=setup))
    return subprocess.run([sys.executable, script, path], capture_output=True, text=True, check=True, timeout=60).stderr


def test_records_in_a_file_are_not_logged(path):
    """Standard error has crashes as usual, but no declared failures."""
    stderr = stderr_of(path)
    assert "mcpcore.audit" not in stderr
    assert "correlationId" not in stderr
    assert "Nothing is left." not in stderr
    assert stderr.count("ERROR mcpcore: 'f' failed unexpectedly") == 1
    assert len(path.read_text().splitlines()) == 2


@pytest.mark.parametrize(
    "setup",
    ["logging.basicConfig(level='INFO')", "logging.getLogger('mcpcore.audit').setLevel('DEBUG')"],
)
def test_a_lower_level_logs_a_line_for_each_failure(path, setup):
    """The line has the tool, the reason or code, and the id of the record."""
    stderr = stderr_of(path, setup)
    crash, declared = (json.loads(line)["correlationId"] for line in path.read_text().splitlines())
    lines = [line for line in stderr.splitlines() if "mcpcore.audit" in line]
    assert len(lines) == 2
    assert lines[0].endswith(f"'f' failed: INTERNAL_ERROR (id {crash})")
    assert lines[1].endswith(f"'f' failed: gone (id {declared})")
    assert "Nothing is left." not in stderr


def test_the_line_is_always_a_single_line(tmp_path, failure, caplog):
    """Line breaks, escape sequences and bidi characters are escaped, and long names are cut."""
    hostile = "x\n2026 ERROR\r\x1b[31m\u202e\u2028" + "y" * 10_000
    with AuditTrail.open(tmp_path / "audit.jsonl", sinks=()) as trail:
        trail.record(failure(1, tool=hostile, reason=hostile, correlationId=hostile))
        trail.record({"surface": "resource", "resource": "res://one", "name": "NOT_FOUND", "correlationId": "7"})
        trail.record({})
    first, second, third = caplog.records
    assert {record.levelno for record in caplog.records} == {logging.INFO}
    assert first.getMessage().isprintable()
    assert len(first.getMessage()) < 1_000
    assert second.getMessage() == "'res://one' failed: NOT_FOUND (id 7)"
    assert third.getMessage() == "'None' failed: unknown (id None)"


def test_a_record_that_is_missing_from_the_file_is_logged(tmp_path, failure, caplog):
    """The log has the complete record, at the same level as without a file."""
    AuditTrail(tmp_path / "missing" / "audit.jsonl", sinks=()).record(failure(1, name="INTERNAL_ERROR"))
    record, warning = caplog.records
    assert (record.levelno, json.loads(record.getMessage())["message"]) == (logging.ERROR, failure(1)["message"])
    assert "cannot be written" in warning.getMessage()
