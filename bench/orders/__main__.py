"""What an agent loses without contracts: `python -m bench.orders [--quick]`.

The agent of `examples/orders` runs the same nine errands against a server with contracts, and against the same server
with plain `ToolError`s. Each run has real processes: a server over stdio, a payment service over HTTP and a database.
See `examples/orders/agent.py` for how each way of calling handles a failure, and why it was chosen.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio

from bench.conditions import conditions
from examples.orders.agent import ERRANDS, Caller, Kind, PlainCaller, PolicyCaller, Report, run

if TYPE_CHECKING:
    from collections.abc import Callable

RESULTS = Path(__file__).parents[1] / "results"


@dataclass(frozen=True)
class Way:
    """A server, and how failed calls are handled."""

    title: str
    server: Kind
    caller: Callable[..., Caller]


WAYS = (
    Way("contracts, with a policy", "contracts", PolicyCaller),
    Way("plain errors, with the same policy", "plain", PolicyCaller),
    Way("plain errors, no retry", "plain", partial(PlainCaller, retries=0)),
    Way("plain errors, 2 retries", "plain", partial(PlainCaller, retries=2)),
)


def totals(reports: list[Report]) -> dict[str, Any]:
    """The figures of a run."""
    return {
        "done": sum(report.done for report in reports),
        "calls": sum(report.calls for report in reports),
        "seconds": round(sum(report.seconds for report in reports), 1),
        "doubled": sum(report.doubled for report in reports),
        "unknown": sum(report.unknown for report in reports),
    }


def table(runs: dict[str, list[Report]]) -> list[str]:
    """The totals as a table in Markdown."""
    lines = [
        "| server and client | errands done | calls | seconds lost | orders doubled | charged, reported as failed |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for title, reports in runs.items():
        total = totals(reports)
        lines.append(
            f"| {title} | {total['done']} of {len(reports)} | {total['calls']} | {total['seconds']} "
            f"| {total['doubled']} | {total['unknown']} |"
        )
    return lines


def details(runs: dict[str, list[Report]]) -> list[str]:
    """Each errand as a row in Markdown."""
    lines = [f"| errand | {' | '.join(runs)} |", f"|---|{'---|' * len(runs)}"]
    for number, errand in enumerate(ERRANDS):
        cells = []
        for reports in runs.values():
            report = reports[number]
            notes = [f"{report.calls} calls, {report.seconds:.1f} s"]
            notes += ["not done"] if not report.done else []
            notes += [f"{report.doubled} doubled"] if report.doubled else []
            notes += [f"{report.unknown} charged"] if report.unknown else []
            cells.append(", ".join(notes))
        lines.append(f"| {errand.name} | {' | '.join(cells)} |")
    return lines


def measure(way: Way) -> list[Report]:
    """Run all errands in one way."""
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        return anyio.run(partial(run, way.server, partial(way.caller, tell=lambda _: None), errlog=nowhere))


def main(argv: list[str] | None = None) -> int:
    """Measure, print, keep the figures; 1 if contracts do not save what the documentation says."""
    parser = argparse.ArgumentParser(prog="python -m bench.orders", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="only print the figures")
    options = parser.parse_args(argv)
    runs = {way.title: measure(way) for way in WAYS}
    lines = [*table(runs), "", *details(runs)]
    print("\n".join(lines))
    if not options.quick:
        (RESULTS / "orders.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
        report = {
            **conditions(),
            "runs": [
                {"way": title, **totals(reports), "errands": [asdict(report) for report in reports]}
                for title, reports in runs.items()
            ],
        }
        (RESULTS / "orders.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    first, *others = (totals(reports) for reports in runs.values())
    is_met = (
        first["done"] == len(ERRANDS)
        and not first["doubled"]
        and all(first["done"] > report["done"] for report in others)
    )
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
