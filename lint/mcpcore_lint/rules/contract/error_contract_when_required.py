"""error-contract-when-required."""

from mcpcore_lint.rules._wording import is_placeholder
from mcpcore_lint.rules.contract._entries import Checked, EntryRule, Problem


class ContractWhenRequired(EntryRule):
    """`when` is missing, blank, a placeholder or not a string.

    Summary: `when` is missing, empty, blank or a placeholder such as TODO
    Why: Clients read `when` in the contract, and the model reads it as the message of a failure raised without one.
        Without `when` the server fails at import; a placeholder is sent unchanged.
    How to fix: Say in one sentence when the tool fails in this way.
    When to suppress: Never: the server does not start, or clients read only the sentence of the code.

    Bad:
        FailureMode("no_match", ErrorCode.NOT_FOUND, when="", recovery="...")
    Good:
        FailureMode("no_match", ErrorCode.NOT_FOUND, when="No requested PMID returned data.", recovery="...")
    """

    arguments = ("when",)

    def check_value(self, checked: Checked) -> Problem | None:
        """Report a `when` that is missing, blank, a placeholder, or certainly not a string."""
        step = "say in one sentence when the tool fails in this way"
        if checked.blank:
            return checked.problem("is blank", step)
        if is_placeholder(checked.value):
            return checked.problem("is a placeholder", step)
        return checked.no_string("does not say when it happens", step)
