"""prefer-mcp-error-in-handler: a builtin exception raised in a handler."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.frameworks import as_markdown, framework_of, registered_in_sight
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._bodies import short, where_to
from mcpcore_lint.rules.handler._raises import NOT_FAILURES, about_an_unknown_tool
from mcpcore_lint.rules.handler._wrappers import becomes_another_error, is_caught_by_context_manager

if TYPE_CHECKING:
    from mcpcore_lint.model import ErrorSite, Handler, ThrowSite, ToolDef

_FACTORIES: Final[dict[str, str]] = {
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
"""The factory to suggest for each builtin exception."""
_UNSPECIFIC: Final = frozenset({"builtins.Exception", "builtins.BaseException"})


class PreferMcpErrorInHandler(Rule):
    """A builtin exception raised on purpose."""

    id = "prefer-mcp-error-in-handler"
    severity = Severity.WARNING
    family = "handler"
    summary = "the agent gets no code and no next step: the handler raises a builtin exception"
    why = f"""
`ValueError` and other builtin exceptions carry a sentence and nothing else: no code, no retry advice, no next step. The
agent cannot tell a bad argument from an outage. In a tool of mcpcore the client does not even see the sentence, because
the boundary hides the text of an exception that is not declared.

Servers without mcpcore have no coded errors. There the finding depends on how the framework handles an exception:

{as_markdown()}

Where the text is hidden, the finding is a warning, or information if a decorator of the project registers the tools,
since the project may raise `ToolError` in place of the exception. Where the text is sent, only `raise Exception(...)`
is reported, as information. Select the rule by its id to see the rest.

There is no finding if a decorator or a context manager of the project catches the exception and raises another one.
"""
    bad = 'raise ValueError(f"no article {pmid}")'
    good = 'raise ctx.fail("no_match", f"no article {pmid}", data={"pmid": pmid})'
    how_to_fix = (
        "With a contract, declare the failure and raise `ctx.fail(reason)`. Without one, raise the factory that fits "
        "the failure. On a server without mcpcore, raise the error that the table names. In a contract tool "
        "`ToolError` is reported as well, because it has no code."
    )
    when_to_suppress = "If the exception means a bug that no argument can cause, and `assert` does not fit."

    def check_handler(self, handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each builtin exception that leaves its function, where it is created."""
        lines: set[int] = set()
        for throw in handler.throws:
            error = throw.error
            if error is None:
                _check_helper(throw, handler, tool, ctx)
                continue
            builtin = error.form == "builtin" and error.type_name not in NOT_FAILURES
            framework = error.form == "framework" and tool.contract is not None
            if not throw.escapes or not (builtin or framework) or about_an_unknown_tool(error, tool):
                continue
            if error.node.lineno in lines or _is_stub(error, handler, tool):
                continue
            if builtin and (
                becomes_another_error(error.type_name, handler, tool, ctx) or _is_guarded(throw, tool, ctx)
            ):
                continue
            lines.add(error.node.lineno)
            _report(error.node, error.type_name, handler, tool, ctx, throw=throw)


def _check_helper(throw: ThrowSite, handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:
    """Report `raise helper()` if a function of the project creates a builtin exception."""
    if throw.call is None or throw.reraise:
        return
    span = handler.module.source.span(throw.node)
    reach = ctx.reach(tool)
    for reached in (*reach.throws, *reach.own):
        if (
            reached.call == span
            and reached.form == "builtin"
            and reached.source == "project"
            and reached.type_name not in NOT_FAILURES
        ):
            _report(throw.node, reached.type_name, handler, tool, ctx)
            return


def _report(
    node: ast.AST,
    type_name: str,
    handler: Handler,
    tool: ToolDef,
    ctx: RuleContext,
    *,
    throw: ThrowSite | None = None,
) -> None:
    message = f"{tool.display_name} raises {short(type_name)}"
    weight: Severity | None = None
    if tool.flavour == "mcpcore" or tool.contract is not None:
        message += ", so the agent learns neither what failed nor what to do next"
    else:
        framework = framework_of(tool)
        handling = framework.handling(tool.kind)
        if handling.sends and type_name not in _UNSPECIFIC and not ctx.named:
            return
        if handling.sends or not registered_in_sight(tool):
            weight = Severity.INFO
        effect = framework.effect(handling.shows, tool)
        message += f", {effect}"
        if handling.sends:
            message += f", so it looks like {'any other failure' if type_name in _UNSPECIFIC else 'a bug'}"
    # This follows the calls of the handler, which costs more than all checks before it.
    if throw is not None and is_caught_by_context_manager(throw, handler, tool, ctx):
        return
    advice = where_to(tool, what=_FACTORIES.get(type_name, ""))
    ctx.report(node, message, help=advice, tool=tool, module=handler.module, weight=weight)


def _is_stub(error: ErrorSite, handler: Handler, tool: ToolDef) -> bool:
    """Whether the handler consists of `raise NotImplementedError`: it is not written yet, or never called."""
    node = handler.node
    if error.type_name != "builtins.NotImplementedError" or isinstance(node, ast.Lambda) or tool.flavour == "mcpcore":
        return False
    if isinstance(error.node, ast.Call) and (error.node.args or error.node.keywords):
        return False  # its text is for the agent, like that of any other exception
    *before, last = node.body
    return isinstance(last, ast.Raise) and all(
        isinstance(statement, ast.Pass)
        or (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
        for statement in before
    )


def _is_guarded(throw: ThrowSite, tool: ToolDef, ctx: RuleContext) -> bool:
    """Whether a `guard` of mcpcore around a `raise` gives the exception a code or a reason."""
    if tool.flavour != "mcpcore" and not tool.handler.module.source.has("mcpcore"):
        return False
    return any(own.call == throw.span and own.form in {"guard", "fail"} for own in ctx.reach(tool).own)
