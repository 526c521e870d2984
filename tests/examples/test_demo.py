"""The demonstration, as `make demo` runs it."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from examples.workspace.server import make_server
from tests.files import ROOT


def run(**environment):
    return subprocess.run(
        [sys.executable, "-m", "examples.demo"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=ROOT,
        env={**os.environ, **environment},
    )


def test_the_demonstration_shows_every_kind_of_outcome():
    """A success, each declared failure, bad arguments and a crash are there; piped, it is plain text."""
    done = run()
    assert (0, "") == (done.returncode, done.stderr)
    shown = set(re.findall(r"\(reason (\w+) ·", done.stdout))
    declared = {reason for contract in make_server(str(ROOT)).contracts.values() for reason in contract.reasons}
    assert declared | {"invalid_arguments"} == shown
    assert '"text": "# Today\\n\\nBuy milk.\\nBuy bread.\\n"' in done.stdout
    client, log = done.stdout.split("the server's log, under the id ")
    assert "ZeroDivisionError" not in client
    assert "ZeroDivisionError: division by zero" in log
    assert log[:16] in client
    assert "INTERNAL_ERROR" in client
    assert "\x1b" not in done.stdout
