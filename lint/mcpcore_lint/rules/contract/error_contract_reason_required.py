"""error-contract-reason-required."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import Missing
from mcpcore_lint.rules._wording import described
from mcpcore_lint.rules.contract._entries import ArgumentRule, Entry, Problem
from mcpcore_lint.rules.contract._values import is_blank, not_a_string

if TYPE_CHECKING:
    from mcpcore_lint.model import Argument, Value
    from mcpcore_lint.rule import RuleContext


class ContractReasonRequired(ArgumentRule):
    """The reason is missing, empty or not a string."""

    id = "error-contract-reason-required"
    severity = Severity.ERROR
    summary = "the reason is missing or empty"
    why = (
        "The server fails at import. Clients tell failures apart by their reasons, and `ctx.fail` takes the reason to "
        "raise one."
    )
    bad = 'FailureMode("", ErrorCode.NOT_FOUND, when="...", recovery="...")'
    good = 'FailureMode("no_match", ErrorCode.NOT_FOUND, when="...", recovery="...")'
    how_to_fix = "Name the failure in snake_case, as the first argument."
    when_to_suppress = "Never: the server does not start."
    arguments = ("reason",)

    def check_value(self, value: Value, argument: Argument, entry: Entry, ctx: RuleContext) -> Problem | None:
        """Report a reason that is missing, blank, or certainly not a string."""
        step = "name the failure in snake_case, such as 'no_match'"
        if isinstance(value, Missing):
            return Problem(f"{entry.label} has no reason", f"{step}, as the first argument")
        if is_blank(value):
            return Problem(f"the reason of {entry.label} is empty", step)
        if not_a_string(value, ctx):
            return Problem(f"the reason of {entry.label} is {described(value)}, not a string", step)
        return None
