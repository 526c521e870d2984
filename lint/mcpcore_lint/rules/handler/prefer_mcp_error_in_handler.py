"""prefer-mcp-error-in-handler: a builtin exception raised in a handler."""

import ast
from typing import Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.engine.registrations.routes import is_route
from mcpcore_lint.frameworks import as_markdown, framework_of
from mcpcore_lint.model import Handler, ThrowSite, ToolDef
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._bodies import short, where_to
from mcpcore_lint.rules.handler._raises import NOT_FAILURES, about_an_unknown_tool

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
    """A builtin exception raised on purpose.

    Summary: the agent gets a guessed code and no next step: the handler raises a builtin exception
    How to fix: With a contract, declare the failure and raise `ctx.fail(reason)`. Without one, raise the error of the
        factory that fits the failure. On a server without mcpcore, raise the error that the table names. In a contract
        tool `ToolError` is reported as well, because it has neither a reason nor a code.
    When to suppress: If the exception signals a bug that no argument can cause, and `assert` does not fit.

    Bad:
        raise ValueError(f"no article {pmid}")
    Good:
        raise ctx.fail("no_match", f"no article {pmid}", data={"pmid": pmid})
    """

    severity = Severity.WARNING
    why = f"""
`ValueError` and other builtin exceptions carry a sentence and nothing else: no retry advice and no next step. In a tool
of mcpcore, the client does not even see the sentence, because the boundary hides the text of an undeclared exception.
It sees a code guessed from the class: VALIDATION_ERROR for a ValueError, whether an argument or an answer was wrong.

Servers without mcpcore have no coded errors. There the finding depends on how the framework handles an exception:

{as_markdown()}

Where the text is hidden, the finding is a warning, or information if a decorator of the project registers the tools,
since the project may raise `ToolError` instead of the exception. Where the text is sent, only `raise Exception(...)`
is reported, as information. Select the rule by its id to see the rest.

There is no finding if a decorator or a context manager of the project catches the exception and raises another one.
"""

    def check_handler(self, handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each builtin exception that leaves its function, where it is created."""
        if is_route(tool):
            return  # the application may have handlers for its exceptions
        lines: set[int] = set()
        for throw in handler.throws:
            error = throw.error
            if error is None:
                _check_helper(throw, handler, tool, ctx)
                continue
            # The boundary reports the failures in a group.
            builtin = error.form == "builtin" and error.type_name not in {*NOT_FAILURES, "builtins.ExceptionGroup"}
            framework = error.form == "framework" and tool.contract is not None
            if not throw.escapes or not (builtin or framework) or about_an_unknown_tool(error, tool):
                continue
            is_stub = error.type_name == "builtins.NotImplementedError" and not getattr(error.node, "args", ())
            if error.node.lineno not in lines and not (is_stub and tool.flavour != "mcpcore"):
                lines.add(error.node.lineno)
                _report(throw, error.node, error.type_name, handler, tool, ctx)


def _check_helper(throw: ThrowSite, handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:
    """Report `raise helper()` if a function of the project creates a builtin exception."""
    if throw.call is None or throw.reraise:
        return
    reach = ctx.reach(tool)
    for reached in (*reach.throws, *reach.own):
        is_builtin = reached.form == "builtin" and reached.type_name not in NOT_FAILURES
        if reached.call == throw.span and is_builtin and reached.source == "project":
            _report(throw, throw.node, reached.type_name, handler, tool, ctx)
            return


def _report(throw: ThrowSite, node: ast.AST, type_name: str, handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:
    message = f"{tool.display_name} raises {short(type_name)}"
    weight: Severity | None = None
    if tool.flavour == "mcpcore" or tool.contract is not None:
        message += ", so the agent learns neither what failed nor what to do next"
    else:
        framework = framework_of(tool)
        handling = framework.handling(tool.kind)
        if handling.sends and type_name not in _UNSPECIFIC and not ctx.named:
            return
        # A project may wrap the tools that its decorators collect, and raise ToolError in place of their exceptions.
        if handling.sends or tool.server is None:
            weight = Severity.INFO
        message += f", {framework.effect(handling.shows, tool)}"
        if handling.sends:
            unspecific = type_name in _UNSPECIFIC
            message += ", so it looks like any other failure" if unspecific else ", without a next step for the agent"
    # A decorator, a `with` or a guard may catch the exception. This follows the calls of the handler, which costs more
    # than all checks before it.
    reach = ctx.reach(tool)
    leaving = [reached for reached in (*reach.own, *reach.throws) if reached.type_name == type_name]
    if any(throw.span in {reached.call, reached.site.span} for reached in leaving):
        advice = where_to(tool, what=_FACTORIES.get(type_name, ""))
        ctx.report(node, message, help=advice, tool=tool, module=handler.module, weight=weight)
