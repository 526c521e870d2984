"""The findings of `mcpcore check`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from mcpcore.check.rules import GRADES, QUESTIONS, RULES
from pages.markdown import table

RESULTS: Final = Path(__file__).parents[2] / "bench" / "results" / "check-servers.md"

SERVERS: Final = """\
## Public servers

mcp-fuzz, the fuzzer of the mcp-doctor family (the package `mcp-runtime-check`), also calls tools with missing arguments and wrong types.
It finds out whether a server crashes or hangs. Both programs checked the same servers, each in a new folder, with all tools:

{servers}

- Servers rarely crash; they fail in ways that an agent cannot act on. A "crash" of mcp-fuzz may be a JSON-RPC error, which
  `mcpcore check` reports as `failure-as-protocol-error`.
- mcp-fuzz does not judge texts, leaks, retry advice, cancellation or bad arguments that are accepted.
- mcp-fuzz also measures latency, the size of answers, several clients at the same time and, on request, whether data that was created
  can be read and deleted. It breaks every argument; `mcpcore check` makes three calls of each kind, and adds values out of range and
  unknown arguments.

`python -m bench.check.servers` makes the table. `python -m bench.check.listing` measures servers with 5,000 tools, none of which is
called: about 3 seconds of processor time."""


NOTES: Final = {
    "leaks-path": "Paths that you sent do not count, even if the server made them absolute, nor do directories that the command "
    "line, a description or a success names. For a tool with a path argument, only paths of installed packages count.",
    "leaks-secret": "The value of a `--header` counts too, in any encoding, from 6 characters on. Redirects to another origin are "
    "not followed.",
}
"""What counts for a finding, beyond its summary."""


def page() -> str:
    """The questions, the grades and the findings of `mcpcore check`."""
    parts = [
        "# The findings of mcpcore check",
        "",
        "[Check a running server](../how-to/check.md) says how to run it. [check.schema.json](check.schema.json) is the JSON "
        "Schema of `--format json`.",
        "",
        "## The questions",
        "",
        table(["name", "question"], [[f"`{name}`", question] for name, question in QUESTIONS.items()]),
        "",
        "A call counts once for each question that it shows, by the worst of its findings, or as all right. Every question gets "
        "a grade:",
        "",
        table(["grade", "when"], [[grade, when] for grade, when in GRADES.items()]),
    ]
    for rule in RULES.values():
        answers = "no question" if rule.question is None else f"question `{rule.question}`"
        parts += ["", f"## {rule.id}", "", f"{rule.level.capitalize()}, {answers}. {rule.summary}", "", rule.fix]
        parts += ["", NOTES[rule.id]] if rule.id in NOTES else []
    servers = SERVERS.format(servers=RESULTS.read_text(encoding="utf-8").strip())
    return "\n".join([*parts, "", servers, ""])
