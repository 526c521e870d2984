"""The findings of `mcpcore check`."""

from __future__ import annotations

from mcpcore.check.rules import GRADES, QUESTIONS, RULES
from pages.markdown import NOTE, table


def page() -> str:
    """The questions, the grades and the findings of `mcpcore check`."""
    parts = [
        "# The findings of mcpcore check",
        "",
        NOTE.format("mcpcore/check/rules.py"),
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
    return "\n".join([*parts, ""])
