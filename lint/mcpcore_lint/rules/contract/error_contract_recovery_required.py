"""error-contract-recovery-required."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import Missing
from mcpcore_lint.rules._wording import described
from mcpcore_lint.rules.contract._entries import ArgumentRule, Entry, Problem
from mcpcore_lint.rules.contract._values import not_a_string

if TYPE_CHECKING:
    from mcpcore_lint.model import Argument, Value
    from mcpcore_lint.rule import RuleContext


class ContractRecoveryRequired(ArgumentRule):
    """`recovery` is missing or not a string."""

    id = "error-contract-recovery-required"
    severity = Severity.ERROR
    summary = "`recovery` is missing or not a string"
    why = (
        "The model has no next step, so it retries blindly or gives up. `FailureMode` requires the hint: without it "
        "the server fails at import."
    )
    bad = 'FailureMode("no_match", ErrorCode.NOT_FOUND, when="...")'
    good = 'FailureMode("no_match", ErrorCode.NOT_FOUND, when="...", recovery="Call search_articles for valid PMIDs.")'
    how_to_fix = "Say what the caller can do: the next tool, the argument to change, how long to wait, whom to ask."
    when_to_suppress = "Never: the server does not start."
    arguments = ("recovery",)

    def check_value(self, value: Value, argument: Argument, entry: Entry, ctx: RuleContext) -> Problem | None:
        """Report a hint that is missing or certainly not a string."""
        step = "say what the caller can do next: the tool to call, the argument to change, how long to wait"
        if isinstance(value, Missing):
            return Problem(f"{entry.label} does not say what the caller can do", f"add recovery=...: {step}")
        if not_a_string(value, ctx):
            return Problem(f"the recovery of {entry.label} is {described(value)}, not a string", step)
        return None
