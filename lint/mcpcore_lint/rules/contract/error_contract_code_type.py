"""error-contract-code-type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mcpcore_lint.codemods import edits
from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import CallValue, Choice, CodeValue, Const, Missing, Symbol
from mcpcore_lint.rules._wording import described, last_name, near
from mcpcore_lint.rules.contract._entries import ArgumentRule, Entry, Problem
from mcpcore_lint.rules.contract._renaming import holds_comment
from mcpcore_lint.rules.contract._values import FAILURE_MODE, NOT_ENTRIES, certainly_not
from mcpcore_lint.semantics.codes import CODES
from mcpcore_lint.syntax.parse import walk

if TYPE_CHECKING:
    import ast

    from mcpcore_lint.diagnostics import Fix
    from mcpcore_lint.model import Argument, Value
    from mcpcore_lint.rule import RuleContext

_CODES: Final = frozenset({"mcpcore.ErrorCode", "mcpcore.CustomCode"})


class ContractCodeType(ArgumentRule):
    """The code is missing, or is a number, a string or something else that is not an ErrorCode."""

    id = "error-contract-code-type"
    severity = Severity.ERROR
    fixable = True
    summary = "the code is missing or is not an ErrorCode (a bare number that is a member's value gets the fix)"
    why = (
        "The server fails at import: `FailureMode` accepts only an `ErrorCode` or a `CustomCode`, which also "
        "determines the HTTP status, the category and the retry advice that clients see."
    )
    bad = 'FailureMode("no_match", -32001, when="...", recovery="...")'
    good = 'FailureMode("no_match", ErrorCode.NOT_FOUND, when="...", recovery="...")'
    how_to_fix = "Use a member of `ErrorCode`, or define a `CustomCode`."
    when_to_suppress = "Never: the server does not start."
    arguments = ("code",)

    def check_value(self, value: Value, argument: Argument, entry: Entry, ctx: RuleContext) -> Problem | None:
        """Report a code that is missing or certainly something else."""
        if isinstance(value, Missing):
            step = "pass a member of ErrorCode, such as ErrorCode.NOT_FOUND, as the second argument"
            return Problem(f"{entry.label} has no code", step)
        if _may_be_code(value, ctx):
            return None
        return Problem(
            f"the code of {entry.label} is {described(value)}, not an ErrorCode",
            _suggestion(value),
            _fix(argument, value, entry, ctx),
        )


def _may_be_code(value: Value, ctx: RuleContext) -> bool:
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
    return not certainly_not(value, _CODES, ctx)


def _number(value: Value) -> int | None:
    number = value.value if isinstance(value, Const) else None
    return number if isinstance(number, int) and not isinstance(number, bool) else None


def _suggestion(value: Value) -> str:
    """The member of ErrorCode that a number, an HTTP status, a string or a name probably means."""
    from mcpcore.codes import ErrorCode

    name, number = None, _number(value)
    if number is not None:
        # Several codes have status 500; none of them is a likely meaning.
        by_status = (code.name for code in ErrorCode if code.http_status == number != 500)
        name = CODES.name_of(number) or next(by_status, None)
    elif isinstance(value, Const) and isinstance(value.value, str):
        name = near(value.value.upper().replace("-", "_").replace(" ", "_"), CODES.by_name)
    elif isinstance(value, Symbol):
        name = near(last_name(value), CODES.by_name)
    if name is not None:
        return f"write ErrorCode.{name}"
    return "write a member of ErrorCode, such as ErrorCode.NOT_FOUND, or define a CustomCode"


def _fix(argument: Argument, value: Value, entry: Entry, ctx: RuleContext) -> Fix | None:
    """Replace a number that is the value of a member with that member."""
    number = _number(value)
    member = CODES.name_of(number) if number is not None else None
    if member is None or argument.node is None:
        return None
    target: ast.AST = argument.node
    if isinstance(argument.value, Choice):
        if value.node is None or value.node not in set(walk([argument.node])):
            return None
        target = value.node
    if holds_comment(entry.module, target):
        return None
    imported = edits.import_name(entry.module, "mcpcore", "ErrorCode")
    text = f"{imported.text}.{member}"
    return ctx.fix(f"Write {text}", [edits.replace_node(entry.module, target, text), *imported.edits])
