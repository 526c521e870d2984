"""Streamable HTTP under load: `python -m bench.soak [--seconds 120] [--clients 64]`.

64 clients, a quarter of them strangers, call a `Server`, a FastMCP server and the bare SDK, stateless and stateful, for
two minutes each. Prints the figures and writes them to bench/results/soak.json; 1 where an answer was wrong, a record
is missing, or memory, tasks or files grew.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import httpx2

from bench.soak.clients import OF_THE_SDK, OPERATIONS, Tally, polite, rude
from bench.soak.served import KINDS
from mcpcore.audit import verify

if TYPE_CHECKING:
    from collections.abc import Iterator

RESULTS = Path(__file__).parents[1] / "results" / "soak.json"
MAX_GROWTH_KIB = 16 * 1024
"""KiB by which the memory may grow from the first third to the end; 100,000 calls may leave 20 bytes each and the
allocator some arenas."""

MAX_TASKS = 3
MAX_FILES = 5
"""How many more tasks and open files there may be after the soak than before it."""


@contextmanager
def served(kind: str, trail: Path, *, stateful: bool) -> Iterator[int]:
    """Serve in another process and return the port."""
    command = [sys.executable, "-m", "bench.soak.served", kind, *(["--stateful"] if stateful else [])]
    environment = {**os.environ, "MCPCORE_AUDIT": str(trail)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            yield int(process.stdout.readline())
        finally:
            process.terminate()


async def vitals(port: int) -> dict[str, int]:
    """The memory, tasks and files of the server."""
    async with httpx2.AsyncClient(timeout=30) as client:
        answer: dict[str, int] = (await client.get(f"http://127.0.0.1:{port}/vitals")).json()
        return answer


async def soak(kind: str, trail: Path, *, stateful: bool, seconds: float, clients: int) -> dict[str, Any]:
    """Soak one server; return what was measured and what is wrong."""
    tally = Tally()
    kinds = OF_THE_SDK if kind == "sdk" else tuple(OPERATIONS)
    with served(kind, trail, stateful=stateful) as port:
        url = f"http://127.0.0.1:{port}/mcp"
        # The first calls load modules and fill caches.
        await polite(url, Tally(), 0, time.monotonic() + min(2.0, seconds / 4), mode="legacy", kinds=kinds)
        before = await vitals(port)
        deadline = time.monotonic() + seconds
        early: dict[str, int] = {}

        async def look() -> None:
            await anyio.sleep(seconds / 3)
            early.update(await vitals(port))

        async with anyio.create_task_group() as group:
            group.start_soon(look)
            for number in range(clients):
                if number % 4 == 3:
                    group.start_soon(rude, port, tally, number, deadline)
                else:
                    # Requests of 2026-07-28 know no sessions.
                    mode = "legacy" if stateful or number % 2 else "auto"
                    group.start_soon(
                        lambda number=number, mode=mode: polite(url, tally, number, deadline, mode=mode, kinds=kinds)
                    )
        after = await settled(port, before)
    return {
        "kind": kind,
        "stateful": stateful,
        "operations": tally.operations,
        "failures": len(tally.failures),
        "p50_ms": percentile(tally.seconds.get("echo", []), 50),
        "p99_ms": percentile(tally.seconds.get("echo", []), 99),
        "grown_kib": after["rss_kib"] - early["rss_kib"],
        "tasks_left": after["tasks"] - before["tasks"],
        "files_left": after["files"] - before["files"],
        "problems": [] if kind == "sdk" else problems(tally, trail, before, early, after),
    }


async def settled(port: int, before: dict[str, int]) -> dict[str, int]:
    """The vitals when the connections that were broken off have ended, at the latest after 15 seconds."""
    for _ in range(30):
        after = await vitals(port)
        if after["tasks"] <= before["tasks"] and after["files"] <= before["files"]:
            break
        await anyio.sleep(0.5)
    return after


def problems(
    tally: Tally, trail: Path, before: dict[str, int], early: dict[str, int], after: dict[str, int]
) -> list[str]:
    """What is wrong, as sentences."""
    faults = [f"wrong answer: {wrong}" for wrong in tally.wrong[:5]]
    if len(tally.wrong) > 5:
        faults.append(f"{len(tally.wrong)} wrong answers in all")
    report = verify(trail)
    faults += [f"the trail does not verify: {problem}" for problem in report.problems[:3]]
    files = sorted(trail.parent.glob(f"{trail.name}*"))
    lines = [line for path in files if not path.name.endswith(".head") for line in path.read_text().splitlines()]
    lost = tally.failures - {json.loads(line).get("correlationId") for line in lines}
    if lost:
        faults.append(f"{len(lost)} of {len(tally.failures)} failures have no record, such as {min(lost)}")
    if after["rss_kib"] - early["rss_kib"] > MAX_GROWTH_KIB:
        faults.append(f"the memory grew from {early['rss_kib']} to {after['rss_kib']} KiB")
    if after["tasks"] - before["tasks"] > MAX_TASKS:
        faults.append(f"{before['tasks']} tasks became {after['tasks']}")
    if after["files"] - before["files"] > MAX_FILES:
        faults.append(f"{before['files']} open files became {after['files']}")
    return faults


def percentile(seconds: list[float], percent: int) -> float:
    """The percentile in milliseconds; 0 of nothing."""
    ordered = sorted(seconds) or [0.0]
    return round(ordered[len(ordered) * percent // 100] * 1000, 1)


def main() -> int:
    """Soak each server, and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    options = parser.parse_args()
    # The SDK's client logs every answer that comes after its caller went away, which is what these clients do.
    logging.getLogger("mcp.client").setLevel(logging.CRITICAL)
    results: list[dict[str, Any]] = []
    for stateful in (False, True):
        for kind in options.kinds:
            with tempfile.TemporaryDirectory() as folder:
                trail = Path(folder) / "trail.jsonl"
                result = asyncio.run(
                    soak(kind, trail, stateful=stateful, seconds=options.seconds, clients=options.clients)
                )
            results.append(result)
            how = "stateful" if stateful else "stateless"
            print(
                f"{kind:8} {how:9} {result['operations']:7} operations, {result['failures']:6} failures, "
                f"p50 {result['p50_ms']} ms, p99 {result['p99_ms']} ms, memory {result['grown_kib']:+} KiB, "
                f"tasks {result['tasks_left']:+}, files {result['files_left']:+}",
                flush=True,
            )
            for problem in result["problems"]:
                print(f"  {problem}", flush=True)
    if options.seconds >= 120:
        RESULTS.write_text(json.dumps(results, indent=2) + "\n")
    return 1 if any(result["problems"] for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
