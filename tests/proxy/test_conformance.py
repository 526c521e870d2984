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

Checks = dict[str, tuple[str, str]]
"""The passed and the failed checks of each scenario."""


def run(url: str, version: str) -> Checks:
    """Run the suite against the server at `url`."""
    if not SUITE.exists():
        pytest.fail("The conformance suite is not installed. Run `make conformance`.")
    command = [NODE, SUITE, "server", "--url", url, "--spec-version", version, "--suite", "all"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, cwd=HERE)
    found = re.findall(r"^[✓✗] ([\w-]+): (\d+) passed, (\d+) failed", done.stdout, re.MULTILINE)
    assert found, done.stdout + done.stderr
    return {name: (passed, failed) for name, passed, failed in found}


@pytest.mark.slow
def test_the_proxy_conforms_as_its_server_does(conformance_url: str, http_front: Any) -> None:
    """Each scenario has the same result, in front of a URL and of a command."""
    with (
        http_front("--url", conformance_url) as url,
        http_front("--", sys.executable, SERVER) as command,
        ThreadPoolExecutor(4) as pool,
    ):
        for version in ("2026-07-28", "2025-11-25"):
            directly, by_url, by_command = (pool.submit(run, at, version) for at in (conformance_url, url, command))
            expected = directly.result()
            assert len(expected) > 30
            # The server keeps no events, so a stream cannot be resumed.
            assert {"server-sse-polling"} >= {name for name, (_, failed) in expected.items() if failed != "0"}
            assert expected == by_url.result() == by_command.result()
