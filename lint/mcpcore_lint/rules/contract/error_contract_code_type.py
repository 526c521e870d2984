"""error-contract-code-type."""

from typing import Final

from mcpcore_lint.codemods import edits
from mcpcore_lint.engine.semantics.codes import CODES
from mcpcore_lint.model import CallValue, Choice, CodeValue, Const, Missing, Symbol
from mcpcore_lint.rules._wording import described, last_name, near
from mcpcore_lint.rules.contract._entries import FAILURE_MODE, NOT_ENTRIES, Checked, EntryRule, Problem, certainly_not

_CODES: Final = frozenset({"mcpcore.ErrorCode", "mcpcore.CustomCode"})


class ContractCodeType(EntryRule):
    """The code is missing, or is a number, a string or something else that is not an ErrorCode.

    Summary: the code is missing or is not an ErrorCode (the fix replaces a number that is a member's value)
    Why: The server fails at import: `FailureMode` accepts only an `ErrorCode` or a `CustomCode`, which also determines
        the HTTP status, the category and the retry advice that clients see.
    How to fix: Use a member of `ErrorCode`, or define a `CustomCode`.

    Bad:
        FailureMode("no_match", -32001, when="...", recovery="...")
    Good:
        FailureMode("no_match", ErrorCode.NOT_FOUND, when="...", recovery="...")
    """

    fixable = True
    arguments = ("code",)

    def check_value(self, checked: Checked) -> Problem | None:
        """Report a code that is missing or certainly something else."""
        if isinstance(checked.value, Missing):
            step = "pass a member of ErrorCode, such as ErrorCode.NOT_FOUND, as the second argument"
            return Problem(f"{checked.label} has no code", step)
        if _may_be_code(checked):
            return None
        number = checked.value.value if isinstance(checked.value, Const) else None
        member = CODES.name_of(number) if isinstance(number, int) and not isinstance(number, bool) else None
        meant = member or near((checked.text or "").upper().replace("-", "_").replace(" ", "_"), CODES.by_name)
        step = "write a member of ErrorCode, such as ErrorCode.NOT_FOUND, or define a CustomCode"
        step = f"write ErrorCode.{meant}" if meant else step
        module, node, fix = checked.entry.model.module, checked.argument.node, None
        if member is not None and node is not None and not isinstance(checked.argument.value, Choice):
            imported = edits.import_name(module, "mcpcore", "ErrorCode")
            text = f"{imported.text}.{member}"
            fix = checked.ctx.fix(f"Write {text}", [edits.replace_node(module, node, text), *imported.edits])
        return checked.problem(f"is {described(checked.value)}, not an ErrorCode", step, fix)


def _may_be_code(checked: Checked) -> bool:
    value = checked.value
    if isinstance(value, CodeValue):
        return True
    if isinstance(value, Symbol) and value.definition is None:
        # Constants of the SDK and of `http` are plain numbers. Another rule reports unknown members of ErrorCode.
        return value.name.startswith("mcpcore.ErrorCode.") or not (
            value.name in {*_CODES, *NOT_ENTRIES, FAILURE_MODE}
            or value.name.startswith(("builtins.", "http.HTTPStatus"))
            or (value.name.startswith("mcp.") and last_name(value).isupper())
        )
    if isinstance(value, CallValue) and value.func.name == FAILURE_MODE:
        return False
    return not certainly_not(value, _CODES, checked.ctx)
