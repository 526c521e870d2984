"""Tables in hand-written pages that are made from measurements: the results of the benches, and the cases of the checkers."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    Table = Callable[[list[str], list[list[object]]], str]

ROOT: Final = Path(__file__).parents[1]
RESULTS: Final = ROOT / "bench" / "results"
CASES: Final = ROOT / "tests" / "typing" / "cases"

CHECKERS: Final = {
    "mypy": "mypy",
    "plugin": "mypy with the plugin",
    "pyright": "pyright",
    "basedpyright": "basedpyright",
    "ty": "ty",
    "pyrefly": "pyrefly",
}
"""The names of the checkers in the cases, and on the page."""

MISTAKES: Final = {
    "misspelt reason": "a misspelt reason",
    "undeclared reason": "a `Context` that names an undeclared reason",
    "undeclared mode": "a failure mode that the context does not name",
    "data of another model": "data of another model",
    "the data is missing": "missing data",
    "misspelt in a comparison": "a caller compares with a misspelt reason",
    "a reason is missing": "a `match` of a caller without one of the reasons",
    "misspelt option": "a misspelt option",
}
"""The mistakes that have a row, as the cases call them."""

_EXPECTED: Final = re.compile(r"#\s*E:\s*(?P<checkers>[a-z ]+?)\s*-\s*(?P<why>\S.*)$", re.MULTILINE)


def checkers(table: Table) -> str:
    """How many places of the cases each checker reports."""
    counts: dict[str, dict[str, int]] = {why: defaultdict(int) for why in MISTAKES}
    for path in sorted(CASES.glob("*.py")):
        for match in _EXPECTED.finditer(path.read_text(encoding="utf-8")):
            named = set(match["checkers"].split())
            for checker in CHECKERS:
                if match["why"] in counts and (named & {checker, "all"} or (checker == "plugin" and "mypy" in named)):
                    counts[match["why"]][checker] += 1
    rows: list[list[object]] = [
        [MISTAKES[why], *(found[checker] or "" for checker in CHECKERS)] for why, found in counts.items()
    ]
    return table(["mistake", *CHECKERS.values()], rows)


def cost(table: Table) -> str:
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
        parts += ["", f"{title}, the median in microseconds:", ""]
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
        f"{_conditions(lint)} A tree of {tree['files']:,} files and {tree['lines']:,} lines, of which {tree['tool_files']:,} files define tools:",
        "",
    ]
    parts.append(table(["run", "seconds"], [[name, lint[key]["seconds"]] for key, name in RUNS.items()]))
    return "\n".join(parts)


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
    return "" if row is None else f"{row['p50_us']:,.0f}"


def filled(text: str, tables: dict[str, str]) -> str:
    """A page whose marked places have their tables: `<!-- name -->` to `<!-- /name -->`."""
    for name, made in tables.items():
        text = re.sub(
            rf"<!-- {name} -->.*?<!-- /{name} -->",
            lambda _, name=name, made=made: f"<!-- {name} -->\n\n{made}\n\n<!-- /{name} -->",
            text,
            flags=re.DOTALL,
        )
    return text
