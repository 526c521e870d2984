"""prefer-error-factory: `CodedError` is called where a factory for the code exists."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from mcpcore_lint.codemods import edits as codemods
from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import CodeValue, Const, Missing, Symbol
from mcpcore_lint.names import FACTORY_OF_CODE
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._bodies import body_of, codes_known, codes_of
from mcpcore_lint.semantics.codes import CODES

if TYPE_CHECKING:
    from mcpcore_lint.diagnostics import Fix
    from mcpcore_lint.model import ErrorSite, ToolDef, Value


class PreferErrorFactory(Rule):
    """`CodedError(ErrorCode.X, ...)` where a factory for the code exists."""

    id = "prefer-error-factory"
    severity = Severity.WARNING
    family = "handler"
    fixable = True
    summary = "`CodedError(ErrorCode.NOT_FOUND, ...)` where `not_found(...)` sends the client the same error"
    why = "The factory is shorter, cannot be given a wrong code, and is the name that readers search for."
    bad = 'raise CodedError(ErrorCode.NOT_FOUND, "no such article")'
    good = 'raise not_found("no such article")'
    how_to_fix = "Call the factory of the code. The fix does so and keeps the other arguments."
    when_to_suppress = "If the code comes from a table and only happens to be a constant here."

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each constructor whose code has a factory, unless a rule about the contract reports it."""
        for error in tool.handler.errors:
            if error.callee != "mcpcore.CodedError" or error.form != "coded":
                continue
            code = _code_of(error.code)
            factory = FACTORY_OF_CODE.get(code) if code is not None else None
            if code is None or factory is None or _is_attribute(error, tool):
                continue
            contract = tool.contract
            if contract is not None and (
                not isinstance(error.reason, Missing) or not codes_known(contract) or contract.with_code(code)
            ):
                continue
            ctx.report(
                error.node,
                f"the client gets the same error from {factory}(...) as from CodedError(ErrorCode.{code}, ...)",
                help=f"call {factory}(...), which sets the code itself",
                tool=tool,
                module=tool.handler.module,
                fix=_fix(error, factory, tool, ctx),
            )


def _code_of(value: Value) -> str | None:
    """The name of the code, if it is one of mcpcore's own."""
    if isinstance(value, CodeValue):
        return value.name if value.exists and not value.custom else None
    names = codes_of(value) if isinstance(value, Const) else None
    return names[0] if names and len(names) == 1 and names[0] in CODES.by_name else None


def _is_attribute(error: ErrorSite, tool: ToolDef) -> bool:
    """Whether the code is an attribute of an object, so that it may differ from object to object."""
    call = error.node
    if not isinstance(call, ast.Call):
        return False
    node = next((each.value for each in call.keywords if each.arg == "code"), call.args[0] if call.args else None)
    return isinstance(node, ast.Attribute) and not isinstance(body_of(tool.handler).value(node.value), Symbol)


def _fix(error: ErrorSite, factory: str, tool: ToolDef, ctx: RuleContext) -> Fix | None:
    """Call the factory without the code. A call that contains a comment is left alone."""
    call = error.node
    module = tool.handler.module
    if not isinstance(call, ast.Call):
        return None
    func = body_of(tool.handler).value(call.func)
    argument: ast.expr | ast.keyword | None = next((each for each in call.keywords if each.arg == "code"), None)
    if argument is None and call.args and not isinstance(call.args[0], ast.Starred):
        argument = call.args[0]
    if argument is None or not isinstance(func, Symbol) or func.name != "mcpcore.CodedError":
        return None
    start, end = module.source.node_range(call)
    if _has_comment(module.source.text[start:end]):
        return None
    name = codemods.import_name(module, "mcpcore", factory)
    rest = [each for each in codemods.arguments_in_order(call) if each is not argument]
    rewritten = codemods.rewrite_call(module, call, rest, function=name.text)
    return ctx.fix(f"Call {factory}(...)", [*name.edits, rewritten])


def _has_comment(code: str) -> bool:
    if "#" not in code:
        return False
    import io
    import tokenize

    try:
        return any(token.type == tokenize.COMMENT for token in tokenize.generate_tokens(io.StringIO(code).readline))
    except (tokenize.TokenError, SyntaxError):
        return True
