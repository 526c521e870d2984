"""The cost of a call, compared with the bare SDK and with FastMCP: `python -m bench.runtime [--quick]`.

Prints the figures and writes them to bench/results/runtime.json and runtime.md; 1 where a target is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import functools
import json
import logging
import subprocess
import sys
import tempfile
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from mcp import Client

from bench.conditions import conditions
from bench.runtime import bounds, small, startup
from bench.runtime.peers import ARGUMENTS, OUTCOMES, PEERS, TOOL
from bench.runtime.rounds import Key, Samples, measure, ratio

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

RESULTS = Path(__file__).parents[1] / "results"
Logs = Literal["silenced", "defaults"]
HUGE = ("a text in data", "a text listed often", "many rows")
"""The cases of `bench.runtime.bounds` that this bench holds against their targets, too."""


@dataclass(frozen=True)
class Target:
    """A figure and the most that it may be."""

    what: str
    measured: float
    limit: float

    @property
    def met(self) -> bool:
        return self.measured <= self.limit


# --- the connections --------------------------------------------------------------------------------------------------


@contextmanager
def served(name: str, *, silent: bool) -> Iterator[str]:
    """A peer on HTTP in its own process. Its log goes to a file, as under a supervisor."""
    command = [sys.executable, "-m", "bench.runtime.serve", name, *(["--silent"] if silent else [])]
    with (
        tempfile.TemporaryFile() as log,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True) as server,
    ):
        try:
            assert server.stdout is not None
            yield f"http://127.0.0.1:{int(server.stdout.readline())}/mcp"
        finally:
            server.terminate()


@asynccontextmanager
async def connected(name: str, transport: str, *, silent: bool) -> AsyncIterator[Client]:
    """A client of the SDK to a peer, its tools listed, so that it validates what comes back."""
    async with AsyncExitStack() as stack:
        target = PEERS[name].target() if transport == "memory" else stack.enter_context(served(name, silent=silent))
        client = await stack.enter_async_context(Client(target))
        await client.list_tools()
        yield client


async def run(transport: str, names: list[str], *, silent: bool, rounds: int, batch: int) -> dict[Key, Samples]:
    """All outcomes of some peers over one transport."""
    async with AsyncExitStack() as stack:
        calls = {}
        for name in names:
            client = await stack.enter_async_context(connected(name, transport, silent=silent))
            for outcome in OUTCOMES:
                result = await client.call_tool(TOOL, ARGUMENTS[outcome])
                assert result.is_error == (outcome != "success"), (name, outcome, result)
                calls[name, outcome] = functools.partial(client.call_tool, TOOL, ARGUMENTS[outcome])
        # By outcome first: what is compared stands side by side.
        ordered = {(name, outcome): calls[name, outcome] for outcome in OUTCOMES for name in names}
        return await measure(ordered, rounds=rounds, batch=batch)


# --- in memory with defaults: a process for each peer, since logging is set up once in a process ---------------------


async def worker(name: str, rounds: int, batch: int) -> None:
    """Measure one peer, a turn for each line of standard input."""
    async with connected(name, "memory", silent=False) as client:
        calls = {(name, outcome): functools.partial(client.call_tool, TOOL, ARGUMENTS[outcome]) for outcome in OUTCOMES}
        await measure(calls, rounds=1, batch=5)
        print("ready", flush=True)
        for _ in range(rounds):
            sys.stdin.readline()
            samples = await measure(calls, rounds=1, batch=batch, warm=2)
            print(json.dumps({outcome: samples[name, outcome].rounds[0] for outcome in OUTCOMES}), flush=True)


def with_defaults(names: list[str], *, rounds: int, batch: int) -> dict[Key, Samples]:
    """The peers in memory, each in its process with the logging that it sets up itself, in turns."""
    samples = {(name, outcome): Samples() for name in names for outcome in OUTCOMES}
    with contextlib.ExitStack() as stack:
        workers = {}
        for name in names:
            log = stack.enter_context(tempfile.TemporaryFile())
            command = [sys.executable, "-m", "bench.runtime", "--worker", name, str(rounds), str(batch)]
            pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
            workers[name] = stack.enter_context(subprocess.Popen(command, stderr=log, **pipes))
        for name in names:
            assert workers[name].stdout.readline().strip() == "ready", name
        for turn in range(rounds):
            start = turn % len(names)
            for name in names[start:] + names[:start]:
                workers[name].stdin.write("go\n")
                workers[name].stdin.flush()
                for outcome, took in json.loads(workers[name].stdout.readline()).items():
                    samples[name, outcome].rounds.append(took)
    return samples


# --- the report -------------------------------------------------------------------------------------------------------


def table(samples: dict[Key, Samples], names: list[str]) -> list[str]:
    """The figures of one setting as a table in Markdown, each compared with the bare SDK's."""
    lines = [
        "| outcome | server | calls/s | p50 | p99 | to the SDK's same | to an SDK success |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for outcome in OUTCOMES:
        for name in names:
            sample = samples[name, outcome]
            figures = sample.figures()
            same = ratio(sample, samples["sdk", outcome])
            success = ratio(sample, samples["sdk", "success"])
            lines.append(
                f"| {outcome} | {PEERS[name].title} | {figures['calls_per_second']:,.0f} | {figures['p50_us']:,.0f} us "
                f"| {figures['p99_us']:,.0f} us | {same:.2f} | {success:.2f} |"
            )
    return lines


def targets(
    settings: dict[str, dict[Key, Samples]],
    started: dict[str, Any],
    memory: dict[str, Any],
    huge: dict[str, bounds.Cost],
    of_small: dict[str, dict[str, float]],
) -> list[Target]:
    """What has to be reached."""
    quiet, loud = settings["memory, silenced"], settings["memory, defaults"]
    success = quiet["sdk", "success"]
    milliseconds = started["milliseconds"]
    return [
        Target("silenced: success, to the SDK's", ratio(quiet["mcpcore", "success"], success), 1.08),
        Target("silenced: success, advertise_errors=False", ratio(quiet["unadvertised", "success"], success), 1.05),
        Target("silenced: declared failure, to an SDK success", ratio(quiet["mcpcore", "declared"], success), 1.0),
        *(
            Target(f"small tool, {mode}: {ending}", of_small[mode][ending], limit + small.TOLERANCE)
            for mode, limits in small.TARGETS.items()
            for ending, limit in limits.items()
        ),
        Target(
            "defaults: declared failure, to the SDK's ToolError",
            ratio(loud["mcpcore", "declared"], loud["sdk", "declared"]),
            1 / 3,
        ),
        Target("import: beyond the SDK (ms)", milliseconds["beyond the SDK"], 10),
        Target("import mcpcore (ms)", milliseconds["import mcpcore"], 10),
        Target("mcpcore --version (ms)", milliseconds["mcpcore --version"], 150),
        Target("mcpcore --help (ms)", milliseconds["mcpcore --help"], 150),
        Target("--help loads the SDK", float(started["commands_load_the_sdk"]), 0),
        Target("memory: growth from call 20,000 to 100,000 (KiB)", memory["grown_kib"], 2_048),
        *(Target(f"bounds: {name} (s)", cost.seconds, bounds.SECONDS) for name, cost in huge.items()),
        *(Target(f"bounds: {name} (MiB)", cost.kib / 1024, bounds.KIB / 1024) for name, cost in huge.items()),
        Target("memory: traced bytes for each further call", memory["traced_growth_bytes"] / memory["traced_calls"], 8),
    ]


def main(argv: list[str] | None = None) -> int:
    """Measure, print, keep the figures."""
    parser = argparse.ArgumentParser(prog="python -m bench.runtime", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds, to see that it works; writes nothing")
    parser.add_argument("--worker", nargs=3, metavar=("PEER", "ROUNDS", "BATCH"), help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.worker:
        name, rounds, batch = options.worker
        asyncio.run(worker(name, int(rounds), int(batch)))
        return 0
    scale = 5 if options.quick else 40
    names = list(PEERS)
    three = ["sdk", "fastmcp", "mcpcore"]
    settings: dict[str, dict[Key, Samples]] = {}
    settings["memory, defaults"] = with_defaults(three, rounds=scale, batch=15)
    settings["HTTP, defaults"] = asyncio.run(run("http", three, silent=False, rounds=scale // 2, batch=10))
    started = startup.measure()
    memory = json.loads(
        subprocess.run(
            [sys.executable, "-m", "bench.runtime.memory"], stdout=subprocess.PIPE, check=True, text=True
        ).stdout
    )
    huge = {name: bounds.measured(name) for name in HUGE}
    of_small = small.figures(rounds=scale)
    logging.disable(logging.CRITICAL)  # permanently, so silenced runs come last
    settings["HTTP, silenced"] = asyncio.run(run("http", names, silent=True, rounds=scale // 2, batch=10))
    settings["memory, silenced"] = asyncio.run(run("memory", names, silent=True, rounds=scale * 2, batch=20))

    reached = targets(settings, started, memory, huge, of_small)
    order = ("memory, silenced", "memory, defaults", "HTTP, silenced", "HTTP, defaults")
    lines: list[str] = []
    for setting in order:
        present = [name for name in names if (name, "success") in settings[setting]]
        lines += [f"### {setting[0].upper()}{setting[1:]}", "", *table(settings[setting], present), ""]
    lines += ["### Targets", "", "| what | measured | at most | |", "|---|---:|---:|---|"]
    lines += [
        f"| {target.what} | {target.measured:,.3g} | {target.limit:,.3g} | {'reached' if target.met else 'MISSED'} |"
        for target in reached
    ]
    print("\n".join(lines))
    if not options.quick:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / "runtime.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
        report = {
            **conditions(),
            "settings": {
                setting: [
                    {
                        "server": name,
                        "outcome": outcome,
                        **sample.figures(),
                        "to_sdk_same": ratio(sample, settings[setting]["sdk", outcome]),
                        "to_sdk_success": ratio(sample, settings[setting]["sdk", "success"]),
                    }
                    for (name, outcome), sample in settings[setting].items()
                ]
                for setting in order
            },
            "startup": started,
            "memory": memory,
            "small": of_small,
            "bounds": {name: asdict(cost) for name, cost in huge.items()},
            "targets": [{**asdict(target), "met": target.met} for target in reached],
        }
        (RESULTS / "runtime.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return 0 if all(target.met for target in reached) else 1


if __name__ == "__main__":
    sys.exit(main())
