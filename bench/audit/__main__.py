"""The figures that docs/explanation/cost.md quotes, with the limits that they must keep: `python -m bench.audit`.

Exits 1 where a limit is broken. Times are medians of the best of several rounds, since other programs only ever add.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, nullcontext
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Final

from bench.audit.kinds import fail_at_length, measured
from bench.conditions import conditions
from mcpcore import ErrorCode, FailureMode, Server, not_found, tool
from mcpcore.audit import AuditTrail, verify

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

RESULTS: Final = Path(__file__).parents[1] / "results" / "audit.json"
LIMIT: Final = 60.0
"""Microseconds that recording one failure may take with default settings."""

ROUNDS: Final = 15
FAILURE: Final[dict[str, Any]] = {
    "timestamp": "2026-11-21T08:15:00.000Z",
    "server": "articles",
    "tool": "fetch_articles",
    "surface": "tool",
    "code": -32001,
    "name": "NOT_FOUND",
    "reason": "no_match",
    "message": "None of 3 PMIDs returned data.",
    "retry": {"kind": "not_retryable"},
    "correlationId": "7c1e0f6a91b2d4e5",
    "context": {"session_id": "550e8400-e29b-41d4-a716-446655440000", "role": "WINDSURF"},
    "data": {"pmids": ["1", "2", "3"]},
}
CRASH: Final[dict[str, Any]] = {
    **FAILURE,
    "name": "INTERNAL_ERROR",
    "reason": None,
    "exception": {"type": "OperationalError", "message": "postgresql://app:hunter2@db/main refused", "causes": []},
    "traceback": "Traceback (most recent call last):\n"
    + '  File "server.py", line 10, in fetch\n    await query()\n' * 12,
    "arguments": {"pmids": ["1", "2", "3"], "api_key": "abc"},
}


def microseconds(work: Callable[[], object], count: int = 400) -> tuple[float, float]:
    """The median and the 99th percentile of one call, of the best of several rounds."""
    best = (float("inf"), float("inf"))
    clock = time.perf_counter_ns
    for _ in range(ROUNDS):
        took = []
        for _ in range(count):
            began = clock()
            work()
            took.append((clock() - began) / 1000)
        took.sort()
        best = min(best, (median(took), took[len(took) * 99 // 100]))
    return best


@tool(errors=[FailureMode("no_match", ErrorCode.NOT_FOUND, when="Nothing matched.", recovery="Search first.")])
async def fetch(n: int) -> str:
    """Answer, or fail where n is negative: as declared, or as nobody foresaw."""
    if n == -1:
        raise not_found("Nothing matched.", data={"reason": "no_match"})
    if n < -1:
        fail_at_length()
    return "fine"


# The name, the argument, whether it is logged as by default, and whether the limit applies. Without a log and a trail,
# no traceback is made and searched for secrets.
CALLS: Final = (
    ("a success", 1, False, True),
    ("a declared failure", -1, False, True),
    ("a declared failure, logged", -1, True, True),
    ("a crash with a long text, logged", -2, True, True),
    ("a crash with a long text", -2, False, False),
)


def calls(path: Path, n: int, *, rounds: int = 24, count: int = 100) -> tuple[float, float]:
    """Microseconds of one call through a server and an in-memory client, without a trail and with one, in turns."""
    from mcp import Client

    async def of(client: Client) -> float:
        took = []
        for _ in range(count):
            began = time.perf_counter_ns()
            await client.call_tool("fetch", {"n": n})
            took.append((time.perf_counter_ns() - began) / 1000)
        return median(took)

    async def run() -> tuple[float, float]:
        async with (
            Client(Server("bench", tools=[fetch], audit=AuditTrail())) as without,
            Client(Server("bench", tools=[fetch], audit=path)) as with_one,
        ):
            pairs = [(await of(without), await of(with_one)) for _ in range(rounds)]
        return min(seconds for seconds, _ in pairs), min(other for _, other in pairs)

    return asyncio.run(run())


@contextmanager
def logged() -> Iterator[None]:
    """The package's records, written to nowhere in the form that a server gives them by default."""
    logger = logging.getLogger("mcpcore")
    with open(os.devnull, "w", encoding="utf-8") as nowhere:  # noqa: PTH123 - no file that a path could name
        handler = logging.StreamHandler(nowhere)
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        level = logger.level
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        try:
            yield
        finally:
            logger.setLevel(level)
            logger.removeHandler(handler)


def within_calls(path: Path, *, count: int = 1500) -> float:
    """Microseconds that recording takes between the other work of real calls, with the caches as those leave them."""
    from mcp import Client

    trail = AuditTrail(path)
    took: list[float] = []

    class Timed(AuditTrail):
        def record(self, record: Mapping[str, Any]) -> None:
            began = time.perf_counter_ns()
            trail.record(record)
            took.append((time.perf_counter_ns() - began) / 1000)

    async def run() -> None:
        async with Client(Server("bench", tools=[fetch], audit=Timed())) as client:
            for _ in range(count):
                await client.call_tool("fetch", {"n": -1})

    asyncio.run(run())
    return min(median(took[start : start + 100]) for start in range(0, count, 100))


