"""error-contract-reason-required."""

from mcpcore_lint.rules.contract._entries import Checked, EntryRule, Problem


class ContractReasonRequired(EntryRule):
    """The reason is missing, empty or not a string.

    Summary: the reason is missing or empty
    Why: The server fails at import. Clients tell failures apart by their reasons, and you raise one with
        `ctx.fail(reason)`.
    How to fix: Name the failure in snake_case, as the first argument.

    Bad:
        FailureMode("", ErrorCode.NOT_FOUND, when="...", recovery="...")
    Good:
        FailureMode("no_match", ErrorCode.NOT_FOUND, when="...", recovery="...")
    """

    arguments = ("reason",)

    def check_value(self, checked: Checked) -> Problem | None:
        """Report a reason that is missing, blank, or certainly not a string."""
        step = "name the failure in snake_case, such as 'no_match', as the first argument"
        return checked.problem("is empty", step) if checked.blank else checked.no_string("has no reason", step)
