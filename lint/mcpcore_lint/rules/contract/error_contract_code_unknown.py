"""error-contract-code-unknown."""

from mcpcore_lint.engine.semantics.codes import CODES
from mcpcore_lint.model import CodeValue, Symbol
from mcpcore_lint.rules._wording import last_name, near
from mcpcore_lint.rules.contract._entries import Checked, EntryRule, Problem
from mcpcore_lint.rules.contract.error_contract_reason_format import snake_case


class ContractCodeUnknown(EntryRule):
    """The code is a name or a number that `ErrorCode` does not have.

    Summary: `ErrorCode` has no member of this name or number
    Why: The server fails at import: `ErrorCode` raises for an unknown name or number.
    How to fix: Choose a code from the table of codes, or define a `CustomCode` if none of them fits.

    Bad:
        FailureMode("no_match", ErrorCode.NOTFOUND, when="...", recovery="...")
    Good:
        FailureMode("no_match", ErrorCode.NOT_FOUND, when="...", recovery="...")
    """

    arguments = ("code",)

    def check_value(self, checked: Checked) -> Problem | None:
        """Report a member that does not exist."""
        value = checked.value
        if isinstance(value, CodeValue) and not value.exists:
            name = value.name
        elif isinstance(value, Symbol) and value.name.startswith("mcpcore.ErrorCode."):
            name = last_name(value)
        else:
            return None
        written = f"ErrorCode({name})" if name.removeprefix("-").isdigit() else f"ErrorCode.{name}"
        close = near(name.upper(), CODES.by_name) or near((snake_case(name) or "").upper(), CODES.by_name)
        step = f"did you mean ErrorCode.{close}?" if close else "choose a member of ErrorCode, or define a CustomCode"
        return Problem(f"the code of {checked.label}, {written}, does not exist", step)
