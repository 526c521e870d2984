"""error-contract-when-required."""

from mcpcore_lint.rules._wording import is_placeholder
from mcpcore_lint.rules.contract._entries import Checked, EntryRule, Problem


class ContractWhenRequired(EntryRule):
    """`when` is missing, blank, a placeholder or not a string."""

    summary = "`when` is missing, empty, blank or a placeholder such as TODO"
    why = """The model reads `when` as the message of a failure that is raised without one, and clients read it in the
    contract. A tool without it does not import; a placeholder is sent as it is."""
    bad = 'FailureMode("no_match", ErrorCode.NOT_FOUND, when="", recovery="...")'
    good = 'FailureMode("no_match", ErrorCode.NOT_FOUND, when="No requested PMID returned data.", recovery="...")'
    how_to_fix = "Say in one sentence when the tool fails in this way."
    when_to_suppress = "Never: the server does not start, or clients read `TODO`."
    arguments = ("when",)

    def check_value(self, checked: Checked) -> Problem | None:
        """Report a `when` that is missing, blank, a placeholder, or certainly not a string."""
        step = "say in one sentence when the tool fails in this way"
        if checked.blank:
            return checked.problem("is blank", step)
        if is_placeholder(checked.value):
            return checked.problem("is a placeholder", step)
        return checked.no_string("does not say when it happens", step)
