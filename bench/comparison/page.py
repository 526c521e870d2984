"""The record as a page and as the table of the README. A row is a question, which links to its evidence."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from bench.comparison.servers import ADDRESS, SEARCH, WAIT

if TYPE_CHECKING:
    from collections.abc import Callable

    Record = dict[str, Any]
    Cells = dict[str, str]

COLUMNS: Final = {
    "mcpcore": "mcpcore",
    "sdk": "MCP SDK",
    "fastmcp": "FastMCP",
    "mcp-ts-core": "mcp-ts-core",
    "mcp-doctor": "mcp-doctor",
    "by-hand": "by hand",
}
"""The columns of the README."""
FRAMEWORKS: Final = tuple(name for name in COLUMNS if name != "mcp-doctor")
PAGE: Final = "bench/results/comparison.md"
NONE: Final[Cells] = dict.fromkeys(COLUMNS, "no")


@dataclass(frozen=True)
class Row:
    """A question.

    Attributes:
        title: The title of its section.
        label: The question in the README.
        cells: The answers.
        body: The evidence.
    """

    title: str
    label: str
    cells: Callable[[Record], Cells]
    body: Callable[[Record], str]

    @property
    def anchor(self) -> str:
        """The anchor of its section, as GitHub makes it from the title."""
        return self.title.lower().replace(" ", "-")


def call(record: Record, column: str, case: str) -> dict[str, Any]:
    """The answer to a failing call."""
    answer: dict[str, Any] = record["columns"][column]["calls"][case]
    return answer


def wire(record: Record, column: str, case: str) -> str:
    """All that a client receives of a failing call."""
    return json.dumps(call(record, column, case), ensure_ascii=False)


def texts(record: Record, case: str, *, columns: tuple[str, ...] = FRAMEWORKS, structured: bool = False) -> str:
    """The text of a call in each column, or its structured content."""
    parts = []
    for column in columns:
        answer = call(record, column, case)
        content = json.dumps(answer["structured"], ensure_ascii=False) if structured else answer["text"]
        title = COLUMNS.get(column, "FastMCP with `mask_error_details=True`")
        parts.append(f"{title}:\n\n```{'json' if structured else 'text'}\n{content}\n```")
    return "\n\n".join(parts)


def next_step(record: Record) -> Cells:
    """Whether the text has the hint."""
    words: Cells = {
        "mcpcore": "yes",
        "mcp-ts-core": "opt-in",
        "mcp-doctor": "finds empty texts",
    }
    cells: Cells = {}
    for column in COLUMNS:
        has = column not in FRAMEWORKS or all(
            hint in call(record, column, case)["text"] for case, hint in (("unknown", SEARCH), ("down", WAIT))
        )
        cells[column] = words.get(column, "if written") if has else "no"
    return cells


def programs(record: Record) -> Cells:
    """How many of the failing calls have structured content with an error."""
    cells: Cells = {"mcp-doctor": "not judged"}
    for column in FRAMEWORKS:
        calls = record["columns"][column]["calls"].values()
        count = sum("error" in (answer["structured"] or {}) for answer in calls)
        cells[column] = f"{count} of {len(calls)} calls" if count else "no"
    return cells


def advice(record: Record) -> Cells:
    """Which advice is in the structured content: the 30 seconds, whether to call again, and the effects."""
    cells: Cells = {"mcp-doctor": "not judged"}
    for column in FRAMEWORKS:
        structured = json.dumps(call(record, column, "down")["structured"])
        if '"effects"' in structured and "30000" in structured:
            cells[column] = "yes"
        elif '"retryable"' in structured:
            cells[column] = "retry: yes or no"
        elif '"retryAfterS": 30' in structured:
            cells[column] = "if written"
        else:
            cells[column] = "text only" if WAIT in call(record, column, "down")["text"] else "no"
    return cells


def stays(record: Record) -> Cells:
    """Whether the address is in what clients receive."""
    cells: Cells = {"mcp-doctor": "not judged"}
    for column in FRAMEWORKS:
        leaks = any(ADDRESS in wire(record, column, case) for case in ("down", "crash"))
        cells[column] = "no" if leaks else "yes"
    if ADDRESS not in wire(record, "fastmcp-masked", "crash") and cells["fastmcp"] == "no":
        cells["fastmcp"] = "with an option"
    return cells


def listed(record: Record) -> Cells:
    """Whether the reasons are in `tools/list`."""
    cells: Cells = {column: "yes" if record["columns"][column]["listed"] else "no" for column in FRAMEWORKS}
    return {**cells, "mcp-doctor": "not judged", "by-hand": "if written"}


def typed(record: Record) -> Cells:
    """Whether a misspelt reason is a type error."""
    tsc = "yes" if "unknown_bok" in record["type error"] else "no"
    return {**NONE, "mcpcore": "yes", "mcp-ts-core": tsc}


def linted(record: Record) -> Cells:
    """How many of the mistakes each linter finds."""
    cells: Cells = {**NONE, "mcp-doctor": "other rules"}
    for column, mistakes in record["lint"].items():
        cells[column] = f"{sum(bool(rules) for rules in mistakes.values())} of {len(mistakes)} mistakes"
    return cells


def covered(_: Record) -> Cells:
    return {**NONE, "mcpcore": "yes"}


def checked(_: Record) -> Cells:
    return {**NONE, "mcpcore": "yes", "mcp-doctor": "yes"}


def cost(record: Record) -> Cells:
    """The figures of bench.runtime, and those that it does not have."""
    cells: Cells = {column: f"{loud:.1f}x, quiet {quiet:.1f}x" for column, (loud, quiet) in record["runtime"].items()}
    cells["mcp-ts-core"] = f"{record['stdio']['mcp-ts-core']:.1f}x its own"
    cells["mcp-doctor"] = "none"
    cells["by-hand"] = f"{record['by hand']:.1f}x"
    return cells


def next_step_body(record: Record) -> str:
    return (
        "The call names a book that does not exist. The text has the next step everywhere, because the "
        "author of each "
        "server wrote it. The SDK, FastMCP and the server by hand send whatever sentence the author puts at "
        "each place that "
        "fails. In mcp-ts-core and mcpcore the sentence is part of the contract. mcp-ts-core sends it where the "
        "code passes "
        "`ctx.recoveryFor(...)`, mcpcore always.\n\n"
        f"{texts(record, 'unknown')}\n\nFor arguments that do not fit:\n\n{texts(record, 'arguments')}"
    )


def programs_body(record: Record) -> str:
    return (
        "The structured content of the same call. The cells count the failing calls whose structured content "
        "has the error: "
        "an unknown id, a service that is down, a crash and bad arguments. mcp-ts-core leaves bad arguments to "
        "its SDK, and "
        "by hand an author reaches only the failures that the handler sees.\n\n"
        f"{texts(record, 'unknown', structured=True)}"
    )


def advice_body(record: Record) -> str:
    return (
        "The catalogue is down. A program can wait if it gets a number of seconds, and may repeat a call that "
        "changed "
        f"nothing.\n\n{texts(record, 'down')}\n\nThe structured content:\n\n{texts(record, 'down', structured=True)}"
    )


def stays_body(record: Record) -> str:
    return (
        "An exception that nobody expects, with an address and a password in its text. FastMCP hides the text with "
        "`mask_error_details=True`. mcp-ts-core runs with `NODE_ENV=production` here.\n\n"
        + texts(record, "crash", columns=(*FRAMEWORKS, "fastmcp-masked"))
    )


def listed_body(_: Record) -> str:
    return (
        "Whether the answer to `tools/list` has the reason `catalogue_down`. mcp-ts-core keeps its contracts in "
        "the code. By "
        "hand an author can put anything into `meta` or a description; the server here does not."
    )


def typed_body(record: Record) -> str:
    return (
        "In the SDK, in FastMCP and by hand a failure is a text or a dictionary, of which a type checker knows "
        "nothing. "
        "mcp-doctor checks no types. [Five type checkers](../../tests/typing/cases/contexts.py) report a "
        "misspelt reason "
        "in mcpcore. TypeScript reports it in mcp-ts-core "
        f"([`typo.mts`](../comparison/typo.mts)):\n\n```text\n{record['type error']}\n```"
    )


def linted_body(record: Record) -> str:
    lines = ["| mistake | mcpcore lint | linter of mcp-ts-core |", "|---|---|---|"]
    for mistake in record["lint"]["mcpcore"]:
        rules = [", ".join(record["lint"][column][mistake]) or "nothing" for column in ("mcpcore", "mcp-ts-core")]
        lines.append(f"| {mistake.replace('_', ' ')} | {' | '.join(rules)} |")
    scan = record["checked"]["scan"]
    asks = sum("error_handling" in rules for rules in scan)
    return (
        "The same mistakes, chosen by the authors of mcpcore, in [`mistakes.py`](../comparison/mistakes.py) and "
        "[`mistakes.mjs`](../comparison/mistakes.mjs). The linter of mcp-ts-core reads the text of each handler, that "
        "of mcpcore also follows the functions that it calls.\n\n"
        + "\n".join(lines)
        + "\n\nmcp-doctor knows no contracts. It reads servers in Python, TypeScript, Go and Rust, and checks "
        "descriptions, schemas, error handling and security; mcpcore lint reads only Python. Of the tools of "
        f"[`servers.py`](../comparison/servers.py) it finds {len(scan)}, and asks for a `try` in {asks}: in that of "
        "`careless`, and in that of mcpcore, because it does not know `ctx.guard`."
    )


def covered_body(_: Record) -> str:
    return (
        "[`pytest --reason-coverage`](../../tests/testing/test_reason_coverage.py) of mcpcore lists the declared "
        "reasons that no test has raised. mcp-ts-core gives tests a "
        "context with the contract, and fuzzes tools, as mcpcore does; it does not compare the tests with the "
        "contract. "
        "Without a contract there is nothing to compare with."
    )


def checked_body(record: Record) -> str:
    lines = ["| server | mcp-doctor fuzz | mcpcore check |", "|---|---|---|"]
    for name, findings in record["checked"]["running"].items():
        theirs = ", ".join(f"{count} {what}" for what, count in findings["mcp-doctor"].items())
        lines.append(f"| {name} | {theirs} | {', '.join(findings['mcpcore check']) or 'nothing'} |")
    return (
        "Both programs call the tools of any MCP server with bad arguments. mcp-doctor looks for crashes, hangs "
        "and failures "
        "whose text has no cause, and measures latency and the size of answers. With `--truth` it also looks "
        "for successes "
        "that are failures, and `mcp-doctor guard` does so for each call of an agent. `mcpcore check` judges what "
        "the failures "
        "tell an agent. `careless` is an SDK server whose author expected no failure. "
        "[check-servers.md](check-servers.md) has thirteen public servers.\n\n" + "\n".join(lines)
    )


def cost_body(record: Record) -> str:
    lines = ["| server | a declared failure, in its own successes |", "|---|---:|"]
    lines += [f"| {COLUMNS[column]} | {record['stdio'][column]:.2f} |" for column in FRAMEWORKS]
    quoted = "; ".join(
        f"{COLUMNS[column]} {loud:.2f} and {quiet:.2f}" for column, (loud, quiet) in record["runtime"].items()
    )
    return (
        "The time of a declared failure, divided by that of a successful call of the SDK, in memory, with the "
        "log that each "
        "server writes by default and with logging off. From [runtime.md](runtime.md), whose servers took turns "
        "in one "
        f"run: {quoted}. The server by hand logs nothing and was measured here in the same way: "
        f"{record['by hand']:.2f}.\n\n"
        "A server in Node cannot run in memory. So all five were also measured over stdio, in turns, with their "
        "default logs in "
        "a file. Here the client and the pipe are part of both times, and each server is compared with itself:\n\n"
        + "\n".join(lines)
        + "\n\nmcp-doctor checks servers and adds nothing to a call, unless `mcp-doctor guard` runs in front of "
        "a server."
    )


ROWS: Final = (
    Row("The next step", "The model reads what to do next", next_step, next_step_body),
    Row("For programs", "Programs read it too", programs, programs_body),
    Row("Retry advice and effects", "When to call again, whether anything changed", advice, advice_body),
    Row("Unexpected exceptions", "The text of an unexpected exception stays on the server", stays, stays_body),
    Row("The contract in the listing", "The contract is in `tools/list`", listed, listed_body),
    Row("Type errors", "An undeclared failure is a type error", typed, typed_body),
    Row("Lint", "Lint compares code and contract", linted, linted_body),
    Row("Tests", "Tests report failures that were never raised", covered, covered_body),
    Row("A running server", "Checks any running server", checked, checked_body),
    Row("Cost", "Cost of a failed call, in successful ones of the SDK", cost, cost_body),
)


def readme(record: Record) -> str:
    """The table of the README."""
    lines = ["| | " + " | ".join(COLUMNS.values()) + " |", "|---|" + "---|" * len(COLUMNS)]
    for row in ROWS:
        answers = " | ".join(row.cells(record)[column] for column in COLUMNS)
        lines.append(f"| [{row.label}]({PAGE}#{row.anchor}) | {answers} |")
    return "\n".join(lines)


def page(record: Record) -> str:
    """The page with the evidence."""
    where = record["conditions"]
    versions = ", ".join(f"{name} {version}" for name, version in record["versions"].items())
    parts = [
        "# The same failing tool, made in five ways",
        (
            f"Written by `python -m bench.comparison` on {where['date']} with Python {where['python']}, "
            f"{where['machine']}: "
            f"{versions}. A tool reserves books. It fails for an unknown id, for a catalogue that is down, with a "
            f"crash and for "
            "arguments that do not fit. [`servers.py`](../comparison/servers.py) and "
            "[`server.mjs`](../comparison/server.mjs) "
            "have the tool in each framework. Ids and times are replaced."
        ),
        (
            "mcp-doctor (the package `mcp-server-lint`) is no framework but a checker for servers of any kind. Its "
            "column says "
            'what it finds; "not judged" means that no check of it asks the question.'
        ),
        (
            f"mcp-ts-core {record['versions']['mcp-ts-core']} is the newest version that npm served. "
            "[Its changelog](https://github.com/cyanheads/mcp-ts-core/blob/main/CHANGELOG.md) goes on to 0.13.11 of "
            "2026-10-03. By its words, bad arguments carry the structured error since 0.12.7, and a reason and a "
            "recovery since 0.13.3; the text ends with the reason and whether to retry since 0.13.5; a failure that "
            "does not forward its declared recovery warns since 0.13.6; stack traces no longer reach clients since "
            "0.13.7."
        ),
    ]
    for row in ROWS:
        cells = row.cells(record)
        short = "; ".join(f"{title}: {cells[column]}" for column, title in COLUMNS.items())
        parts += [f"## {row.title}", f"{row.label}: {short}.", row.body(record)]
    return "\n\n".join(parts) + "\n"
