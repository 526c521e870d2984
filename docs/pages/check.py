"""The findings of `mcpcore check`."""

from __future__ import annotations

from mcpcore.check.rules import CAPS, CRITERIA, RULES
from pages.markdown import NOTE, table


def page() -> str:
    """The criteria and the findings of `mcpcore check`."""
    parts = [
        "# The findings of mcpcore check",
        "",
        NOTE.format("mcpcore/check/rules.py"),
        "",
        "[Check a running server](../how-to/check.md) says how to run it. [check.schema.json](check.schema.json) is the JSON "
        "Schema of `--format json`.",
        "",
        "## The score",
        "",
        table(
            ["criterion", "weight", "question"],
            [[f"`{criterion.id}`", criterion.weight, criterion.question] for criterion in CRITERIA.values()],
        ),
        "",
        "A criterion counts once for each call in which it can be judged, and is met if no finding of the call breaks it. The "
        "score is 100 times the sum of weight x met / judged, divided by the sum of the weights, over the criteria that were "
        "judged at all. It is rounded down, so that 100 means that nothing was found.",
        "",
        f"{CAPS} So `--fail-under 50` accepts no server that hangs, dies or leaks, and `--fail-under 80` none with an error.",
    ]
    for rule in RULES.values():
        broken = "not scored" if rule.criterion is None else f"criterion `{rule.criterion}`"
        parts += ["", f"## {rule.id}", "", f"{rule.level.capitalize()}, {broken}. {rule.summary}", "", rule.fix]
    return "\n".join([*parts, ""])
