"""The rule error-contract-retry-type."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, ClassVar, Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import CallValue, CodeValue, Const, Items, Mapping, Symbol, options
from mcpcore_lint.names import CONSTRUCTORS
from mcpcore_lint.rules._thrown import CODED
from mcpcore_lint.rules._wording import described, near
from mcpcore_lint.rules.contract._entries import Entry, EntryRule
from mcpcore_lint.rules.contract._values import certainly_not

if TYPE_CHECKING:
    from collections.abc import Mapping as MappingType

    from mcpcore_lint.model import Argument, Value
    from mcpcore_lint.rules.base import Family, RuleContext
    from mcpcore_lint.syntax.module import Module

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
