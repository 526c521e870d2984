"""The rules about codes."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.meaning.resolve import CODES
from mcpcore_lint.model import CallValue, Choice, CodeValue, Const, Symbol, options
from mcpcore_lint.reading.syntax import walk
from mcpcore_lint.rules.base import Invalid, RuleContext
from mcpcore_lint.rules.contract.entries import (
    FAILURE_MODE,
    NOT_ENTRIES,
    Entry,
    EntryRule,
    certainly_not,
    described,
    holds_comment,
    last_name,
    near,
)
from mcpcore_lint.running import fixes

if TYPE_CHECKING:
    import ast

    from mcpcore_lint.diagnostics import Fix
    from mcpcore_lint.model import Value
    from mcpcore_lint.rules.base import Family

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
    valid = (
        """
        from functools import partial

        import mcpcore as m
        from elsewhere import QUOTA
        from mcpcore import CustomCode, ErrorCode as EC, FailureMode, Retry, tool

        SPENT = CustomCode("SPENT", 1402, http_status=402, category="client", retry=Retry.never(), sentence="Spent.")
        CODE = EC.CONFLICT
        more = {"code": EC.CONFLICT, "when": "x", "recovery": "y"}
        missing = partial(FailureMode, code=EC.NOT_FOUND, when="x", recovery="y")

        def code(): ...

        @tool(
            errors=[
                FailureMode("a", EC.NOT_FOUND, when="x", recovery="y"),
                FailureMode("b", code=CODE, when="x", recovery="y"),
                FailureMode("c", SPENT, when="x", recovery="y"),
                FailureMode("d", QUOTA, when="x", recovery="y"),
                FailureMode("e", code(), when="x", recovery="y"),
                FailureMode("f", EC(-32001), when="x", recovery="y"),
                FailureMode("g", EC["NOT_FOUND"], when="x", recovery="y"),
                FailureMode("h", **more),
                FailureMode("i", **unknown),
                FailureMode(*unknown, when="x", recovery="y"),
                missing("j"),
                FailureMode("k", m.ErrorCode.TIMEOUT if QUOTA else EC.CONFLICT, when="x", recovery="y"),
            ]
        )
        def one() -> str: ...

        def mode(code): return FailureMode("a", code, when="x", recovery="y")
        """,
        """
        import pytest
        from mcpcore import ContractError, FailureMode

        def test_refused():
            with pytest.raises(ContractError):
                FailureMode("a", -32001, when="x", recovery="y")
        """,
    )
    invalid = (
        Invalid(
            """
            from http import HTTPStatus

            from mcpcore import ErrorCode, FailureMode, tool

            @tool(
                errors=[
                    FailureMode("a", when="x", recovery="y"),  # here
                    FailureMode("b", 404, when="x", recovery="y"),  # here
                    FailureMode("c", "NOT_FOUND", when="x", recovery="y"),  # here
                    FailureMode("d", code=None, when="x", recovery="y"),  # here
                    FailureMode("e", ErrorCode, when="x", recovery="y"),  # here
                    FailureMode("f", HTTPStatus.NOT_FOUND, when="x", recovery="y"),  # here
                    FailureMode("g", ValueError, when="x", recovery="y"),  # here
                    FailureMode("h", ErrorCode.CONFLICT if x else "CONFLICT", when="x", recovery="y"),  # here
                    FailureMode("i", True, when="x", recovery="y"),  # here
                    FailureMode("j", [ErrorCode.CONFLICT], when="x", recovery="y"),  # here
                ]
            )
            def one() -> str: ...
            """,
            "'a' has no code",
        ),
        Invalid(
            """
            import mcpcore as m

            LOST = -32001
            CODE = m.ErrorCode.TIMEOUT

            @m.tool(
                errors=[
                    m.FailureMode("a", -32001, when="x", recovery="y"),  # here
                    m.FailureMode("b", code=(-32002), when="x", recovery="y"),  # here
                    m.FailureMode("c", LOST, when="x", recovery="y"),  # here
                    m.FailureMode("d", m.ErrorCode.TIMEOUT.value, when="x", recovery="y"),  # here
                    m.FailureMode("e", -32003 if LOST else CODE, when="x", recovery="y"),  # here
                    m.FailureMode("f", -32001 - 1, when="x", recovery="y"),  # here
                ]
            )
            def one() -> str: ...
            """,
            "the code of 'a' is the number -32001, not an ErrorCode",
            """
            import mcpcore as m

            LOST = -32001
            CODE = m.ErrorCode.TIMEOUT

            @m.tool(
                errors=[
                    m.FailureMode("a", m.ErrorCode.NOT_FOUND, when="x", recovery="y"),
                    m.FailureMode("b", code=(m.ErrorCode.CONFLICT), when="x", recovery="y"),
                    m.FailureMode("c", m.ErrorCode.NOT_FOUND, when="x", recovery="y"),
                    m.FailureMode("d", m.ErrorCode.TIMEOUT, when="x", recovery="y"),
                    m.FailureMode("e", m.ErrorCode.RATE_LIMITED if LOST else CODE, when="x", recovery="y"),
                    m.FailureMode("f", m.ErrorCode.CONFLICT, when="x", recovery="y"),
                ]
            )
            def one() -> str: ...
            """,
        ),
        Invalid(
            """
            from mcpcore import FailureMode, tool

            MODES = (FailureMode("a", -32004, when="x", recovery="y"),)  # here

            @tool(errors=MODES)
            def one() -> str: ...

            @tool(errors=[*MODES])
            def two() -> str: ...
            """,
            "the code of 'a' is the number -32004",
            """
            from mcpcore import ErrorCode, FailureMode, tool

            MODES = (FailureMode("a", ErrorCode.TIMEOUT, when="x", recovery="y"),)

            @tool(errors=MODES)
            def one() -> str: ...

            @tool(errors=[*MODES])
            def two() -> str: ...
            """,
        ),
    )

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
        imported = fixes.import_name(entry.module, "mcpcore", "ErrorCode")
        text = f"{imported.text}.{member}"
        return ctx.fix(f"Write {text}", [fixes.replace_node(entry.module, target, text), *imported.edits])


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
    valid = (
        """
        from elsewhere import CODES, NAME
        from mcpcore import ErrorCode, FailureMode, tool

        @tool(
            errors=[
                FailureMode("a", ErrorCode.NOT_FOUND, when="x", recovery="y"),
                FailureMode("b", ErrorCode["TIMEOUT"], when="x", recovery="y"),
                FailureMode("c", ErrorCode(-32001), when="x", recovery="y"),
                FailureMode("d", ErrorCode[NAME], when="x", recovery="y"),
                FailureMode("e", ErrorCode(NAME), when="x", recovery="y"),
                FailureMode("f", CODES.NOTFOUND, when="x", recovery="y"),
                FailureMode("g", -1, when="x", recovery="y"),
            ]
        )
        def one() -> str: ...
        """,
    )
    invalid = (
        Invalid(
            """
            import mcpcore as m
            from mcpcore import ErrorCode as EC, FailureMode, tool

            LOST = EC.NOTFOUND

            @tool(
                errors=[
                    FailureMode("a", EC.NOTFOUND, when="x", recovery="y"),  # here
                    FailureMode("b", code=m.ErrorCode.NO_MATCH, when="x", recovery="y"),  # here
                    FailureMode("c", EC["TIME_OUT"], when="x", recovery="y"),  # here
                    FailureMode("d", EC(-1), when="x", recovery="y"),  # here
                    FailureMode("e", LOST, when="x", recovery="y"),  # here
                    FailureMode("f", EC.not_found, when="x", recovery="y"),  # here
                    FailureMode("g", EC.NOT_FOUND if LOST else EC.GONE, when="x", recovery="y"),  # here
                    FailureMode("h", EC.NotFound, when="x", recovery="y"),  # here
                ]
            )
            def one() -> str: ...
            """,
            "the code of 'a', ErrorCode.NOTFOUND, does not exist",
        ),
    )

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
    valid = (
        """
        from mcpcore import CustomCode, ErrorCode, FailureMode, tool

        @tool(
            errors=[
                FailureMode("a", ErrorCode.INTERNAL_ERROR, when="x", recovery="y"),
                FailureMode("b", UNKNOWN_ERROR, when="x", recovery="y"),
                FailureMode("c", ErrorCode.UNKNOWN, when="x", recovery="y"),
            ]
        )
        def one() -> str: ...
        """,
    )
    invalid = (
        Invalid(
            """
            import mcpcore
            from mcpcore import ErrorCode, FailureMode, tool

            CODE = ErrorCode.UNKNOWN_ERROR

            @tool(
                errors=[
                    FailureMode("a", ErrorCode.UNKNOWN_ERROR, when="x", recovery="y"),  # here
                    FailureMode("b", code=mcpcore.ErrorCode["UNKNOWN_ERROR"], when="x", recovery="y"),  # here
                    FailureMode("c", CODE, when="x", recovery="y"),  # here
                    FailureMode("d", ErrorCode(-32099), when="x", recovery="y"),  # here
                ]
            )
            def one() -> str: ...
            """,
            "the code of 'a' is UNKNOWN_ERROR, which says nothing",
        ),
    )

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
