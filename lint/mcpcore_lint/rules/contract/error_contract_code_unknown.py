"""The rule error-contract-code-unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import CodeValue, Symbol, options
from mcpcore_lint.rules._wording import last_name, near
from mcpcore_lint.rules.contract._entries import Entry, EntryRule
from mcpcore_lint.semantics.evaluate import CODES

if TYPE_CHECKING:
    from mcpcore_lint.model import Value
    from mcpcore_lint.rules.base import Family, RuleContext


class ContractCodeUnknown(EntryRule):
    """A member that `ErrorCode` does not have."""

    id = "error-contract-code-unknown"
    severity = Severity.ERROR
    family: ClassVar[Family] = "contract"
    summary = "no such ErrorCode member"
    why = "The module cannot be imported: the enum raises for a name or a number that it does not have."
    bad = 'FailureMode("no_match", ErrorCode.NOTFOUND, when="...", recovery="...")'
    good = 'FailureMode("no_match", ErrorCode.NOT_FOUND, when="...", recovery="...")'
    how_to_fix = "Choose a member of the table of codes, or make a `CustomCode` for a failure that none of them covers."
    when_to_suppress = "Never: the failure mode cannot be made."

    def check_entry(self, entry: Entry, ctx: RuleContext) -> None:
        """Report a member that does not exist."""
        code = entry.arguments["code"]
        for value in options(code.value):
            name = _unknown_member(value)
            if name is None:
                continue
            number = name.removeprefix("-").isdigit()
            shown = f"ErrorCode({name})" if number else f"ErrorCode.{name}"
            close = None if number else near(name.upper(), CODES.by_name) or near(_upper_snake(name), CODES.by_name)
            entry.report(
                ctx,
                code,
                f"the code of {entry.label}, {shown}, does not exist",
                help=f"did you mean ErrorCode.{close}?"
                if close
                else "choose a member of ErrorCode, or make a CustomCode",
            )
            return


def _unknown_member(value: Value) -> str | None:
    if isinstance(value, CodeValue):
        return None if value.exists else value.name
    if isinstance(value, Symbol) and value.name.startswith("mcpcore.ErrorCode."):
        return last_name(value)
    return None


def _upper_snake(name: str) -> str:
    return "".join(f"_{each}" if each.isupper() and index else each for index, each in enumerate(name)).upper()
