"""The rule error-contract-reason-required."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import CallValue, Const, Items, Mapping, Symbol, Text, options
from mcpcore_lint.rules._wording import described
from mcpcore_lint.rules.contract._entries import Entry, EntryRule
from mcpcore_lint.rules.contract._values import certainly_not

if TYPE_CHECKING:
    from mcpcore_lint.model import Value
    from mcpcore_lint.rules.base import Family, RuleContext


_STRINGS: Final = frozenset({"builtins.str"})


class ContractReasonRequired(EntryRule):
    """A failure mode without a name."""

    id = "error-contract-reason-required"
    severity = Severity.ERROR
    family: ClassVar[Family] = "contract"
    summary = "the reason is missing or empty"
    why = (
        "The reason is what programs switch on and what `ctx.fail` takes; without one the failure cannot be told apart."
    )
    bad = 'FailureMode("", ErrorCode.NOT_FOUND, when="...", recovery="...")'
    good = 'FailureMode("no_match", ErrorCode.NOT_FOUND, when="...", recovery="...")'
    how_to_fix = "Name the failure in snake_case, as the first argument."
    when_to_suppress = "Never: the failure mode cannot be made."

    def check_entry(self, entry: Entry, ctx: RuleContext) -> None:
        """Report a reason that is missing, blank, or no string for certain."""
        reason = entry.arguments["reason"]
        step = "name the failure in snake_case, such as 'no_match'"
        if not reason.given:
            entry.report(ctx, None, f"{entry.label} has no reason", help=f"{step}, as the first argument")
            return
        for value in options(reason.value):
            if isinstance(value, Const) and isinstance(value.value, str):
                if not value.value.strip():
                    entry.report(ctx, reason, f"the reason of {entry.label} is empty", help=step)
                    return
            elif isinstance(value, (Const, Items, Mapping)) or certainly_not(value, _STRINGS, ctx):
                if _may_be_text(value):
                    continue
                entry.report(ctx, reason, f"the reason of {entry.label} is {described(value)}, not a string", help=step)
                return


def _may_be_text(value: Value) -> bool:
    if isinstance(value, Text):
        return True
    if isinstance(value, CallValue):
        return value.func.name == "builtins.str" or not value.func.name.startswith(("builtins.", "mcpcore."))
    # An enum's member may be written in a way that is not followed.
    return isinstance(value, Symbol) and not value.name.startswith(("builtins.", "mcpcore."))
