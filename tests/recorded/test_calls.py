"""No change makes a call dearer unseen: each outcome runs the number of functions in `calls.json`, plus 3 % at most."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.recorded.calls import RECORDED


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="other versions of Python run other functions")
def test_a_call_runs_no_more_functions_than_were_recorded():
    """`python -m tests.recorded.calls --record` counts again, in a new process, as here."""
    # With an option of the interpreter, the process is a new one, in which nothing else is imported.
    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-m", "tests.recorded.calls"], capture_output=True, text=True, check=True
    )
    counts = json.loads(done.stdout)
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))

    assert counts.keys() == recorded.keys()
    assert {name: count for name, count in counts.items() if count > 1.03 * recorded[name]} == {}
