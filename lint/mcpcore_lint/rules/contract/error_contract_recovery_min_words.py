"""error-contract-recovery-min-words."""

import re

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.rules._wording import is_placeholder, shortened
from mcpcore_lint.rules.contract._entries import Checked, EntryRule, Problem


class ContractRecoveryMinWords(EntryRule):
    """`recovery` is a placeholder or has only a few words.

    Summary: `recovery` has fewer than five words ("Try again."), or is a placeholder such as `mcpcore.TODO`
    Why: The model learns nothing it can act on: "Try again." and "Check the input." fit every failure. While a recovery
        is `mcpcore.TODO` or begins with "TODO:", clients get no recovery at all.
    How to fix: Name the next tool, the argument to change and to what, how long to wait, or whom to ask.
    When to suppress: When a few words say everything, such as `Call login first.`

    Bad:
        FailureMode("no_match", ErrorCode.NOT_FOUND, when="...", recovery="Check input.")
    Good:
        FailureMode("no_match", ErrorCode.NOT_FOUND, when="...", recovery="Call search_articles for valid PMIDs.")
    """

    severity = Severity.WARNING
    arguments = ("recovery",)

    def check_value(self, checked: Checked) -> Problem | None:
        """Report a placeholder, and a hint with fewer words than the settings ask for."""
        step = "name the next tool, the argument to change, how long to wait, or whom to ask"
        if is_placeholder(checked.value):
            return checked.problem("is a placeholder", step)
        text = " ".join((checked.text or "").split())
        count = len(re.findall(r"\S*\w\S*", text))
        if not text or count >= checked.ctx.settings.min_recovery_words:
            return None
        return checked.problem(f"has only {'1 word' if count == 1 else f'{count} words'}: {shortened(text)!r}", step)
