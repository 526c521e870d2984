"""The rules about reasons."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, ClassVar, Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import CallValue, Const, Items, Mapping, Symbol, Text, options
from mcpcore_lint.patterns import regex
from mcpcore_lint.rules.base import Invalid, Rule, RuleContext
from mcpcore_lint.rules.contract.entries import (
    Entry,
    EntryRule,
    certainly_not,
    contracts_of,
    described,
    entries_of,
    shortened,
)
from mcpcore_lint.rules.contract.renaming import renamed

if TYPE_CHECKING:
    from mcpcore_lint.diagnostics import Related
    from mcpcore_lint.model import Contract, ContractEntry, ToolDef, Value
    from mcpcore_lint.rules.base import Family

SNAKE_CASE: Final = regex(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*\Z")
MAX_LENGTH: Final = 63
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
    valid = (
        """
        from enum import Enum
        from typing import Literal

        from elsewhere import REASON
        from mcpcore import ErrorCode, FailureMode, tool

        class Reason(str, Enum):
            NO_MATCH = "no_match"

        more = {"reason": "b", "code": ErrorCode.CONFLICT}

        @tool(
            errors=[
                FailureMode("a", ErrorCode.NOT_FOUND, when="x", recovery="y"),
                FailureMode(code=ErrorCode.NOT_FOUND, reason="c", when="x", recovery="y"),
                FailureMode(REASON, ErrorCode.NOT_FOUND, when="x", recovery="y"),
                FailureMode(Reason.NO_MATCH, ErrorCode.NOT_FOUND, when="x", recovery="y"),
                FailureMode(when="x", recovery="y", **more),
                FailureMode(when="x", recovery="y", **unknown),
                FailureMode(*unknown, when="x", recovery="y"),
                FailureMode(f"{REASON}", ErrorCode.NOT_FOUND, when="x", recovery="y"),
            ]
        )
        def one() -> str: ...

        def mode(reason: Literal["a", "b"]):
            return FailureMode(reason, ErrorCode.CONFLICT, when="x", recovery="y")
        """,
    )
    invalid = (
        Invalid(
            """
            from mcpcore import ErrorCode as EC, FailureMode as FM, tool

            NOTHING = ""

            @tool(
                errors=[
                    FM(code=EC.NOT_FOUND, when="x", recovery="y"),  # here
                    FM("", EC.NOT_FOUND, when="x", recovery="y"),  # here
                    FM("  ", EC.NOT_FOUND, when="x", recovery="y"),  # here
                    FM(NOTHING, EC.NOT_FOUND, when="x", recovery="y"),  # here
                    FM(None, EC.NOT_FOUND, when="x", recovery="y"),  # here
                    FM(404, EC.NOT_FOUND, when="x", recovery="y"),  # here
                    FM(reason=b"a", code=EC.NOT_FOUND, when="x", recovery="y"),  # here
                    FM("a" if NOTHING else "", EC.NOT_FOUND, when="x", recovery="y"),  # here
                    FM(EC.NOT_FOUND, EC.NOT_FOUND, when="x", recovery="y"),  # here
                    FM(["a"], EC.NOT_FOUND, when="x", recovery="y"),  # here
                ]
            )
            def one() -> str: ...
            """,
            "errors[0] of one has no reason",
        ),
        Invalid(
            """
            from mcpcore import ErrorCode, FailureMode

            def mode(code):
                return FailureMode("", code, when="x", recovery="y")  # here
            """,
            "the reason of this FailureMode is empty",
        ),
    )

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


class ContractReasonFormat(EntryRule):
    """A reason in another spelling."""

    id = "error-contract-reason-format"
    severity = Severity.WARNING
    family: ClassVar[Family] = "contract"
    fixable = True
    summary = "the reason is not snake_case (or is longer than 63 characters)"
    why = (
        "Clients compare reasons as they are. One spelling everywhere makes them easy to write from memory, to use as "
        "names in code and as labels in metrics."
    )
    bad = 'FailureMode("NoMatch", ErrorCode.NOT_FOUND, when="...", recovery="...")'
    good = 'FailureMode("no_match", ErrorCode.NOT_FOUND, when="...", recovery="...")'
    how_to_fix = (
        "Rename it, with every `ctx.fail` and `Context[Literal[...]]` that uses it. The fix does so within the file "
        "and is unsafe, since clients see the new name."
    )
    when_to_suppress = "When clients already switch on the reason as it is."
    valid = (
        """
        from enum import StrEnum

        from elsewhere import REASON
        from mcpcore import ErrorCode, FailureMode, tool

        class Reason(StrEnum):
            QUEUE_FULL = "queue_full"

        @tool(
            errors=[
                FailureMode("a", ErrorCode.NOT_FOUND, when="x", recovery="y"),
                FailureMode("no_match", ErrorCode.NOT_FOUND, when="x", recovery="y"),
                FailureMode("http_404", ErrorCode.NOT_FOUND, when="x", recovery="y"),
                FailureMode("v2", ErrorCode.NOT_FOUND, when="x", recovery="y"),
                FailureMode(REASON, ErrorCode.NOT_FOUND, when="x", recovery="y"),
                FailureMode(Reason.QUEUE_FULL, ErrorCode.NOT_FOUND, when="x", recovery="y"),
                FailureMode(f"Odd-{REASON}", ErrorCode.NOT_FOUND, when="x", recovery="y"),
                FailureMode("", ErrorCode.NOT_FOUND, when="x", recovery="y"),
                FailureMode("abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijk",
                            ErrorCode.NOT_FOUND, when="x", recovery="y"),
            ]
        )
        def one() -> str: ...
        """,
        """
        from mcpcore import ErrorCode, FailureMode

        def mode(name):
            return FailureMode(name, ErrorCode.NOT_FOUND, when="x", recovery="y")

        mode("NoMatch")
        """,
    )
    invalid = (
        Invalid(
            """
            from typing import Literal

            from mcpcore import Context, ErrorCode, FailureMode, not_found, tool

            @tool(
                errors=[
                    FailureMode("NoMatch", ErrorCode.NOT_FOUND, when="x", recovery="y"),  # here
                    FailureMode("queue-full", ErrorCode.RATE_LIMITED, when="x", recovery="y"),  # here
                    FailureMode(reason='HTTPGone', code=ErrorCode.CONFLICT, when="x", recovery="y"),  # here
                ]
            )
            def one(ctx: Context[Literal["NoMatch", "queue-full", "HTTPGone"]]) -> str:
                if ctx.sdk:
                    raise ctx.fail("NoMatch", "No match.")
                elif ctx.fail:
                    raise not_found("No match.", data={"reason": "NoMatch"} | ctx.recovery_for("NoMatch"))
                try:
                    helper(ctx)
                except Exception as exc:
                    if exc.reason == "queue-full":
                        raise not_found("Gone.", reason="HTTPGone") from exc
                raise ctx.fail(reason="queue-full")

            def helper(ctx: Context[Literal["NoMatch"]]):
                '''NoMatch'''
                raise ctx.fail("NoMatch")
            """,
            "the reason 'NoMatch' is not snake_case",
            """
            from typing import Literal

            from mcpcore import Context, ErrorCode, FailureMode, not_found, tool

            @tool(
                errors=[
                    FailureMode("no_match", ErrorCode.NOT_FOUND, when="x", recovery="y"),
                    FailureMode("queue_full", ErrorCode.RATE_LIMITED, when="x", recovery="y"),
                    FailureMode(reason='http_gone', code=ErrorCode.CONFLICT, when="x", recovery="y"),
                ]
            )
            def one(ctx: Context[Literal["no_match", "queue_full", "http_gone"]]) -> str:
                if ctx.sdk:
                    raise ctx.fail("no_match", "No match.")
                elif ctx.fail:
                    raise not_found("No match.", data={"reason": "no_match"} | ctx.recovery_for("no_match"))
                try:
                    helper(ctx)
                except Exception as exc:
                    if exc.reason == "queue_full":
                        raise not_found("Gone.", reason="http_gone") from exc
                raise ctx.fail(reason="queue_full")

            def helper(ctx: Context[Literal["no_match"]]):
                '''NoMatch'''
                raise ctx.fail("no_match")
            """,
        ),
        # One constant behind all uses; an alias of the Literal.
        Invalid(
            """
            from enum import StrEnum
            from typing import Literal

            import mcpcore as m

            NO_MATCH = "No Match"
            Reasons = Literal["No Match", "Gone"]

            class Reason(StrEnum):
                GONE = "Gone"

            MODES = [
                m.FailureMode(NO_MATCH, m.ErrorCode.NOT_FOUND, when="x", recovery="y"),  # here
                m.FailureMode(Reason.GONE, m.ErrorCode.NOT_FOUND, when="x", recovery="y"),  # here
            ]

            @m.tool(errors=MODES)
            def one(ctx: m.Context[Reasons], ids: list[str]) -> str:
                raise ctx.fail(NO_MATCH if ids else Reason.GONE)
            """,
            "the reason 'No Match' is not snake_case",
            """
            from enum import StrEnum
            from typing import Literal

            import mcpcore as m

            NO_MATCH = "no_match"
            Reasons = Literal["no_match", "gone"]

            class Reason(StrEnum):
                GONE = "gone"

            MODES = [
                m.FailureMode(NO_MATCH, m.ErrorCode.NOT_FOUND, when="x", recovery="y"),
                m.FailureMode(Reason.GONE, m.ErrorCode.NOT_FOUND, when="x", recovery="y"),
            ]

            @m.tool(errors=MODES)
            def one(ctx: m.Context[Reasons], ids: list[str]) -> str:
                raise ctx.fail(NO_MATCH if ids else Reason.GONE)
            """,
        ),
        # No fix: a reason that is made at run time, a use that is not understood, a name that is taken, no name at all.
        Invalid(
            """
            from mcpcore import Context, ErrorCode, FailureMode, tool

            @tool(errors=[FailureMode("NoMatch", ErrorCode.NOT_FOUND, when="x", recovery="y")])  # here
            def one(ctx: Context, reason: str) -> str:
                raise ctx.fail(reason)

            STATUS = {"Gone": 404}

            @tool(errors=[FailureMode("Gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])  # here
            def two(ctx: Context) -> str:
                raise ctx.fail("Gone")

            @tool(
                errors=[
                    FailureMode("Lost", ErrorCode.NOT_FOUND, when="x", recovery="y"),  # here
                    FailureMode("lost", ErrorCode.NOT_FOUND, when="x", recovery="y"),
                    FailureMode("größe", ErrorCode.NOT_FOUND, when="x", recovery="y"),  # here
                    FailureMode("404", ErrorCode.NOT_FOUND, when="x", recovery="y"),  # here
                ]
            )
            def three(ctx: Context) -> str:
                raise ctx.fail("Lost")
            """,
            "'NoMatch' is not snake_case",
        ),
        Invalid(
            """
            from mcpcore import ErrorCode, FailureMode, tool

            @tool(
                errors=[
                    FailureMode(  # the name
                        "no_" "Match",  # here
                        ErrorCode.NOT_FOUND, when="x", recovery="y"
                    ),
                    FailureMode(
                        ("Not "  # here
                         "Here"),  # in two parts, for a reason
                        ErrorCode.NOT_FOUND, when="x", recovery="y"
                    ),
                    FailureMode("_private", ErrorCode.CONFLICT, when="x", recovery="y"),  # here
                    FailureMode("two__", ErrorCode.CONFLICT, when="x", recovery="y"),  # here
                    FailureMode(
                        "a_very_long_reason_that_goes_on_and_on_without_any_end_in_sight_at_all",  # here
                        ErrorCode.CONFLICT, when="x", recovery="y",
                    ),
                ]
            )
            def one() -> str: ...
            """,
            "the reason 'no_Match' is not snake_case",
            """
            from mcpcore import ErrorCode, FailureMode, tool

            @tool(
                errors=[
                    FailureMode(  # the name
                        "no_match",
                        ErrorCode.NOT_FOUND, when="x", recovery="y"
                    ),
                    FailureMode(
                        ("not_here"),  # in two parts, for a reason
                        ErrorCode.NOT_FOUND, when="x", recovery="y"
                    ),
                    FailureMode("private", ErrorCode.CONFLICT, when="x", recovery="y"),
                    FailureMode("two", ErrorCode.CONFLICT, when="x", recovery="y"),
                    FailureMode(
                        "a_very_long_reason_that_goes_on_and_on_without_any_end_in_sight",
                        ErrorCode.CONFLICT, when="x", recovery="y",
                    ),
                ]
            )
            def one() -> str: ...
            """,
        ),
    )

    def check_entry(self, entry: Entry, ctx: RuleContext) -> None:
        """Report a reason in another spelling."""
        reason = entry.arguments["reason"]
        for value in options(reason.value):
            if not isinstance(value, Const) or not isinstance(value.value, str) or not value.value.strip():
                continue
            text = value.value
            long = len(text) > MAX_LENGTH
            if SNAKE_CASE.match(text) and not long:
                continue
            new = snake_case(text)
            what = f"is longer than {MAX_LENGTH} characters" if long else "is not snake_case"
            entry.report(
                ctx,
                reason,
                f"the reason {shortened(text)!r} {what}",
                help=f"rename it to {new!r}, here and where it is used"
                if new
                else "name it with lower-case letters, digits and single underscores, a letter first",
                fix=renamed(entry, text, new, ctx) if new else None,
            )
            return


def snake_case(text: str) -> str | None:
    """A reason in snake_case, 63 characters at most; None where none can be made without inventing a word."""
    words = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", text)
    words = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", words)
    if any(each.isalnum() and not each.isascii() for each in words):
        return None
    words = re.sub(r"[^a-z0-9]+", "_", words.lower()).strip("_")
    if len(words) > MAX_LENGTH:
        words = words[: MAX_LENGTH + 1].rpartition("_")[0] or words[:MAX_LENGTH]
    return words if SNAKE_CASE.match(words) else None


class ContractReasonUnique(Rule):
    """One reason for two failures."""

    id = "error-contract-reason-unique"
    severity = Severity.ERROR
    family: ClassVar[Family] = "contract"
    summary = "the same reason twice in one contract"
    why = "`ctx.fail(reason)` can mean only one of them, so the contract is refused at import."
    bad = 'errors=[FailureMode("no_match", ...), FailureMode("no_match", ...)]'
    good = 'errors=[FailureMode("no_match", ...), FailureMode("no_access", ...)]'
    how_to_fix = "Give each failure mode a reason of its own, or join the two."
    when_to_suppress = "Never: the tool cannot be imported."
    valid = (
        """
        from elsewhere import ERRORS, REASON
        from mcpcore import Contract, ErrorCode, FailureMode, tool

        A = FailureMode("a", ErrorCode.NOT_FOUND, when="x", recovery="y")
        A2 = FailureMode("a", ErrorCode.CONFLICT, when="x", recovery="y")

        @tool(errors=[A, FailureMode("b", ErrorCode.CONFLICT, when="x", recovery="y")])
        def one() -> str: ...

        @tool(errors=[A])
        def two() -> str: ...

        @tool(errors=[FailureMode(REASON, ErrorCode.CONFLICT, when="x", recovery="y"), *ERRORS, A])
        def three() -> str: ...

        @tool(errors=[A] if ERRORS else [A2])
        def four() -> str: ...

        @tool(errors=[A if ERRORS else A2])
        def five() -> str: ...
        """,
    )
    invalid = (
        Invalid(
            """
            from mcpcore import Contract, ErrorCode, FailureMode, tool

            NAME = "a"
            A = FailureMode("a", ErrorCode.NOT_FOUND, when="x", recovery="y")
            B = [FailureMode("b", ErrorCode.NOT_FOUND, when="x", recovery="y")]
            TWICE = [
                FailureMode("c", ErrorCode.NOT_FOUND, when="x", recovery="y"),
                FailureMode("c", ErrorCode.CONFLICT, when="x", recovery="y"),  # here
            ]

            @tool(
                errors=[
                    A,
                    FailureMode(NAME, ErrorCode.CONFLICT, when="x", recovery="y"),  # here
                ]
            )
            def one() -> str: ...

            @tool(errors=[A, A])  # here
            def two() -> str: ...

            @tool(errors=B + [*B])  # here
            def three() -> str: ...

            @tool(errors=TWICE)
            def four() -> str: ...

            @tool(errors=Contract(TWICE))
            def five() -> str: ...
            """,
            "the reason 'c' is declared twice",
        ),
        Invalid(
            """
            from mcpcore import ErrorCode, FailureMode, tool
            from modes import COMMON

            @tool(
                errors=[
                    *COMMON,
                    FailureMode("a", ErrorCode.CONFLICT, when="x", recovery="y"),  # here
                ]
            )
            def one() -> str: ...
            """,
            "the reason 'a' is declared twice",
            files={
                "modes.py": "from mcpcore import ErrorCode, FailureMode\n"
                'COMMON = (FailureMode("a", ErrorCode.NOT_FOUND, when="x", recovery="y"),)\n'
            },
        ),
    )

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each reason that the contract has had before."""
        for contract in contracts_of(tool, ctx):
            first: dict[str, tuple[int, ContractEntry]] = {}
            for index, entry in entries_of(contract, ctx):
                text = entry.reason_text
                if not entry.is_failure_mode or text is None or not text.strip():
                    continue
                if text not in first:
                    first[text] = (index, entry)
                elif first[text][0] != index:
                    self._report(text, first[text][1], entry, contract, tool, ctx)

    @staticmethod
    def _report(
        text: str, before: ContractEntry, entry: ContractEntry, contract: Contract, tool: ToolDef, ctx: RuleContext
    ) -> None:
        message = f"the reason {shortened(text)!r} is declared twice"
        step = "give each failure mode a reason of its own, or join the two"
        wrapped = Entry(entry, tool, 0)
        if entry.inline:
            node, module, owner = *wrapped.place(entry.reason), tool
        elif entry.call is not before.call and _in_one_list(before, entry):
            node, module, owner = *wrapped.place(entry.reason), None
        else:
            # Each of the two is right by itself: it is this tool that brings them together.
            node, module, owner = contract.node, contract.module, tool
        related: tuple[Related, ...] = ()
        if before.call is not None and before.call is not entry.call:
            related = (ctx.related(before.call, "declared first here", before.module),)
        ctx.report(node, message, help=step, tool=owner, module=module, related=related)


def _in_one_list(left: ContractEntry, right: ContractEntry) -> bool:
    """Whether two entries stand in the same list or tuple of one file."""
    if left.module is not right.module:
        return False
    parents = left.module.parents

    def display(entry: ContractEntry) -> ast.AST | None:
        return parents.get(entry.node)

    above = display(left)
    return isinstance(above, (ast.List, ast.Tuple)) and above is display(right)
