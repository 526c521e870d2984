"""The rule about `retry`, `effects` and `strategy` with a value of another kind."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, ClassVar, Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import CallValue, CodeValue, Const, Items, Mapping, Symbol, options
from mcpcore_lint.names import CONSTRUCTORS
from mcpcore_lint.rules._thrown import CODED
from mcpcore_lint.rules.base import Invalid, RuleContext
from mcpcore_lint.rules.contract.entries import Entry, EntryRule, certainly_not, described, near

if TYPE_CHECKING:
    from collections.abc import Mapping as MappingType

    from mcpcore_lint.model import Argument, Value
    from mcpcore_lint.reading.module import Module
    from mcpcore_lint.rules.base import Family

_RETRY: Final = frozenset({"mcpcore.Retry"})
_MAKERS: Final = frozenset({"mcpcore.Retry.never", "mcpcore.Retry.now", "mcpcore.Retry.after"})
_NO_TEXTS: Final = (Const, Items, Mapping, CodeValue)
"""Values that are known, and are words only where they are constants."""


class ContractRetryType(EntryRule):
    """Advice of another kind."""

    id = "error-contract-retry-type"
    severity = Severity.WARNING
    family: ClassVar[Family] = "contract"
    summary = "`retry` is not a Retry, or `effects` or `strategy` is not one of its words"
    why = (
        "Every failure carries its retry advice in one of three forms, which a bool or a number of seconds is not. "
        "`effects` has three words for what the call may have changed, and `strategy` has four."
    )
    bad = 'FailureMode("queue_full", ErrorCode.RATE_LIMITED, when="...", recovery="...", retry=30)'
    good = (
        'FailureMode("queue_full", ErrorCode.RATE_LIMITED, when="...", recovery="...", retry=Retry.after(seconds=30))'
    )
    how_to_fix = (
        "Write `Retry.never()`, `Retry.now()` or `Retry.after(seconds=...)`, or leave it to the code. `effects` is "
        '"none", "partial" or "unknown"; `strategy` is "retry_later", "check_input", "try_alternative" or '
        '"report_to_user".'
    )
    when_to_suppress = (
        "Never: the failure mode cannot be made, and a failure that is raised is sent without the advice."
    )
    valid = (
        """
        import mcpcore
        from elsewhere import ADVICE, advice
        from mcpcore import ErrorCode, FailureMode, Retry, tool

        SOON = Retry.after(seconds=5)

        @tool(
            errors=[
                FailureMode("a", ErrorCode.CONFLICT, when="x", recovery="y"),
                FailureMode("b", ErrorCode.CONFLICT, when="x", recovery="y", retry=Retry.now()),
                FailureMode("c", ErrorCode.CONFLICT, when="x", recovery="y", retry=SOON),
                FailureMode("d", ErrorCode.CONFLICT, when="x", recovery="y", retry=mcpcore.Retry.never()),
                FailureMode("e", ErrorCode.CONFLICT, when="x", recovery="y", retry=None),
                FailureMode("f", ErrorCode.CONFLICT, when="x", recovery="y", retry=ADVICE),
                FailureMode("g", ErrorCode.CONFLICT, when="x", recovery="y", retry=advice(3)),
                FailureMode("h", ErrorCode.CONFLICT, when="x", recovery="y", retry=ErrorCode.TIMEOUT.retry),
                FailureMode("i", ErrorCode.CONFLICT, when="x", recovery="y", retry=SOON if ADVICE else None),
                FailureMode("j", ErrorCode.CONFLICT, when="x", recovery="y", retry=Retry("not_retryable")),
                FailureMode("k", ErrorCode.CONFLICT, when="x", recovery="y", effects="none", strategy="check_input"),
                FailureMode("l", ErrorCode.CONFLICT, when="x", recovery="y", effects=None, strategy=None),
                FailureMode("m", ErrorCode.CONFLICT, when="x", recovery="y", effects=ADVICE, strategy=advice(1)),
            ]
        )
        def one() -> str: ...
        """,
        """
        from typing import Any, Literal

        from elsewhere import EFFECTS
        from mcpcore import CodedError, Context, ErrorCode, FailureMode, Retry, timeout, tool

        class Late(CodedError):
            def __init__(self, effects: int, retry: int) -> None:
                super().__init__(ErrorCode.TIMEOUT, f"{effects} {retry}")

        @tool(errors=[FailureMode("a", ErrorCode.TIMEOUT, when="x", recovery="y")])
        def one(ctx: Context[Any], a: int, told: Literal["none", "partial"], options: dict) -> str:
            match a:
                case 1:
                    raise ctx.fail("a", retry=Retry.now(), effects="none" if told else "partial")
                case 2:
                    raise timeout("x", retry=None, effects=told)
                case 3:
                    raise CodedError(ErrorCode.TIMEOUT, effects=EFFECTS)
                case 4:
                    raise ctx.fail("a", retry=..., effects=None)
                case 5:
                    raise Late(effects=3, retry=4)
            raise ctx.fail("a", **options)
        """,
    )
    invalid = (
        Invalid(
            """
            from datetime import timedelta

            from mcpcore import ErrorCode as EC, FailureMode as FM, Retry as R, tool

            SECONDS = 30

            @tool(
                errors=[
                    FM("a", EC.RATE_LIMITED, when="x", recovery="y", retry=True),  # here
                    FM("b", EC.RATE_LIMITED, when="x", recovery="y", retry=SECONDS),  # here
                    FM("c", EC.RATE_LIMITED, when="x", recovery="y", retry="later"),  # here
                    FM("d", EC.RATE_LIMITED, when="x", recovery="y", retry={"kind": "not_retryable"}),  # here
                    FM("e", EC.RATE_LIMITED, when="x", recovery="y", retry=R.never),  # here
                    FM("f", EC.RATE_LIMITED, when="x", recovery="y", retry=R),  # here
                    FM("g", EC.RATE_LIMITED, when="x", recovery="y", retry=timedelta(seconds=30)),  # here
                    FM("h", EC.RATE_LIMITED, when="x", recovery="y", retry=EC.TIMEOUT),  # here
                    FM("i", EC.RATE_LIMITED, when="x", recovery="y", retry=R.now() if SECONDS else False),  # here
                ]
            )
            def one() -> str: ...
            """,
            "the retry of 'a' is the bool True, not a Retry",
        ),
        Invalid(
            """
            from mcpcore import ErrorCode as EC, FailureMode as FM, tool

            EFFECTS = "nothing"

            @tool(
                errors=[
                    FM("a", EC.CONFLICT, when="x", recovery="y", effects="non"),  # here
                    FM("b", EC.CONFLICT, when="x", recovery="y", effects=EFFECTS),  # here
                    FM("c", EC.CONFLICT, when="x", recovery="y", effects=False),  # here
                    FM("d", EC.CONFLICT, when="x", recovery="y", effects="none" if EFFECTS else "all"),  # here
                    FM("e", EC.CONFLICT, when="x", recovery="y", strategy="try_again"),  # here
                    FM("f", EC.CONFLICT, when="x", recovery="y", strategy=["check_input"]),  # here
                ]
            )
            def one() -> str: ...
            """,
            "the effects of 'a' are the string 'non', not one of 'none', 'partial' and 'unknown'",
        ),
        # Where a failure is raised, the invalid advice is not sent.
        Invalid(
            """
            from typing import Any

            from mcpcore import CodedError, Context, ErrorCode, FailureMode, timeout, tool

            @tool(errors=[FailureMode("a", ErrorCode.TIMEOUT, when="x", recovery="y")])
            def one(ctx: Context[Any], a: int) -> str:
                if a == 1:
                    raise ctx.fail("a", effects="nonsense")  # here
                if a == 2:
                    raise ctx.fail("a", retry=30)  # here
                if a == 3:
                    raise CodedError(ErrorCode.CONFLICT, "x", effects="all")  # here

                def inner() -> None:
                    raise timeout("x", effects=True, reason="a")  # here

                return inner()
            """,
            "the effects of this failure are the string 'nonsense', not one of 'none', 'partial' and 'unknown'",
        ),
    )

    def check_file(self, module: Module, ctx: RuleContext) -> None:
        """Look at the failure modes of a file, and at the failures that its handlers make."""
        super().check_file(module, ctx)
        seen: set[object] = set()
        for tool in ctx.tools:
            for error in tool.handler.errors:
                own = error.callee.startswith("mcpcore.") and error.callee not in CONSTRUCTORS
                if not own or error.form not in CODED or error.node in seen:
                    continue
                seen.add(error.node)
                for argument in (error.retry, error.effects):
                    problem = _problem(argument, "this failure", ctx)
                    if problem is not None:
                        ctx.report(
                            argument.node or error.node, problem[0], help=problem[1], tool=tool, module=error.module
                        )

    def check_entry(self, entry: Entry, ctx: RuleContext) -> None:
        """Report advice of another kind."""
        for name in ("retry", *_words()):
            problem = _problem(entry.arguments[name], entry.label, ctx)
            if problem is not None:
                entry.report(ctx, entry.arguments[name], problem[0], help=problem[1])


def _problem(argument: Argument, label: str, ctx: RuleContext) -> tuple[str, str] | None:
    """What is wrong with an argument, and what to do; None if it may be right."""
    words = _words().get(argument.name)
    for value in options(argument.value):
        if isinstance(value, Const) and value.value is None:
            continue
        if words is None:
            if _no_retry(value, ctx):
                uncalled = isinstance(value, Symbol) and value.name in _MAKERS
                what = (
                    f"{value.name.removeprefix('mcpcore.')} itself" if isinstance(value, Symbol) else described(value)
                )
                return f"the retry of {label} is {what}, not a Retry", "call it" if uncalled else _advice_for(value)
        elif isinstance(value, _NO_TEXTS) and not (isinstance(value, Const) and value.value in words):
            listed = f"{', '.join(map(repr, words[:-1]))} and {words[-1]!r}"
            verb = "are" if argument.name == "effects" else "is"
            close = near(value.value, words) if isinstance(value, Const) and isinstance(value.value, str) else None
            step = f"did you mean {close!r}?" if close else f"write one of {listed}, or leave it out"
            return f"the {argument.name} of {label} {verb} {described(value)}, not one of {listed}", step
    return None


@cache
def _words() -> MappingType[str, tuple[str, ...]]:
    """The arguments that take one of a few words."""
    from mcpcore.codes import EFFECTS, STRATEGIES

    return {"effects": EFFECTS, "strategy": STRATEGIES}


def _no_retry(value: Value, ctx: RuleContext) -> bool:
    if isinstance(value, Symbol) and value.name in _MAKERS:
        return True
    if isinstance(value, CallValue) and value.func.name.startswith("mcpcore.Retry"):
        return False
    if isinstance(value, CallValue) and value.func.name == "datetime.timedelta":
        return True
    return certainly_not(value, _RETRY, ctx)


def _advice_for(value: Value) -> str:
    if isinstance(value, Const):
        if isinstance(value.value, bool):
            return f"write Retry.{'now' if value.value else 'never'}()"
        if isinstance(value.value, (int, float)) and value.value > 0:
            return f"write Retry.after(seconds={value.value:g})"
    return "write Retry.never(), Retry.now() or Retry.after(seconds=...)"
