"""Several uvicorn workers with one trail, alone and behind a reverse proxy: real workers, real sockets."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client

from mcpcore.audit import verify
from tests.answers import envelope_of
from tests.runtime.test_refusals import JSON
from tests.runtime.workers_server import proxy_app
from tests.serving import served

ROOT = Path(__file__).parents[2]
WORKERS = 2
CLIENTS = 4
CALLS = 4
MORE_CALLS = 300
"""Further calls at most until a second worker answers: on a busy machine, one of them may take all connections."""


@contextmanager
def uvicorn(app: str, **environment: str) -> Iterator[str]:
    """Serve an application of `workers_server` and return its URL."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "uvicorn", "--factory", f"tests.runtime.workers_server:{app}"]
    process = subprocess.Popen(
        [*command, "--port", str(port), "--workers", str(WORKERS), "--log-level", "warning"],
        cwd=ROOT,
        env={**os.environ, **environment},
    )
    url = f"http://127.0.0.1:{port}/mcp"
    try:
        for _ in range(600):
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                assert process.poll() is None
                time.sleep(0.05)
        yield url
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


async def exercise(url: str) -> tuple[set[int], list[str]]:
    """Return the processes that answered, and the ids of the failures."""
    processes: set[int] = set()
    failures: list[str] = []

    async def client_of(number: int) -> None:
        for key in range(CALLS):
            async with Client(url) as client:  # a connection each, so that the workers take turns
                result = await client.call_tool("fetch", {"key": number * CALLS + key})
            if key % 2:
                envelope = envelope_of(result)
                assert "no_match" == envelope.reason
                assert envelope.correlation_id is not None
                failures.append(envelope.correlation_id)
            else:
                assert result.structured_content is not None
                processes.add(result.structured_content["result"])

    async with anyio.create_task_group() as group:
        for number in range(CLIENTS):
            group.start_soon(client_of, number)
    for _ in range(MORE_CALLS):
        if len(processes) > 1:
            break
        async with Client(url) as client:
            processes.add((await client.call_tool("fetch", {"key": 0})).structured_content["result"])
    return processes, failures


def records_of(trail: Path) -> list[dict[str, Any]]:
    report = verify(trail)
    assert report.ok, report.problems
    return [json.loads(line) for line in trail.read_text().splitlines()]


@pytest.mark.slow
def test_workers_share_one_trail(served_by: str, trail: Path) -> None:
    """Every failure that a client received is in the trail, which still verifies; the workers stop and write the rest.

    The clients reach the workers directly, and through a reverse proxy.
    """
    received: list[str] = []
    with (
        uvicorn(f"{served_by}_app", MCPCORE_AUDIT=str(trail)) as url,
        served(proxy_app(url.removesuffix("/mcp"))) as public,
    ):
        for address in (url, public):
            processes, failures = anyio.run(exercise, address)
            assert len(processes) > 1
            assert CLIENTS * CALLS // 2 == len(failures)
            received += failures
        for _ in range(10):
            assert 421 == httpx2.post(url, headers={**JSON, "host": "evil.example"}, content="{}").status_code
    records = records_of(trail)
    assert sorted(received) == sorted(record["correlationId"] for record in records if record["reason"] == "no_match")
    # Each worker has counted for itself.
    refused = [record["count"] for record in records if record["reason"] == "wrong_host"]
    assert 10 == sum(refused)
    assert len(refused) <= WORKERS
