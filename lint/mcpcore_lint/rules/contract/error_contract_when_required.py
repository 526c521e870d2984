"""The rule error-contract-when-required."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import options
from mcpcore_lint.rules._wording import described
from mcpcore_lint.rules.contract._entries import Entry, EntryRule
from mcpcore_lint.rules.contract._texts import is_blank_text, no_text, unwritten

if TYPE_CHECKING:
    from mcpcore_lint.rules.base import Family, RuleContext


class ContractWhenRequired(EntryRule):
    """A failure mode that does not say when it happens."""

    id = "error-contract-when-required"
    severity = Severity.ERROR
    family: ClassVar[Family] = "contract"
    summary = "`when` is missing, empty, blank or still to be written"
    why = (
        "It tells a reader of the contract in which circumstances to expect the failure, and it is the message that an "
        "agent reads where a throw gives none."
    )
    bad = 'FailureMode("no_match", ErrorCode.NOT_FOUND, when="", recovery="...")'
    good = 'FailureMode("no_match", ErrorCode.NOT_FOUND, when="No requested PMID returned data.", recovery="...")'
    how_to_fix = "Say in a sentence in which circumstances the tool fails in this way."
    when_to_suppress = "Never: the failure mode cannot be made, or says `TODO` to whoever meets the failure."

    def check_entry(self, entry: Entry, ctx: RuleContext) -> None:
        """Report a circumstance that is missing, blank, or no string for certain."""
        when = entry.arguments["when"]
        step = "say in a sentence in which circumstances the tool fails in this way"
        if not when.given:
            entry.report(ctx, None, f"{entry.label} does not say when it happens", help=f"add when=...: {step}")
            return
        for value in options(when.value):
            if is_blank_text(value):
                entry.report(ctx, when, f"the when of {entry.label} is blank", help=step)
                return
            if no_text(value, ctx):
                entry.report(ctx, when, f"the when of {entry.label} is {described(value)}, not a string", help=step)
                return
            if unwritten(value):
                entry.report(ctx, when, f"the when of {entry.label} is still to be written", help=step)
                return
