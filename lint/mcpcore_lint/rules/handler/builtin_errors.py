"""Builtin exceptions that a handler raises on purpose."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.frameworks import as_markdown, framework_of, registered_in_sight
from mcpcore_lint.rules._bodies import short, where_to
from mcpcore_lint.rules.base import Rule, RuleContext
from mcpcore_lint.rules.handler._raised import NOT_FAILURES, about_an_unknown_tool
from mcpcore_lint.rules.handler._round import caught_by_a_manager, is_coded_round

if TYPE_CHECKING:
    from mcpcore_lint.model import ErrorSite, Handler, ThrowSite, ToolDef

SUGGESTED: Final[dict[str, str]] = {
    "builtins.ValueError": "validation_error",
    "builtins.TypeError": "validation_error",
    "builtins.KeyError": "not_found",
    "builtins.IndexError": "not_found",
    "builtins.LookupError": "not_found",
    "builtins.FileNotFoundError": "not_found",
    "builtins.FileExistsError": "conflict",
    "builtins.PermissionError": "forbidden",
    "builtins.TimeoutError": "timeout",
    "builtins.ConnectionError": "service_unavailable",
}
"""The factory that says what a builtin exception usually means."""

OF_ANYTHING: Final = frozenset({"builtins.Exception", "builtins.BaseException"})
"""Classes that say nothing of what happened, whatever the sentence."""


class PreferMcpErrorInHandler(Rule):
    """A builtin exception raised on purpose."""

    id = "prefer-mcp-error-in-handler"
    severity = Severity.WARNING
    family = "handler"
    summary = "a builtin exception raised in a handler, where a coded error tells the agent more"
    why = f"""
`ValueError` and its kin carry a sentence and nothing else: no code, no retry advice, no next step. The agent cannot
tell a bad argument from an outage, and the boundary hides the sentence, since nobody declared it.

Servers without mcpcore have no coded errors. There the finding depends on how the framework handles an exception:

{as_markdown()}

Where the text is hidden, the finding is a warning, or information if a decorator of the project keeps the tools, since
the project may raise `ToolError` in place of the exception. Where the text is sent, only `raise Exception(...)` is
reported, as information. Select the rule by its id to see the rest.

Under a decorator or a context manager of the project that raises an error of the framework, or a coded one, in its
place it is no finding.
"""
    bad = 'raise ValueError(f"no article {pmid}")'
    good = 'raise ctx.fail("no_match", f"no article {pmid}", data={"pmid": pmid})'
    how_to_fix = (
        "With a contract, declare the failure and raise `ctx.fail(reason)`. Without one, raise the factory of what "
        "went wrong. On a server without mcpcore, raise what the table names. In a contract tool `ToolError` is "
        "reported too: it has no code."
    )
    when_to_suppress = "Where the exception is a bug that no argument can bring about, and `assert` does not fit."

    def check_handler(self, handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each builtin exception that leaves its function, at the place where it is made."""
        lines: set[int] = set()
        for throw in handler.throws:
            error = throw.error
            if error is None:
                self._made_elsewhere(throw, handler, tool, ctx)
                continue
            builtin = error.form == "builtin" and error.type_name not in NOT_FAILURES
            framework = error.form == "framework" and tool.contract is not None
            if not throw.escapes or not (builtin or framework) or about_an_unknown_tool(error, tool):
                continue
            if error.node.lineno in lines or _is_stub(error, handler, tool):
                continue
            if builtin and (is_coded_round(error.type_name, handler, tool, ctx) or _is_guarded(throw, tool, ctx)):
                continue
            lines.add(error.node.lineno)
            says = _says_something(error.node, handler)
            self._report(error.node, error.type_name, handler, tool, ctx, says=says, throw=throw)

    def _made_elsewhere(self, throw: ThrowSite, handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:
        """`raise bad()`, where a function of the project makes the exception, or one of several classes does."""
        if throw.call is None or throw.reraise:
            return
        span = handler.module.source.span(throw.node)
        reach = ctx.reach(tool)
        for reached in (*reach.throws, *reach.own):
            if reached.call == span and reached.form == "builtin" and reached.source == "project" and (
                reached.type_name not in NOT_FAILURES
            ):  # fmt: skip
                says = reached.site.span != span or _says_something(throw.call, handler)
                self._report(throw.node, reached.type_name, handler, tool, ctx, says=says)
                return

    @staticmethod
    def _report(
        at: ast.AST,
        full: str,
        handler: Handler,
        tool: ToolDef,
        ctx: RuleContext,
        *,
        says: bool = True,
        throw: ThrowSite | None = None,
    ) -> None:
        what = f"{tool.display_name} raises {short(full)}"
        weight: Severity | None = None
        if tool.flavour == "mcpcore" or tool.contract is not None:
            message = f"{what}, which tells the agent neither what failed nor what to do next"
        else:
            framework = framework_of(tool)
            handling = framework.handling(tool.kind)
            if handling.sends and full not in OF_ANYTHING and not ctx.named:
                return
            effect = framework.effect(handling.shows, tool)
            if handling.sends or not registered_in_sight(tool):
                weight = Severity.INFO
            if not handling.sends:
                message = f"{what}, {effect}"
            elif full in OF_ANYTHING:
                message = f"{what}, {effect}, but which nothing can tell from any other failure"
            elif says:
                message = f"{what}, {effect} as it does that of a bug"
            else:
                message = f"{what} without a sentence, so the agent learns neither what failed nor what to do next"
        # To follow what the handler calls costs more than all before it, so it comes last.
        if throw is not None and caught_by_a_manager(throw, handler, tool, ctx):
            return
        advice = where_to(tool, what=SUGGESTED.get(full, ""))
        ctx.report(at, message, help=advice, tool=tool, module=handler.module, weight=weight)


def _is_stub(error: ErrorSite, handler: Handler, tool: ToolDef) -> bool:
    """Whether nothing is in the handler but that it is still to be written, or that nothing ever gets there."""
    node = handler.node
    if error.type_name != "builtins.NotImplementedError" or isinstance(node, ast.Lambda) or tool.flavour == "mcpcore":
        return False
    if isinstance(error.node, ast.Call) and (error.node.args or error.node.keywords):
        return False  # what the agent is told of it is looked at as any other sentence
    *before, last = node.body
    return isinstance(last, ast.Raise) and all(
        isinstance(each, ast.Pass) or (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
        for each in before
    )


def _is_guarded(throw: ThrowSite, tool: ToolDef, ctx: RuleContext) -> bool:
    """Whether a guard of mcpcore round a `raise` names the code or the reason that the exception becomes."""
    if tool.flavour != "mcpcore" and not tool.handler.module.source.has("mcpcore"):
        return False
    return any(each.call == throw.span and each.form in {"guard", "fail"} for each in ctx.reach(tool).own)


def _says_something(node: ast.expr, handler: Handler) -> bool:
    """Whether an exception is made with a sentence, rather than with nothing or with an argument of the call alone."""
    if not isinstance(node, ast.Call) or not node.args:
        return False
    first = node.args[0]
    if isinstance(first, ast.Constant):
        return isinstance(first.value, str) and bool(first.value.strip())
    return not (isinstance(first, ast.Name) and any(each.name == first.id for each in handler.parameters))
