"""Memory over 100,000 failing calls: `python -m bench.runtime.memory` prints it as JSON."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import tracemalloc
from pathlib import Path
from typing import Any

from mcp import Client

from bench.runtime.peers import ARGUMENTS, PEERS, TOOL, Outcome

CALLS = 100_000
SETTLED = 20_000
TRACED = 6_000
_FAILURES: tuple[Outcome, ...] = ("declared", "arguments", "declared", "crash")


def resident() -> int:
    """The process's memory, in KiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4


async def fail(client: Client, count: int) -> None:
    """Make `count` calls that fail in turn in each way."""
    for number in range(count):
        result = await client.call_tool(TOOL, ARGUMENTS[_FAILURES[number % len(_FAILURES)]])
        assert result.is_error


async def main() -> dict[str, Any]:
    """Fail, look, fail on, look again; then once more with the allocator watched, to name what grew."""
    # The records are made, and written nowhere: 100,000 tracebacks on a disk are not what is measured.
    for name in ("mcpcore", "mcpcore.audit"):
        logging.getLogger(name).addHandler(logging.NullHandler())
        logging.getLogger(name).propagate = False
        logging.getLogger(name).setLevel(logging.DEBUG)
    logging.getLogger("mcp").setLevel(logging.CRITICAL)
    async with Client(PEERS["mcpcore"].target()) as client:
        await fail(client, SETTLED)
        gc.collect()
        settled = resident()
        await fail(client, CALLS - SETTLED)
        gc.collect()
        ended = resident()
        tracemalloc.start(3)
        await fail(client, TRACED // 3)
        gc.collect()
        before = tracemalloc.take_snapshot()
        await fail(client, TRACED)
        gc.collect()
        after = tracemalloc.take_snapshot()
    ours = [tracemalloc.Filter(inclusive=False, filename_pattern=tracemalloc.__file__)]
    grown = after.filter_traces(ours).compare_to(before.filter_traces(ours), "lineno")
    return {
        "calls": CALLS,
        "rss_kib_after_20000": settled,
        "rss_kib_after_100000": ended,
        "grown_kib": ended - settled,
        "traced_calls": TRACED,
        "traced_growth_bytes": sum(difference.size_diff for difference in grown),
        "traced_top": [
            f"{difference.traceback}: {difference.size_diff:+} bytes".rsplit("/", 1)[-1] for difference in grown[:3]
        ],
    }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main())))
