"""error-contract-recovery-empty."""

from mcpcore_lint.rules.contract._entries import Checked, EntryRule, Problem


class ContractRecoveryEmpty(EntryRule):
    """`recovery` is blank.

    Summary: `recovery` is empty or blank
    Why: The server fails at import: `FailureMode` does not accept a blank hint, because it gives the model no next
        step.
    How to fix: Say what the caller can do or, if nothing helps, whom to tell: `Tell the user that ...`.

    Bad:
        FailureMode("no_match", ErrorCode.NOT_FOUND, when="...", recovery="")
    Good:
        FailureMode("no_match", ErrorCode.NOT_FOUND, when="...", recovery="Call search_articles for valid PMIDs.")
    """

    arguments = ("recovery",)

    def check_value(self, checked: Checked) -> Problem | None:
        """Report a blank hint."""
        step = "say what the caller can do next: the tool to call, the argument to change, how long to wait"
        return checked.problem("is blank", step) if checked.blank else None
