"""The labelled set of real exceptions, as far as the libraries of the test environment raise it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench.classify.__main__ import microseconds
from bench.classify.unseen import figures, messages

SERVICES = (
    "openai,anthropic,botocore,google.api_core,google.auth,grpc,azure.core,elasticsearch,psycopg,asyncpg,pymysql,"
    "pymongo,bson"
)
"""Libraries that may be missing outside the environment of the bench."""


@pytest.mark.slow
def test_real_exceptions_get_the_code_that_an_engineer_gives_them(tmp_path: Path) -> None:
    """At least 97 % are right, no bug is blamed on the caller, and the reference alone is far behind."""
    results = tmp_path / "classify.json"
    # In a separate process: the libraries leave sockets open, and some change others when they are imported.
    run = subprocess.run(
        [sys.executable, "-m", "bench.classify", "-v", "--accuracy", "--without", SERVICES, "--results", str(results)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    report = json.loads(results.read_text())
    assert report["cases"] >= 300
    assert report["mistakes_of_the_program"] >= 50
    assert report["classify"]["percent"] >= 97, run.stdout
    assert report["classify"]["blamed"] == 0, run.stdout
    assert report["reference"]["percent"] < 60


@pytest.mark.parametrize(("half", "wrong", "coded"), [("open", 0.55, 71.8), ("closed", 4.91, 69.6)])
def test_messages_that_nobody_wrote_for_mcpcore_get_no_worse(half: str, wrong: float, coded: float) -> None:
    """Neither more wrong codes nor more silence than the page tells."""
    report = figures([message for message in messages() if message.half == half])
    assert report["wrong_percent"] <= wrong
    assert report["agreed_coded_percent"] >= coded


@pytest.mark.skipif(sys.gettrace() is not None, reason="to count branches takes longer than to classify")
def test_a_known_type_costs_next_to_nothing() -> None:
    """The class alone decides, so its answer is looked up: the limits are wide, for machines that are busy."""
    assert microseconds(TimeoutError("slow")) < 5
    assert microseconds(RuntimeError("The user 'ada' was not found in the directory of project apollo")) < 100
