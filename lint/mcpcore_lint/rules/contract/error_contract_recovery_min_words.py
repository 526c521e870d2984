"""error-contract-recovery-min-words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import Const
from mcpcore_lint.patterns import regex
from mcpcore_lint.rules._wording import shortened
from mcpcore_lint.rules.contract._entries import ArgumentRule, Entry, Problem
from mcpcore_lint.rules.contract._values import is_blank, is_placeholder

if TYPE_CHECKING:
    from mcpcore_lint.model import Argument, Value
    from mcpcore_lint.rule import RuleContext

_WORD: Final = regex(r"\w")


class ContractRecoveryMinWords(ArgumentRule):
    """`recovery` is a placeholder or has only a few words."""

    id = "error-contract-recovery-min-words"
    severity = Severity.WARNING
    summary = '`recovery` has fewer than five words ("Try again."), or is a placeholder such as TODO'
    why = 'The model learns nothing to act on: "Try again." or "Check the input." fits every failure.'
    bad = 'FailureMode("no_match", ErrorCode.NOT_FOUND, when="...", recovery="Check input.")'
    good = 'FailureMode("no_match", ErrorCode.NOT_FOUND, when="...", recovery="Call search_articles for valid PMIDs.")'
    how_to_fix = "Name the next tool, the argument to change and to what, how long to wait, or whom to ask."
    when_to_suppress = "When a few words say everything, such as `Call login first.`"
    arguments = ("recovery",)

    def check_value(self, value: Value, argument: Argument, entry: Entry, ctx: RuleContext) -> Problem | None:
        """Report a placeholder, and a hint with fewer words than the settings ask for."""
        step = "name the next tool, the argument to change, how long to wait, or whom to ask"
        if is_placeholder(value):
            return Problem(f"the recovery of {entry.label} is a placeholder", step)
        text = value.value if isinstance(value, Const) else None
        if not isinstance(text, str) or is_blank(value):
            return None
        words = text.split()
        count = sum(1 for word in words if _WORD.search(word))
        if count >= ctx.settings.min_recovery_words:
            return None
        number = "1 word" if count == 1 else f"{count} words"
        return Problem(f"the recovery of {entry.label} has only {number}: {shortened(' '.join(words))!r}", step)
