"""What the proxy costs: `python -m bench.proxy [--quick]`.

One client calls one tool of one server over stdio: directly, through `mcpcore proxy`, and through the proxy of FastMCP.
All three run at the same time and take turns, so that a busy machine slows all of them.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from contextlib import AsyncExitStack
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import anyio
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from bench.conditions import conditions

RESULTS = Path(__file__).parents[1] / "results"

SERVER: Final = (sys.executable, "-m", "bench.proxy.server")
FASTMCP: Final = f"""
from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy
create_proxy(StdioTransport({SERVER[0]!r}, {list(SERVER[1:])!r})).run(show_banner=False)
"""
WAYS: Final = {
    "directly": SERVER,
    "mcpcore proxy": (sys.executable, "-m", "mcpcore", "proxy", "--", *SERVER),
    f"FastMCP {version('fastmcp')} proxy": (sys.executable, "-c", FASTMCP),
}
CALLS: Final = {
    "a short text": ("small", {"n": 1}),
    "100 KB of structured content": ("large", {"n": 1_000}),
    "a failure": ("fail", {"n": 1}),
}


async def measure(rounds: int) -> dict[str, Any]:
    """The seconds to start, and the milliseconds of each kind of call."""
    figures: dict[str, Any] = {}
    async with AsyncExitStack() as stack:
        clients: dict[str, Client] = {}
        nowhere = stack.enter_context(Path(os.devnull).open("w"))  # noqa: ASYNC230, SIM115 - once
        for way, command in WAYS.items():
            start = time.perf_counter()
            parameters = StdioServerParameters(command=command[0], args=list(command[1:]), env=dict(os.environ))
            client = Client(stdio_client(parameters, errlog=nowhere), mode="legacy")
            clients[way] = await stack.enter_async_context(client)
            await clients[way].list_tools()
            figures[way] = {"start_s": round(time.perf_counter() - start, 2)}
        for kind, (tool, arguments) in CALLS.items():
            times: dict[str, list[float]] = {way: [] for way in clients}
            for _ in range(rounds):
                for way, client in clients.items():
                    start = time.perf_counter()
                    await client.call_tool(tool, arguments)
                    times[way].append((time.perf_counter() - start) * 1_000)
            for way, taken in times.items():
                ordered = sorted(taken[len(taken) // 10 :])
                figures[way][kind] = {
                    "median_ms": round(statistics.median(ordered), 2),
                    "p95_ms": round(ordered[int(len(ordered) * 0.95)], 2),
                }
    return figures


def table(figures: dict[str, Any]) -> str:
    """The figures in Markdown."""
    lines = ["| | start | " + " | ".join(CALLS) + " |", "|---|---:|" + "---:|" * len(CALLS)]
    for way, row in figures.items():
        cells = [f"{row[kind]['median_ms']:.2f} ms ({row[kind]['p95_ms']:.2f})" for kind in CALLS]
        lines.append(f"| {way} | {row['start_s']:.2f} s | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Run the bench; 1 if the proxy costs more than that of FastMCP."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds, and nothing is written")
    quick = parser.parse_args().quick
    figures = anyio.run(measure, 20 if quick else 200)
    print(table(figures))
    if not quick:
        environment = {**conditions(), "mcp": version("mcp")}
        (RESULTS / "proxy.json").write_text(json.dumps({"environment": environment, "ways": figures}, indent=2) + "\n")
        (RESULTS / "proxy.md").write_text(table(figures))
    own, other = list(figures)[1:]
    worse = [kind for kind in CALLS if figures[own][kind]["median_ms"] > figures[other][kind]["median_ms"]]
    for kind in worse:
        print(f"missed: {kind} is slower than through {other}")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
