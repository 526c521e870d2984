"""prefer-error-factory: `CodedError` is called where a factory for the code exists."""

import ast

from mcpcore_lint.codemods import edits as codemods
from mcpcore_lint.diagnostics import Fix, Severity
from mcpcore_lint.model import ErrorSite, Missing, ToolDef
from mcpcore_lint.names import FACTORY_OF_CODE
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._bodies import codes_of
from mcpcore_lint.rules._thrown import declared_codes


class PreferErrorFactory(Rule):
    """`CodedError(ErrorCode.X, ...)` where a factory for the code exists.

    Summary: `CodedError(ErrorCode.NOT_FOUND, ...)` where `not_found(...)` sends the client the same error
    Why: The factory is shorter, cannot be given a wrong code, and is the name that readers search for.
    How to fix: Call the factory of the code. The fix does so and keeps the other arguments.
    When to suppress: If the code comes from a table and only happens to be a constant here.

    Bad:
        raise CodedError(ErrorCode.NOT_FOUND, "no such article")
    Good:
        raise not_found("no such article")
    """

    severity = Severity.WARNING
    fixable = True

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each constructor whose code has a factory, unless a rule about the contract reports it."""
        for error in tool.handler.errors:
            if error.callee != "mcpcore.CodedError" or error.form != "coded":
                continue
            names = codes_of(error.code) or ()
            code = names[0] if len(names) == 1 else ""
            factory = FACTORY_OF_CODE.get(code)
            declared = declared_codes(tool.contract) if tool.contract is not None else frozenset()
            if factory is None or declared is None or code in declared:
                continue
            if tool.contract is not None and not isinstance(error.reason, Missing):
                continue
            ctx.report(
                error.node,
                f"the client gets the same error from {factory}(...) as from CodedError(ErrorCode.{code}, ...)",
                help=f"call {factory}(...), which sets the code itself",
                tool=tool,
                module=tool.handler.module,
                fix=_fix(error, factory, tool, ctx),
            )


def _fix(error: ErrorSite, factory: str, tool: ToolDef, ctx: RuleContext) -> Fix | None:
    """Call the factory without the code. A call that may contain a comment is left alone."""
    call, module = error.node, tool.handler.module
    if not isinstance(call, ast.Call) or "#" in module.source.segment(call):
        return None
    arguments = codemods.arguments_in_order(call)
    code = next((argument for argument in call.keywords if argument.arg == "code"), arguments[0])
    name = codemods.import_name(module, "mcpcore", factory)
    rest = [argument for argument in arguments if argument is not code]
    rewritten = codemods.rewrite_call(module, call, rest, function=name.text)
    return ctx.fix(f"Call {factory}(...)", [*name.edits, rewritten])
