"""The base of the rules that check suppression comments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpcore_lint.rule import Rule, RuleContext

if TYPE_CHECKING:
    from mcpcore_lint.runner.suppress import Suppressions


class SuppressionRule(Rule):
    """A rule about suppression comments, which runs after all other rules."""

    def check_suppressions(self, suppressions: Suppressions, active: set[str], ctx: RuleContext) -> None:
        """Check the suppressions of a file. `active` are the ids of the rules that are on for it."""
