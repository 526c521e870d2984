"""The rules of `mcpcore diff`."""

from __future__ import annotations

from mcpcore.catalog import LEVELS, RULES
from pages.markdown import table


def page() -> str:
    """The rules of `mcpcore diff`."""
    rows: list[list[object]] = [
        [f'<a id="{rule.id}"></a>`{rule.id}`', rule.level, rule.change, rule.why] for rule in RULES.values()
    ]
    levels = {level: sum(rule.level == level for rule in RULES.values()) for level in LEVELS}
    return "\n".join(
        [
            "# Rules of the comparison",
            "",
            "`mcpcore diff` grades each change of a contract by one of these rules: "
            f"{levels['breaking']} are breaking by default, {levels['risky']} risky and {levels['safe']} safe. "
            "[Catch breaking changes of a contract](../how-to/contract-ci.md) shows how to change the levels.",
            "",
            "A reason is taken for a renamed one if the code is the same and the words of `when` and `recovery` are nearly "
            "the same; a tool, if its description and its reasons are. Schemas are compared completely: a difference that no finer "
            "rule explains has the rule `data-schema-changed` or `input-schema-changed`, and any other one of the contract "
            "`contract-changed`. A type that source code does not show is such a difference, since it may be the same type.",
            "",
            "Not compared are the name of the server and which server a tool is on, the places in the source code, the problems "
            "that a catalog notes, and, except for new ones, the errors without a declared reason.",
            "",
            table(["rule", "level", "change", "effect on clients"], rows),
            "",
        ]
    )
