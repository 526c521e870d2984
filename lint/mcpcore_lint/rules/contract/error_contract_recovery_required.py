"""The rule error-contract-recovery-required."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import options
from mcpcore_lint.rules._wording import described
from mcpcore_lint.rules.contract._entries import Entry, EntryRule
from mcpcore_lint.rules.contract._texts import no_text

if TYPE_CHECKING:
    from mcpcore_lint.rules.base import Family, RuleContext


class ContractRecoveryRequired(EntryRule):
    """A failure mode that leaves the caller alone."""

    id = "error-contract-recovery-required"
    severity = Severity.ERROR
    family: ClassVar[Family] = "contract"
    summary = "`recovery` is missing or not a string"
    why = "The hint is what turns a failure into the agent's next step; without one it retries blindly or gives up."
    bad = 'FailureMode("no_match", ErrorCode.NOT_FOUND, when="...")'
    good = 'FailureMode("no_match", ErrorCode.NOT_FOUND, when="...", recovery="Call search_articles for valid PMIDs.")'
    how_to_fix = "Say what the caller can do: the next tool, the argument to change, how long to wait, whom to ask."
    when_to_suppress = "Never: the failure mode cannot be made."

    def check_entry(self, entry: Entry, ctx: RuleContext) -> None:
        """Report a hint that is missing, or no string for certain."""
        recovery = entry.arguments["recovery"]
        step = "say what the caller can do next: the tool to call, the argument to change, how long to wait"
        if not recovery.given:
            entry.report(
                ctx, None, f"{entry.label} does not say what the caller can do", help=f"add recovery=...: {step}"
            )
            return
        for value in options(recovery.value):
            if no_text(value, ctx):
                entry.report(
                    ctx, recovery, f"the recovery of {entry.label} is {described(value)}, not a string", help=step
                )
                return
