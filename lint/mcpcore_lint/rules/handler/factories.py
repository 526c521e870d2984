"""`CodedError` by its constructor, where a factory says the same."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from mcpcore_lint.codemods import edits as text_edits
from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import CodeValue, Const, Missing, Symbol
from mcpcore_lint.names import FACTORY_OF_CODE
from mcpcore_lint.rules._bodies import body_of, codes_known, codes_of
from mcpcore_lint.rules.base import Rule, RuleContext
from mcpcore_lint.semantics.evaluate import CODES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore_lint.diagnostics import Fix
    from mcpcore_lint.model import ErrorSite, ToolDef, Value


class PreferErrorFactory(Rule):
    """`CodedError(ErrorCode.X, ...)` where a factory says the same."""

    id = "prefer-error-factory"
    severity = Severity.WARNING
    family = "handler"
    fixable = True
    summary = "`CodedError(ErrorCode.NOT_FOUND, ...)` where `not_found(...)` exists"
    why = "The factory says the same in one word, cannot be given a wrong code, and is what a reader searches for."
    bad = 'raise CodedError(ErrorCode.NOT_FOUND, "no such article")'
    good = 'raise not_found("no such article")'
    how_to_fix = "Call the factory of the code. The fix does so, and keeps every other argument."
    when_to_suppress = "Where the code is chosen by a table and only happens to be a constant here."

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each constructor whose code has a factory, unless a rule about the contract has more to say."""
        for error in tool.handler.errors:
            if error.callee != "mcpcore.CodedError" or error.form != "coded":
                continue
            code = self._code(error.code)
            factory = FACTORY_OF_CODE.get(code) if code is not None else None
            if code is None or factory is None or self._of_object(error, tool):
                continue
            contract = tool.contract
            if contract is not None and (
                not isinstance(error.reason, Missing) or not codes_known(contract) or contract.with_code(code)
            ):
                continue
            ctx.report(
                error.node,
                f"CodedError(ErrorCode.{code}, ...) is {factory}(...)",
                help=f"call {factory}(...), which sets the code itself",
                tool=tool,
                module=tool.handler.module,
                fix=self._fix(error, factory, tool, ctx),
            )

    @staticmethod
    def _code(value: Value) -> str | None:
        if isinstance(value, CodeValue):
            return value.name if value.exists and not value.custom else None
        names = codes_of(value) if isinstance(value, Const) else None
        return names[0] if names and len(names) == 1 and names[0] in CODES.by_name else None

    @staticmethod
    def _of_object(error: ErrorSite, tool: ToolDef) -> bool:
        """Whether the code is an attribute of an object, which is another one for the next object."""
        call = error.node
        if not isinstance(call, ast.Call):
            return False
        node = next((each.value for each in call.keywords if each.arg == "code"), call.args[0] if call.args else None)
        return isinstance(node, ast.Attribute) and not isinstance(body_of(tool.handler).value(node.value), Symbol)

    @staticmethod
    def _fix(error: ErrorSite, factory: str, tool: ToolDef, ctx: RuleContext) -> Fix | None:
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
        if "#" in module.source.text[start:end] and any(
            "#" in line for line in _comments(module.source.text[start:end])
        ):
            return None
        name = text_edits.import_name(module, "mcpcore", factory)
        edits = [
            *name.edits,
            text_edits.replace_node(module, call.func, name.text),
            text_edits.remove_argument(module, call, argument),
        ]
        return ctx.fix(f"Call {factory}(...)", edits)


def _comments(text: str) -> Iterator[str]:
    """The comments in a piece of code that may be cut anywhere."""
    import io
    import tokenize

    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield token.string
    except (tokenize.TokenError, SyntaxError):
        yield "#"
