"""The rule error-contract-recovery-empty."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import options
from mcpcore_lint.rules.contract._entries import Entry, EntryRule
from mcpcore_lint.rules.contract._texts import is_blank_text

if TYPE_CHECKING:
    from mcpcore_lint.rules.base import Family, RuleContext


class ContractRecoveryEmpty(EntryRule):
    """A hint without a word."""

    id = "error-contract-recovery-empty"
    severity = Severity.ERROR
    family: ClassVar[Family] = "contract"
    summary = "`recovery` is empty or blank"
    why = "A blank hint is refused at import: it would take the place of one that helps."
    bad = 'FailureMode("no_match", ErrorCode.NOT_FOUND, when="...", recovery="")'
    good = 'FailureMode("no_match", ErrorCode.NOT_FOUND, when="...", recovery="Call search_articles for valid PMIDs.")'
    how_to_fix = "Say what the caller can do, or, where nothing helps, whom to tell: `Tell the user that ...`."
    when_to_suppress = "Never: the failure mode cannot be made."

    def check_entry(self, entry: Entry, ctx: RuleContext) -> None:
        """Report a blank hint."""
        recovery = entry.arguments["recovery"]
        if any(is_blank_text(each) for each in options(recovery.value)):
            entry.report(
                ctx,
                recovery,
                f"the recovery of {entry.label} is blank",
                help="say what the caller can do next: the tool to call, the argument to change, how long to wait",
            )
