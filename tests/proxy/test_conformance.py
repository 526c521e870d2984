"""The MCP conformance suite finds no difference between a server and the same server behind the proxy."""

from __future__ import annotations

import re
import subprocess
import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent / "conformance"
MODULES = HERE / "node_modules"
NODE = next(iter(sorted(MODULES.glob("node-*/bin/node"))), MODULES / "node")
SERVER = HERE / "server.py"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not NODE.exists(), reason="the suite is not installed: make conformance"),
]


def scenarios(url: str, version: str) -> dict[str, tuple[str, str]]:
    """Return the passed and the failed checks of each scenario."""
    suite = MODULES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    command = [NODE, suite, "server", "--url", url, "--suite", "all", "--spec-version", version]
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, timeout=300, check=False, cwd=HERE
    )
    found = {
        name: (passed, failed)
        for name, passed, failed in re.findall(r"^[✓✗] ([\w-]+): (\d+) passed, (\d+) failed", done.stdout, re.MULTILINE)
    }
    assert len(found) > 15, done.stdout + done.stderr
    return found


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
def test_the_proxy_conforms_as_its_server_does(version: str, conformance_url: str, http_front: Any) -> None:
    """Each scenario has the same result, in front of a URL and of a command."""
    fronts: list[AbstractContextManager[str]] = [
        http_front("--url", conformance_url),
        http_front("--", sys.executable, SERVER),
    ]
    directly = scenarios(conformance_url, version)
    for front in fronts:
        with front as url:
            assert directly == scenarios(url, version)
