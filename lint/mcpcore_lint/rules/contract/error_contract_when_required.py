"""error-contract-when-required."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import Missing
from mcpcore_lint.rules._wording import described
from mcpcore_lint.rules.contract._entries import ArgumentRule, Entry, Problem
from mcpcore_lint.rules.contract._values import is_blank, is_placeholder, not_a_string

if TYPE_CHECKING:
    from mcpcore_lint.model import Argument, Value
    from mcpcore_lint.rule import RuleContext


class ContractWhenRequired(ArgumentRule):
    """`when` is missing, blank, a placeholder or not a string."""

    id = "error-contract-when-required"
    severity = Severity.ERROR
    summary = "`when` is missing, empty, blank or a placeholder such as TODO"
    why = (
        "The model reads `when` as the message of a failure that is raised without one, and clients read it in the "
        "contract. A tool without it does not import; a placeholder is sent as it is."
    )
    bad = 'FailureMode("no_match", ErrorCode.NOT_FOUND, when="", recovery="...")'
    good = 'FailureMode("no_match", ErrorCode.NOT_FOUND, when="No requested PMID returned data.", recovery="...")'
    how_to_fix = "Say in one sentence when the tool fails in this way."
    when_to_suppress = "Never: the server does not start, or clients read `TODO`."
    arguments = ("when",)

    def check_value(self, value: Value, argument: Argument, entry: Entry, ctx: RuleContext) -> Problem | None:
        """Report a `when` that is missing, blank, a placeholder, or certainly not a string."""
        step = "say in one sentence when the tool fails in this way"
        if isinstance(value, Missing):
            return Problem(f"{entry.label} does not say when it happens", f"add when=...: {step}")
        if is_blank(value):
            return Problem(f"the when of {entry.label} is blank", step)
        if not_a_string(value, ctx):
            return Problem(f"the when of {entry.label} is {described(value)}, not a string", step)
        if is_placeholder(value):
            return Problem(f"the when of {entry.label} is a placeholder", step)
        return None
