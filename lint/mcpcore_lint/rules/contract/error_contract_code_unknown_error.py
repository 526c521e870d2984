"""error-contract-code-unknown-error."""

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import CodeValue
from mcpcore_lint.rules.contract._entries import Checked, EntryRule, Problem


class ContractCodeUnknownError(EntryRule):
    """The code is UNKNOWN_ERROR.

    Summary: the code is UNKNOWN_ERROR, which says nothing
    Why: The model learns only that something failed, which gives it nothing to act on. You know what a declared failure
        is, so another code describes it better; UNKNOWN_ERROR is for exceptions that cannot be classified.
    How to fix: Choose a code that says who can act: the caller, this server, or a service behind it.
    When to suppress: When the tool passes on failures of a system that gives no details.

    Bad:
        FailureMode("bad_reply", ErrorCode.UNKNOWN_ERROR, when="...", recovery="...")
    Good:
        FailureMode("bad_reply", ErrorCode.SERIALIZATION_ERROR, when="...", recovery="...")
    """

    severity = Severity.WARNING
    arguments = ("code",)

    def check_value(self, checked: Checked) -> Problem | None:
        """Report the code."""
        if not isinstance(checked.value, CodeValue) or checked.value.name != "UNKNOWN_ERROR":
            return None
        step = "choose a code that says who can act, such as SERVICE_UNAVAILABLE or INTERNAL_ERROR"
        return checked.problem("is UNKNOWN_ERROR, which tells the model nothing", step)
