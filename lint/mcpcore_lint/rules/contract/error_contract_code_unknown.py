"""error-contract-code-unknown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import CodeValue, Symbol
from mcpcore_lint.rules._wording import last_name, near
from mcpcore_lint.rules.contract._entries import ArgumentRule, Entry, Problem
from mcpcore_lint.semantics.codes import CODES

if TYPE_CHECKING:
    from mcpcore_lint.model import Argument, Value
    from mcpcore_lint.rule import RuleContext


class ContractCodeUnknown(ArgumentRule):
    """The code is a name or a number that `ErrorCode` does not have."""

    id = "error-contract-code-unknown"
    severity = Severity.ERROR
    summary = "no such ErrorCode member"
    why = "The server fails at import: `ErrorCode` raises for a name or a number that it does not have."
    bad = 'FailureMode("no_match", ErrorCode.NOTFOUND, when="...", recovery="...")'
    good = 'FailureMode("no_match", ErrorCode.NOT_FOUND, when="...", recovery="...")'
    how_to_fix = "Choose a code from the table of codes, or define a `CustomCode` if none of them fits."
    when_to_suppress = "Never: the server does not start."
    arguments = ("code",)

    def check_value(self, value: Value, argument: Argument, entry: Entry, ctx: RuleContext) -> Problem | None:
        """Report a member that does not exist."""
        name = _unknown_member(value)
        if name is None:
            return None
        if name.removeprefix("-").isdigit():
            written, close = f"ErrorCode({name})", None
        else:
            snake_case = re.sub(r"(?<!^)(?=[A-Z])", "_", name).upper()
            written, close = f"ErrorCode.{name}", near(name.upper(), CODES.by_name) or near(snake_case, CODES.by_name)
        step = f"did you mean ErrorCode.{close}?" if close else "choose a member of ErrorCode, or define a CustomCode"
        return Problem(f"the code of {entry.label}, {written}, does not exist", step)


def _unknown_member(value: Value) -> str | None:
    if isinstance(value, CodeValue):
        return None if value.exists else value.name
    if isinstance(value, Symbol) and value.name.startswith("mcpcore.ErrorCode."):
        return last_name(value)
    return None
