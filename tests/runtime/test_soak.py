"""The soak of `bench.soak` in short: a second in place of two minutes."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.doors import DOORS
from tests.files import ROOT


@pytest.mark.slow
def test_no_answer_is_wrong_and_no_record_lost_under_load() -> None:
    """Cancelled, dropped, half-open and slow connections and garbage among the calls leave no task and no file."""
    command = [sys.executable, "-m", "bench.soak", "--seconds", "1", "--clients", "6", "--kinds", *DOORS]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=200)
    assert 0 == done.returncode, done.stdout + done.stderr[-2000:]
    assert 4 == done.stdout.count(" operations, "), done.stdout
