"""error-contract-recovery-required."""

from mcpcore_lint.rules.contract._entries import Checked, EntryRule, Problem


class ContractRecoveryRequired(EntryRule):
    """`recovery` is missing or not a string.

    Summary: `recovery` is missing or not a string
    Why: The model has no next step, so it retries blindly or gives up. `FailureMode` requires the hint: without it the
        server fails at import.
    How to fix: Say what the caller can do: the next tool, the argument to change, how long to wait, whom to ask.

    Bad:
        FailureMode("no_match", ErrorCode.NOT_FOUND, when="...")
    Good:
        FailureMode("no_match", ErrorCode.NOT_FOUND, when="...", recovery="Call search_articles for valid PMIDs.")
    """

    arguments = ("recovery",)

    def check_value(self, checked: Checked) -> Problem | None:
        """Report a hint that is missing or certainly not a string."""
        step = "say what the caller can do next: the tool to call, the argument to change, how long to wait"
        return checked.no_string("does not say what the caller can do", step)
