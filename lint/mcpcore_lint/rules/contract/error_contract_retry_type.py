"""error-contract-retry-type."""

from typing import Final

from mcpcore.contract.codes import EFFECTS, STRATEGIES
from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.model import CallValue, CodeValue, Const, Items, Mapping, Symbol, Value, options
from mcpcore_lint.names import CONSTRUCTORS
from mcpcore_lint.rule import RuleContext
from mcpcore_lint.rules._thrown import CODED
from mcpcore_lint.rules._wording import described, near
from mcpcore_lint.rules.contract._entries import Checked, EntryRule, Problem, certainly_not

_WORDS: Final = {"effects": EFFECTS, "strategy": STRATEGIES}
"""The arguments that accept only a few words."""


class ContractRetryType(EntryRule):
    """`retry` is not a Retry, or `effects` or `strategy` is an unknown word.

    Summary: `retry` is not a Retry, or `effects` or `strategy` is not one of the allowed values
    Why: The client gets no retry advice: a failure mode with such a value fails at import, and a failure raised with
        one is sent without it. `retry` cannot be a bool or a number of seconds; `effects` and `strategy` accept only a
        few words.
    How to fix: Write `Retry.never()`, `Retry.now()` or `Retry.after(seconds=...)`, or leave it out to get the advice of
        the code. `effects` is "none", "partial" or "unknown"; `strategy` is "retry_later", "check_input",
        "try_alternative" or "report_to_user".
    When to suppress: Never: the server does not start, or the advice is lost.

    Bad:
        FailureMode("busy", ErrorCode.RATE_LIMITED, when="...", recovery="...", retry=30)
    Good:
        FailureMode("busy", ErrorCode.RATE_LIMITED, when="...", recovery="...", retry=Retry.after(seconds=30))
    """

    severity = Severity.WARNING
    arguments = ("retry", "effects", "strategy")

    def check_file(self, module: Module, ctx: RuleContext) -> None:
        """Check the failure modes of a file, and the failures that its handlers make."""
        super().check_file(module, ctx)
        errors = {error.node: (error, tool) for tool in reversed(ctx.tools) for error in tool.handler.errors}
        for error, tool in errors.values():
            ours = error.callee.startswith("mcpcore.") and error.callee not in CONSTRUCTORS
            for argument in (error.retry, error.effects) if ours and error.form in CODED else ():
                problems = (_problem(value, argument.name, "this failure", ctx) for value in options(argument.value))
                if problem := next(filter(None, problems), None):
                    node = argument.node or error.node
                    ctx.report(node, problem.message, help=problem.help, tool=tool, module=error.module)

    def check_value(self, checked: Checked) -> Problem | None:
        """Report a value of another type."""
        return _problem(checked.value, checked.argument.name, checked.label, checked.ctx)


def _problem(value: Value, argument: str, label: str, ctx: RuleContext) -> Problem | None:
    constant = value.value if isinstance(value, Const) else ...
    if constant is None:
        return None
    words = _WORDS.get(argument)
    if words is not None:
        if constant in words or not isinstance(value, (Const, Items, Mapping, CodeValue)):
            return None
        listed = " or ".join(map(repr, words))
        close = near(constant, words) if isinstance(constant, str) else None
        step = f"did you mean {close!r}?" if close else f"write {listed}, or leave it out"
        return Problem(f"the {argument} of {label} must be {listed}, not {described(value)}", step)
    func = value.func.name if isinstance(value, CallValue) else ""
    if func.startswith("mcpcore.Retry"):
        return None
    is_method = isinstance(value, Symbol) and value.name.startswith("mcpcore.Retry.")
    if not is_method and func != "datetime.timedelta" and not certainly_not(value, frozenset({"mcpcore.Retry"}), ctx):
        return None
    step = "write Retry.never(), Retry.now() or Retry.after(seconds=...)"
    if isinstance(constant, bool):
        step = f"write Retry.{'now' if constant else 'never'}()"
    elif isinstance(constant, (int, float)) and constant > 0:
        step = f"write Retry.after(seconds={constant:g})"
    return Problem(f"the retry of {label} is {described(value)}, not a Retry", step)
