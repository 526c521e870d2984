"""error-contract-recovery-empty."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.rules.contract._entries import ArgumentRule, Entry, Problem
from mcpcore_lint.rules.contract._values import is_blank

if TYPE_CHECKING:
    from mcpcore_lint.model import Argument, Value
    from mcpcore_lint.rule import RuleContext


class ContractRecoveryEmpty(ArgumentRule):
    """`recovery` is blank."""

    id = "error-contract-recovery-empty"
    severity = Severity.ERROR
    summary = "`recovery` is empty or blank"
    why = "The server fails at import: `FailureMode` does not accept a blank hint, which gives the model no next step."
    bad = 'FailureMode("no_match", ErrorCode.NOT_FOUND, when="...", recovery="")'
    good = 'FailureMode("no_match", ErrorCode.NOT_FOUND, when="...", recovery="Call search_articles for valid PMIDs.")'
    how_to_fix = "Say what the caller can do or, if nothing helps, whom to tell: `Tell the user that ...`."
    when_to_suppress = "Never: the server does not start."
    arguments = ("recovery",)

    def check_value(self, value: Value, argument: Argument, entry: Entry, ctx: RuleContext) -> Problem | None:
        """Report a blank hint."""
        if not is_blank(value):
            return None
        step = "say what the caller can do next: the tool to call, the argument to change, how long to wait"
        return Problem(f"the recovery of {entry.label} is blank", step)
