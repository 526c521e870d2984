"""unknown-rule: a suppression or an option names a rule that does not exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.rule import Rule, RuleContext

if TYPE_CHECKING:
    from mcpcore_lint.runner.suppress import Suppressions


class UnknownRule(Rule):
    """A suppression of a rule that does not exist.

    Summary: a suppression or an option names a rule that does not exist, so it has no effect
    Why: A misspelt rule suppresses nothing, and nobody notices until the finding that it was written for comes back.
    How to fix: Correct the name. `mcpcore lint --list-rules` lists all rules.
    When to suppress: If the package that provides the rule is not installed everywhere.

    Bad:
        return []  # mcpcore: ignore[no-fake-emtpy] nothing to list
    Good:
        return []  # mcpcore: ignore[no-fake-empty] nothing to list
    """

    severity = Severity.WARNING

    def check_suppressions(self, suppressions: Suppressions, active: set[str], ctx: RuleContext) -> None:
        """Report each name that is not the id of a rule."""
        from mcpcore_lint.rules import all_rules

        for suppression in suppressions.all:
            for name in suppression.rules:
                if name not in all_rules():
                    message, step = _explain(name)
                    ctx.report(suppression.span, message, help=step)


def _explain(name: str) -> tuple[str, str]:
    """The message and the next step for a name that is not the id of a rule."""
    from mcpcore_lint.rules import names_a_rule, near_rule

    if not name:
        return "the brackets name no rule", "name the rule, or leave out the brackets to suppress all rules"
    if names_a_rule(name) or name == "*":
        message = f"{name!r} selects several rules, but a suppression must name each rule by its id"
        return message, "name the rule that has a finding here, or leave out the brackets to suppress all rules"
    near = near_rule(name.lower().replace("_", "-"))
    hint = f": did you mean {near!r}?" if near else ""
    return f"unknown rule {name!r}{hint}", "correct the name; `mcpcore lint --list-rules` lists all rules"
