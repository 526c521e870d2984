"""error-contract-retry-type."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import CallValue, CodeValue, Const, Items, Mapping, Symbol, options
from mcpcore_lint.names import CONSTRUCTORS
from mcpcore_lint.rules._thrown import CODED
from mcpcore_lint.rules._wording import described, near
from mcpcore_lint.rules.contract._entries import ArgumentRule, Entry, Problem
from mcpcore_lint.rules.contract._values import certainly_not

if TYPE_CHECKING:
    from mcpcore_lint.model import Argument, Value
    from mcpcore_lint.rule import RuleContext
    from mcpcore_lint.syntax.module import Module

_RETRY: Final = frozenset({"mcpcore.Retry"})
_RETRY_METHODS: Final = frozenset({"mcpcore.Retry.never", "mcpcore.Retry.now", "mcpcore.Retry.after"})


class ContractRetryType(ArgumentRule):
    """`retry` is not a Retry, or `effects` or `strategy` is an unknown word."""

    id = "error-contract-retry-type"
    severity = Severity.WARNING
    summary = "`retry` is not a Retry, or `effects` or `strategy` is not one of its words"
    why = (
        "The client gets no retry advice: a failure mode with such a value fails at import, and a raised failure is "
        "sent without it. `retry` is not a bool or a number of seconds; `effects` and `strategy` accept a few words."
    )
    bad = 'FailureMode("queue_full", ErrorCode.RATE_LIMITED, when="...", recovery="...", retry=30)'
    good = (
        'FailureMode("queue_full", ErrorCode.RATE_LIMITED, when="...", recovery="...", retry=Retry.after(seconds=30))'
    )
    how_to_fix = (
        "Write `Retry.never()`, `Retry.now()` or `Retry.after(seconds=...)`, or leave it out to get the advice of the "
        'code. `effects` is "none", "partial" or "unknown"; `strategy` is "retry_later", "check_input", '
        '"try_alternative" or "report_to_user".'
    )
    when_to_suppress = "Never: the server does not start, or the advice is lost."
    arguments = ("retry", "effects", "strategy")

    def check_file(self, module: Module, ctx: RuleContext) -> None:
        """Check the failure modes of a file, and the failures that its handlers make."""
        super().check_file(module, ctx)
        seen: set[object] = set()
        for tool in ctx.tools:
            for error in tool.handler.errors:
                ours = error.callee.startswith("mcpcore.") and error.callee not in CONSTRUCTORS
                if not ours or error.form not in CODED or error.node in seen:
                    continue
                seen.add(error.node)
                for argument in (error.retry, error.effects):
                    node = argument.node or error.node
                    for value in options(argument.value):
                        if problem := _problem(value, argument.name, "this failure", ctx):
                            ctx.report(node, problem.message, help=problem.help, tool=tool, module=error.module)
                            break

    def check_value(self, value: Value, argument: Argument, entry: Entry, ctx: RuleContext) -> Problem | None:
        """Report a value of another type."""
        return _problem(value, argument.name, entry.label, ctx)


def _problem(value: Value, argument: str, label: str, ctx: RuleContext) -> Problem | None:
    constant = value.value if isinstance(value, Const) else ...
    if constant is None:
        return None
    words = _words().get(argument)
    if words is not None:
        if constant in words or not isinstance(value, (Const, Items, Mapping, CodeValue)):
            return None
        listed = f"{', '.join(map(repr, words[:-1]))} and {words[-1]!r}"
        close = near(constant, words) if isinstance(constant, str) else None
        step = f"did you mean {close!r}?" if close else f"write one of {listed}, or leave it out"
        verb = "are" if argument == "effects" else "is"
        return Problem(f"the {argument} of {label} {verb} {described(value)}, not one of {listed}", step)
    if isinstance(value, Symbol) and value.name in _RETRY_METHODS:
        name = value.name.removeprefix("mcpcore.")
        return Problem(f"the retry of {label} is the method {name}, not a Retry", f"call it: {name}()")
    if isinstance(value, CallValue) and value.func.name.startswith("mcpcore.Retry"):
        return None
    if not certainly_not(value, _RETRY, ctx) and not _is_timedelta(value):
        return None
    step = "write Retry.never(), Retry.now() or Retry.after(seconds=...)"
    if isinstance(constant, bool):
        step = f"write Retry.{'now' if constant else 'never'}()"
    elif isinstance(constant, (int, float)) and constant > 0:
        step = f"write Retry.after(seconds={constant:g})"
    return Problem(f"the retry of {label} is {described(value)}, not a Retry", step)


def _is_timedelta(value: Value) -> bool:
    return isinstance(value, CallValue) and value.func.name == "datetime.timedelta"


@cache
def _words() -> dict[str, tuple[str, ...]]:
    """The arguments that accept only a few words."""
    from mcpcore.codes import EFFECTS, STRATEGIES

    return {"effects": EFFECTS, "strategy": STRATEGIES}
