"""What a call, a record, a classification and a run of the linter cost, from the results of the benches."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from pages.markdown import table

RESULTS: Final = Path(__file__).parents[2] / "bench" / "results"

OUTCOMES: Final = {
    "success": "a success",
    "declared": "a declared failure",
    "arguments": "bad arguments",
    "crash": "an undeclared exception",
}
"""The outcomes of a call, as the bench and as the page call them."""

RUNS: Final = {"cold": "without a cache", "warm": "no file has changed", "one changed file": "one file has changed"}
"""The runs of the linter, as the bench and as the page call them."""


def _read(name: str) -> dict[str, Any]:
    figures: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return figures


def _conditions(figures: dict[str, Any]) -> str:
    """The date, the interpreter and the machine, as far as the file has them."""
    machine = figures.get("machine") or (f"{figures['cores']} cores" if "cores" in figures else "")
    return f"Measured on {figures['date']} with Python {figures['python']}{machine and ', '}{machine}."


def _microseconds(row: dict[str, Any] | None) -> str:
    """The median, and its ratio to the SDK's, which other machines share."""
    return "" if row is None else f"{row['p50_us']:,.0f} ({row['to_sdk_same']:.2f})"


def cost() -> str:
    """The figures of the runtime, the trail, the classification and the linter."""
    runtime, audit, classify, lint = (_read(name) for name in ("runtime", "audit", "classify", "lint"))
    parts = ["## A call", "", _conditions(runtime)]
    for setting, title in (
        ("memory, defaults", "In memory, with the logging that each server has by default"),
        ("memory, silenced", "In memory, with logging turned off"),
        ("HTTP, silenced", "Over HTTP, with logging turned off"),
    ):
        figures = {(row["server"], row["outcome"]): row for row in runtime["settings"][setting]}
        rows: list[list[object]] = [
            [name, *(_microseconds(figures.get((server, outcome))) for server in ("sdk", "fastmcp", "mcpcore"))]
            for outcome, name in OUTCOMES.items()
        ]
        parts += ["", f"{title}, the median in microseconds (ratio to the SDK's):", ""]
        parts.append(table(["outcome", "MCP SDK", "FastMCP", "mcpcore"], rows))
    started = runtime["startup"]["milliseconds"]
    parts += ["", "## The start", "", _conditions(runtime), ""]
    parts.append(
        table(
            ["what", "milliseconds"],
            [[f"`{name}`" if " SDK" not in name else name, time] for name, time in started.items()],
        )
    )
    parts += ["", "## A record", "", f"{_conditions(audit)} In microseconds:", ""]
    parts.append(
        table(
            ["record", "median", "99 %"],
            [[name, row["median"], row.get("p99", "")] for name, row in audit["record"].items()],
        )
    )
    over = [
        f"{name} ({row['median']})"
        for name, row in audit["kinds"].items()
        if row["median"] > audit["limit_microseconds"]
    ]
    parts += ["", "By kind of failure, next to the time the standard library takes to log the same crash:", ""]
    parts.append(
        table(
            ["failure", "record", "logged by the standard library"],
            [[name, row["median"], row.get("plain_logging", "")] for name, row in audit["kinds"].items()],
        )
    )
    parts += [
        "",
        f"The limit of `python -m bench.audit` is {audit['limit_microseconds']:.0f} microseconds for each. "
        + (f"Above it: {', '.join(over)}." if over else "None is above it."),
    ]
    parts += ["", "## The code of an exception", "", f"{_conditions(classify)} In microseconds:", ""]
    parts.append(
        table(
            ["exception", "`classify`", "`explain`"],
            [[name, row["classify"], row["explain"]] for name, row in classify["microseconds"].items()],
        )
    )
    tree = lint["tree"]
    parts += [
        "",
        "## The linter",
        "",
        f"{_conditions(lint)} A tree of {tree['files']:,} files and {tree['lines']:,} lines; {tree['tool_files']:,} of the files define tools:",
        "",
    ]
    parts.append(table(["run", "seconds"], [[name, lint[key]["seconds"]] for key, name in RUNS.items()]))
    return "\n".join(parts)
