"""ignore-without-reason: a suppression does not say why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.rule import Rule, RuleContext

if TYPE_CHECKING:
    from mcpcore_lint.runner.suppress import Suppressions


class IgnoreWithoutReason(Rule):
    """A suppression that does not say why.

    Summary: the suppression does not say why
    Why: The next reader cannot tell whether the suppression was thought through or made in a hurry.
    How to fix: Write the reason after the bracket.
    When to suppress: Ignore the rule in the settings if the reasons are documented elsewhere.

    Bad:
        return []  # mcpcore: ignore[no-fake-empty]
    Good:
        return []  # mcpcore: ignore[no-fake-empty] an empty inbox is a correct answer
    """

    severity = Severity.INFO

    def check_suppressions(self, suppressions: Suppressions, active: set[str], ctx: RuleContext) -> None:
        """Report each comment without a reason."""
        for suppression in suppressions.all:
            if not suppression.why:
                message = "the suppression does not say why"
                step = "write the reason after the bracket: # mcpcore: ignore[rule] because ..."
                ctx.report(suppression.span, message, help=step)
