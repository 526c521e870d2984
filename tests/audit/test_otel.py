"""OpenTelemetry is set up once per process and cannot be removed, so its cases run in a separate process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CASES = Path(__file__).with_name("otel_cases.py")


def test_spans_counters_and_log_records() -> None:
    """Every case passes in a process whose providers are real."""
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", str(CASES)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=CASES.parents[2])
    assert 0 == done.returncode, done.stdout + done.stderr
    assert " passed" in done.stdout