def eight_processes(folder: Path) -> tuple[float, float, int]:
    """Seconds that 8 processes take for 100,000 records of one trail, seconds of its check, and problems found."""
    writer = Path(__file__).parents[2] / "tests" / "audit" / "writer.py"
    path = folder / "many.jsonl"
    began = time.perf_counter()
    processes = [
        subprocess.Popen(
            [sys.executable, str(writer), str(path), "12500", f"w{n}", "quiet=1"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for n in range(8)
    ]
    for process in processes:
        process.wait()
    wrote = time.perf_counter() - began
    began = time.perf_counter()
    report = verify(path)
    return wrote, time.perf_counter() - began, len(report.problems) + (report.records != 100_000)


@contextmanager
def folder() -> Iterator[Path]:
    """A folder on the disk that holds the checkout's results, not on one in memory."""
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=RESULTS.parent) as name:
        yield Path(name)


def main() -> int:
    """Measure, print, keep the figures; 1 where a limit is broken."""
    # As in a process that set up no logging: the record is made and, at its level, written nowhere.
    logging.getLogger("mcpcore").addHandler(logging.NullHandler())
    # Or else the first server sets it up.
    logging.getLogger().addHandler(logging.NullHandler())
    logging.getLogger("mcpcore").propagate = False
    logging.getLogger("mcpcore").setLevel(logging.WARNING)
    figures: dict[str, Any] = {**conditions(), "limit_microseconds": LIMIT, "record": {}}
    with folder() as where:
        variants: dict[str, tuple[dict[str, Any], dict[str, Any], int]] = {
            "default settings": ({}, FAILURE, 400),
            "a crash, with a traceback and secrets": ({}, CRASH, 400),
            "signed with a key": ({"key": "k" * 32}, FAILURE, 400),
            "flushed every second": ({"flush": "interval"}, FAILURE, 400),
            "flushed with each record": ({"flush": "fsync"}, FAILURE, 20),
            "the logger alone": ({"path": None}, FAILURE, 400),
        }
        for number, (name, (options, record, count)) in enumerate(variants.items()):
            path = options.pop("path", where / f"trail{number}")
            with AuditTrail(path, **options) as trail:
                cost, worst = microseconds(lambda trail=trail, record=record: trail.record(record), count)  # type: ignore[misc]
            figures["record"][name] = {"median": round(cost, 1), "p99": round(worst, 1)}
            print(f"{name:40} {cost:8.1f} us, p99 {worst:8.1f} us")
        figures["kinds"] = {}
        with AuditTrail(where / "kinds") as trail:
            for name, cost, other in measured(trail, lambda work: microseconds(work, 200)[0]):
                figures["kinds"][name] = {"median": round(cost, 1)}
                verdict = "within" if cost <= LIMIT else "ABOVE"
                line = f"{name:40} {cost:8.1f} us, {verdict} {LIMIT:.0f} us"
                if other is not None:
                    figures["kinds"][name]["plain_logging"] = round(other, 1)
                    line += f"; {cost / other:.2f} of what logging the crash takes"
                print(line)
        logging.getLogger("mcpcore").setLevel(logging.CRITICAL)
        within = within_calls(where / "within")
        figures["record"]["default settings, within calls"] = {"median": round(within, 1)}
        print(f"{'default settings, within calls':40} {within:8.1f} us")
        figures["call"] = {}
        too_slow = []
        for number, (name, n, heard, limited) in enumerate(CALLS):
            with logged() if heard else nullcontext():
                without, with_one = calls(where / f"server{number}", n)
            more = with_one - without
            figures["call"][name] = {"without": round(without, 1), "with": round(with_one, 1), "more": round(more, 1)}
            verdict = "no limit" if not limited else "within" if more <= LIMIT else "ABOVE"
            too_slow += [name] if verdict == "ABOVE" else []
            print(f"{name:40} {without:8.1f} us without a trail, {more:6.1f} more with one, {verdict}")
        wrote, checked, problems = eight_processes(where)
        figures["eight_processes"] = {"seconds": round(wrote, 2), "verify_seconds": round(checked, 2)}
        print(f"100,000 records of 8 processes: {wrote:.1f} s; verified in {checked:.2f} s, {problems} problems")
    RESULTS.write_text(json.dumps(figures, indent=2) + "\n")
    defaults = ("default settings", "default settings, within calls")
    slowest = max(
        *(figures["record"][name]["median"] for name in defaults), *(row["median"] for row in figures["kinds"].values())
    )
    return 0 if slowest <= LIMIT and not too_slow and problems == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
