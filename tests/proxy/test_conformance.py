"""The MCP conformance suite finds no difference between a server of the SDK and the same server behind the proxy."""

from __future__ import annotations

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.reach.drivers import NODE

HERE = Path(__file__).parent / "conformance"
SUITE = HERE / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
SERVER = HERE / "server.py"

# A scenario ends requests after 0.5 s to 1.5 s, whatever came until then: too early for a busy machine, and the suite has no
# option for it. Only these limits change: its other ones are longer, and where it waits on purpose it waits as long as ever.
_WAIT = "const wait = setTimeout; globalThis.setTimeout = (run, ms, ...rest) => wait(run, /abort/.test(run) ? Math.max(ms, 3000) : ms, ...rest)"
PATIENT_NODE = (NODE, "--import", f"data:text/javascript,{_WAIT}")

Checks = dict[str, tuple[str, str]]
"""The passed and the failed checks of each scenario."""


def run(url: str, version: str) -> Checks:
    """Run the suite against the server at `url`."""
    if not SUITE.exists():
        pytest.fail("The conformance suite is not installed. Run `make conformance`.")
    command = [*PATIENT_NODE, SUITE, "server", "--url", url, "--spec-version", version, "--suite", "all"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, cwd=HERE)
    checks = re.findall(r"^[✓✗] ([\w-]+): (\d+) passed, (\d+) failed", done.stdout, re.MULTILINE)
    assert checks, done.stdout + done.stderr
    return {name: (passed, failed) for name, passed, failed in checks}


@pytest.mark.slow
def test_the_proxy_conforms_as_its_server_does(conformance_url: str, http_front: Any) -> None:
    """Each scenario has the same result, in front of a URL and of a command."""
    with (
        http_front("--url", conformance_url) as url,
        http_front("--", sys.executable, SERVER) as command,
        ThreadPoolExecutor(6) as pool,
    ):
        places = (conformance_url, url, command)
        runs = [[pool.submit(run, at, version) for at in places] for version in ("2026-07-28", "2025-11-25")]
        for expected, by_url, by_command in ([check.result() for check in checks] for checks in runs):
            assert len(expected) > 30
            # The server keeps no events, so a stream cannot be resumed.
            assert {"server-sse-polling"} >= {name for name, (_, failed) in expected.items() if failed != "0"}
            assert expected == by_url == by_command
