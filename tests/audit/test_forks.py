"""A process that forks: both processes write one chain, each with separate descriptors."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from mcpcore.audit import verify
from mcpcore.audit.reading import read

PROGRAM = """
import os, sys
from mcpcore.audit import AuditTrail

trail = AuditTrail.open(sys.argv[1], sinks=(), flush=sys.argv[2])
closed = AuditTrail.open(sys.argv[1] + ".other", sinks=())
closed.record({"tool": "before"})
closed.close()
trail.record({"tool": "before"})
child = os.fork()
for number in range(20):
    trail.record({"tool": "child" if child == 0 else "parent"})
if child:
    _, status = os.waitpid(child, 0)
    trail.record({"tool": "after"})
    sys.exit(os.waitstatus_to_exitcode(status))
closed.record({"tool": "child"})
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.parametrize("flush", ["record", "interval"])
def test_a_child_that_ends_as_any_program_does_leaves_one_chain(path, tmp_path, flush):
    """Shared descriptors and the flushing thread write nothing twice, and a closed trail is opened again if needed."""
    # Newer Python versions warn about forks with threads; the trail's own thread is what this tests.
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", PROGRAM, str(path), flush]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (0, "") == (done.returncode, done.stderr)
    report = verify(path)
    assert (True, 42, []) == (report.ok, report.records, report.notes)
    tools = [record["tool"] for record in read(path)]
    assert ("before", 20, 20, "after") == (tools[0], tools.count("child"), tools.count("parent"), tools[-1])
    assert 2 == verify(tmp_path / "audit.jsonl.other").records


LOSSES = """
import os, sys
from pathlib import Path
from mcpcore.audit import AuditTrail

folder = Path(sys.argv[1])
away = folder.with_name("away")
trail = AuditTrail.open(folder / "audit.jsonl", sinks=())
trail.record({"tool": "before"})
folder.rename(away)
for _ in range(3):
    trail.record({"tool": "lost"})
child = os.fork()
if child:
    os.waitpid(child, 0)
else:
    away.rename(folder)
assert trail.lost == (3 if child else 0)
trail.record({"tool": "writes"})
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_losses_from_before_a_fork_are_reported_by_the_parent(tmp_path):
    """The child has lost nothing."""
    folder = tmp_path / "logs"
    folder.mkdir()
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", LOSSES, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert 0 == done.returncode, done.stderr
    assert "AssertionError" not in done.stderr
    assert verify(folder / "audit.jsonl").ok
    records = [(record.get("tool"), record.get("records")) for record in read(folder / "audit.jsonl")]
    assert [("before", None), ("writes", None), (None, 3), ("writes", None)] == records


IDENTITIES = """
import os, sys
import anyio
from mcp import Client
from mcpcore import Server, not_found

server = Server("forking")

@server.tool(errors=[])
def fail() -> str:
    raise not_found("Nothing.")

async def calls():
    async with Client(server) as client:
        for _ in range(100):
            result = await client.call_tool("fail", {})
            print(result.structured_content["error"]["correlationId"], flush=True)

anyio.run(calls)
child = os.fork()
anyio.run(calls)
if child:
    _, status = os.waitpid(child, 0)
    sys.exit(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_child_gives_its_failures_other_identities():
    """Those that the parent drew before the fork and has not used stay with the parent."""
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", IDENTITIES]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert 300 == len(set(done.stdout.split()))
