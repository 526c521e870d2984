"""Fixtures shared by the tests of the trail."""

from __future__ import annotations

import logging
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from mcpcore.audit import AuditTrail

WRITER = Path(__file__).with_name("writer.py")
START = datetime(2026, 11, 20, 8, tzinfo=UTC)


def stamp(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def make_failure(number: int = 1, **fields: Any) -> dict[str, Any]:
    return {
        "timestamp": f"2026-11-21T08:15:{number % 60:02d}.000Z",
        "server": "articles",
        "tool": "fetch_articles",
        "surface": "tool",
        "code": -32001,
        "name": "NOT_FOUND",
        "reason": "no_match",
        "message": f"None of {number} PMIDs returned data.",
        "retry": {"kind": "not_retryable"},
        "correlationId": f"{number:016x}",
        **fields,
    }


def written(path: Path, *numbers: int, **options: Any) -> None:
    """Record failures with these numbers in a trail, and close it."""
    with AuditTrail.open(path, sinks=(), **options) as trail:
        for number in numbers:
            trail.record(make_failure(number))


@pytest.fixture
def path(tmp_path):
    """Where a trail may be written."""
    return tmp_path / "audit.jsonl"


@pytest.fixture
def caplog(caplog):
    """The log, with each line of the audit logger."""
    caplog.set_level(logging.INFO, "mcpcore.audit")
    return caplog


@pytest.fixture(scope="session")
def failure():
    return make_failure


@pytest.fixture
def writer():
    """Start a process that records failures; processes still running at the end are killed."""
    running: list[subprocess.Popen[str]] = []

    def start(path: Path, count: int, name: str = "w", **options: Any) -> subprocess.Popen[str]:
        arguments = [f"{key}={value}" for key, value in options.items()]
        process = subprocess.Popen(
            [sys.executable, str(WRITER), str(path), str(count), name, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        running.append(process)
        return process

    yield start
    for process in running:
        if process.poll() is None:
            process.kill()
        process.wait()
        process.stdout.close()


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch):
    for name in ("MCPCORE_AUDIT", "MCPCORE_AUDIT_KEY", "MCPCORE_AUDIT_POLICY", "MCPCORE_AUDIT_FLUSH"):
        monkeypatch.delenv(name, raising=False)
