"""The rule error-contract-code-type."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from mcpcore_lint.codemods import edits
from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import CallValue, Choice, CodeValue, Const, Symbol, options
from mcpcore_lint.rules._wording import described, last_name, near
from mcpcore_lint.rules.contract._entries import Entry, EntryRule, holds_comment
from mcpcore_lint.rules.contract._values import FAILURE_MODE, NOT_ENTRIES, certainly_not
from mcpcore_lint.semantics.evaluate import CODES
from mcpcore_lint.syntax.parse import walk

if TYPE_CHECKING:
    import ast

    from mcpcore_lint.diagnostics import Fix
    from mcpcore_lint.model import Value
    from mcpcore_lint.rules.base import Family, RuleContext


_CODES: Final = frozenset({"mcpcore.ErrorCode", "mcpcore.CustomCode"})


class ContractCodeType(EntryRule):
    """A code that is none."""

    id = "error-contract-code-type"
    severity = Severity.ERROR
    family: ClassVar[Family] = "contract"
    fixable = True
    summary = "the code is missing or is not an ErrorCode (a bare number that is a member's value gets the fix)"
    why = (
        "The code carries the HTTP status, the category and the retry advice. A number or a string carries none of "
        "them, and is refused at import."
    )
    bad = 'FailureMode("no_match", -32001, when="...", recovery="...")'
    good = 'FailureMode("no_match", ErrorCode.NOT_FOUND, when="...", recovery="...")'
    how_to_fix = "Name a member of `ErrorCode`, or make a `CustomCode` of your own."
    when_to_suppress = "Never: the failure mode cannot be made."

    def check_entry(self, entry: Entry, ctx: RuleContext) -> None:
        """Report a code that is missing, or something else for certain."""
        code = entry.arguments["code"]
        if not code.given:
            entry.report(
                ctx,
                None,
                f"{entry.label} has no code",
                help="give a member of ErrorCode, such as ErrorCode.NOT_FOUND, as the second argument",
            )
            return
        for value in options(code.value):
            if _is_code(value, ctx):
                continue
            entry.report(
                ctx,
                code,
                f"the code of {entry.label} is {described(value)}, not an ErrorCode",
                help=_nearest_code(value),
                fix=self._fix(entry, value, ctx),
            )
            return

    @staticmethod
    def _fix(entry: Entry, value: Value, ctx: RuleContext) -> Fix | None:
        code = entry.arguments["code"]
        member = _member_of(value)
        if member is None or code.node is None:
            return None
        target: ast.AST = code.node
        if isinstance(code.value, Choice):
            if value.node is None or value.node not in set(walk([code.node])):
                return None
            target = value.node
        if holds_comment(entry.module, target):
            return None
        imported = edits.import_name(entry.module, "mcpcore", "ErrorCode")
        text = f"{imported.text}.{member}"
        return ctx.fix(f"Write {text}", [edits.replace_node(entry.module, target, text), *imported.edits])


def _is_code(value: Value, ctx: RuleContext) -> bool:
    """Whether a value is a code, or may be one."""
    if isinstance(value, CodeValue):
        return True
    if isinstance(value, Symbol) and value.definition is None:
        # Constants of the SDK and of `http` are plain numbers; so is what no member of ErrorCode is called.
        if value.name.startswith("mcpcore.ErrorCode."):
            return True
        return not (
            value.name in {*_CODES, *NOT_ENTRIES, FAILURE_MODE}
            or value.name.startswith(("builtins.", "http.HTTPStatus"))
            or (value.name.startswith("mcp.") and last_name(value).isupper())
        )
    if isinstance(value, CallValue) and value.func.name == FAILURE_MODE:
        return False
    return not certainly_not(value, _CODES, ctx)


def _member_of(value: Value) -> str | None:
    """The member of `ErrorCode` that a bare number means."""
    if isinstance(value, Const) and isinstance(value.value, int) and not isinstance(value.value, bool):
        return CODES.name_of(value.value)
    return None


def _nearest_code(value: Value) -> str:
    from mcpcore.codes import ErrorCode

    name = _member_of(value)
    if name is None and isinstance(value, Const) and isinstance(value.value, int) and not isinstance(value.value, bool):
        # Several codes have status 400, 500 and 504: the first of the table is as good a start as any.
        name = next((each.name for each in ErrorCode if each.http_status == value.value and value.value != 500), None)
    if name is None and isinstance(value, Const) and isinstance(value.value, str):
        name = near(value.value.upper().replace("-", "_").replace(" ", "_"), CODES.by_name)
    if name is None and isinstance(value, Symbol):
        name = near(last_name(value), CODES.by_name)
    if name is not None:
        return f"write ErrorCode.{name}"
    return "write a member of ErrorCode, such as ErrorCode.NOT_FOUND, or make a CustomCode"
