"""What reason coverage costs a run of tests: `python -m bench.testing [--quick]`.

The tests of `bench.testing.suite` run with and without `--reason-coverage`, in turns, so that a busy machine slows
both. They raise one reason of an example, so that the places of the others have to be found. The figures are processor
time, which other programs disturb least.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from bench.conditions import conditions

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "bench" / "results"

TARGET: Final = 2.0
"""Percent of a run that reason coverage may cost."""

PYTEST: Final = (
    *(sys.executable, "-m", "pytest", "-q", "-o", "addopts=", "--import-mode=importlib"),
    *("-p", "no:cacheprovider", "-p", "no:langsmith_plugin", "bench/testing/suite.py"),
)
SUITES: Final = {"50 tests": ("-k", "not more"), "300 tests": ()}


def seconds(command: tuple[str, ...]) -> float:
    """The processor time of a command and of the processes that it starts."""
    with Path(os.devnull).open("w") as nowhere:
        actions = [(os.POSIX_SPAWN_DUP2, nowhere.fileno(), stream) for stream in (1, 2)]
        pid = os.posix_spawn(command[0], command, os.environ, file_actions=actions)
    _, status, usage = os.wait4(pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} failed")
    return usage.ru_utime + usage.ru_stime


def measure(rounds: int) -> dict[str, Any]:
    """The median of each suite, and of what the option adds to the run before it."""
    figures = {}
    for suite, options in SUITES.items():
        without, added = [], []
        for _ in range(rounds):
            without.append(seconds((*PYTEST, *options)))
            added.append(seconds((*PYTEST, *options, "--reason-coverage")) - without[-1])
        run, cost = statistics.median(without), statistics.median(added)
        share = round(100 * cost / run, 2)
        figures[suite] = {"run_s": round(run, 3), "added_ms": round(cost * 1_000, 1), "percent": share}
    return figures


def table(figures: dict[str, Any]) -> str:
    """The figures in Markdown."""
    lines = ["| suite | run without | added by `--reason-coverage` | share |", "|---|---:|---:|---:|"]
    for suite, row in figures.items():
        lines.append(f"| {suite} | {row['run_s']:.2f} s | {row['added_ms']:.0f} ms | {row['percent']:.1f} % |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Run the bench; 1 if the option costs more than the target."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds, and nothing is written")
    quick = parser.parse_args().quick
    figures = measure(3 if quick else 9)
    print(table(figures))
    if not quick:
        document = {**conditions(), "pytest": version("pytest"), "suites": figures}
        (RESULTS / "testing.json").write_text(json.dumps(document, indent=2) + "\n")
        page = "# Reason coverage\n\n`python -m bench.testing` writes this page.\n\n" + table(figures)
        (RESULTS / "testing.md").write_text(page)
    missed = figures["300 tests"]["percent"] > TARGET
    if missed:
        print(f"missed: more than {TARGET:g} % of 300 tests")
    return int(missed)


if __name__ == "__main__":
    os.chdir(ROOT)
    sys.exit(main())
