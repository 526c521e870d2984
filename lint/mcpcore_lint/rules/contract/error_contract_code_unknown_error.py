"""The rule error-contract-code-unknown-error."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import CodeValue, options
from mcpcore_lint.rules.contract._entries import Entry, EntryRule

if TYPE_CHECKING:
    from mcpcore_lint.rules.base import Family, RuleContext


class ContractCodeUnknownError(EntryRule):
    """A code that says nothing."""

    id = "error-contract-code-unknown-error"
    severity = Severity.WARNING
    family: ClassVar[Family] = "contract"
    summary = "the code is UNKNOWN_ERROR, the one that says nothing"
    why = (
        "A failure that is declared is known. UNKNOWN_ERROR is what is left for failures that nobody could tell "
        "anything about; an agent can do nothing with it."
    )
    bad = 'FailureMode("bad_reply", ErrorCode.UNKNOWN_ERROR, when="...", recovery="...")'
    good = 'FailureMode("bad_reply", ErrorCode.SERIALIZATION_ERROR, when="...", recovery="...")'
    how_to_fix = "Choose the code that says whose turn it is: the caller's, this server's, or a service's behind it."
    when_to_suppress = "When the tool passes on failures of a system that tells nothing about them."

    def check_entry(self, entry: Entry, ctx: RuleContext) -> None:
        """Report the code that says nothing."""
        code = entry.arguments["code"]
        if any(isinstance(each, CodeValue) and each.name == "UNKNOWN_ERROR" for each in options(code.value)):
            entry.report(
                ctx,
                code,
                f"the code of {entry.label} is UNKNOWN_ERROR, which says nothing",
                help="choose the code that says whose turn it is, such as SERVICE_UNAVAILABLE or INTERNAL_ERROR",
            )
