"""output-error-field."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import Const, Symbol
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._data_model import read_model
from mcpcore_lint.semantics.annotations import unquote
from mcpcore_lint.semantics.evaluate import Resolver

if TYPE_CHECKING:
    from mcpcore_lint.model import ToolDef
    from mcpcore_lint.rules._data_model import DataModel
    from mcpcore_lint.syntax.scopes import Scope


class OutputErrorField(Rule):
    """The model of a successful result has a field named `error`."""

    id = "output-error-field"
    severity = Severity.ERROR
    family = "contract"
    summary = "the success model has a field named `error`"
    why = (
        "Clients look for failures in `structuredContent.error`, so some read the successful result as a failure, and "
        "others read a failure that is returned there as a success. A tool with a contract fails at import. On a "
        "server without mcpcore the finding is information: nothing else puts failures there."
    )
    bad = "class Found(BaseModel):\n    items: list[str]\n    error: str | None = None"
    good = "class Found(BaseModel):\n    items: list[str]\n    warning: str | None = None"
    how_to_fix = (
        "Raise the failure instead of returning it, with `ctx.fail` for a declared reason. If the field is not a "
        "failure of the tool, rename it, or give it a `serialization_alias`."
    )
    when_to_suppress = "On a server without mcpcore whose clients know the field."

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Look for the field in the return annotation of the handler."""
        node = tool.handler.node
        if tool.kind != "tool" or tool.flavour == "lowlevel" or isinstance(node, ast.Lambda) or node.returns is None:
            return
        if _has_other_output(tool, ctx):
            return
        module = tool.handler.module
        scope = module.scope_of(node)
        model = _returned_model(node.returns, scope.parent or scope)
        field = next((field for field in model.fields.values() if field.sent == "error"), None) if model else None
        if model is None or field is None:
            return
        sent = "" if field.name == "error" else " is sent as 'error', which"
        ctx.report(
            node.returns,
            f"{tool.display_name} returns {model.name}, whose field {field.name}{sent} clients read as a failure",
            help="raise the failure instead of returning it, or rename the field",
            tool=tool,
            module=module,
            related=[ctx.related(field.node, "the field", field.module)],
            weight=Severity.INFO if tool.flavour != "mcpcore" else None,
        )


def _has_other_output(tool: ToolDef, ctx: RuleContext) -> bool:
    """Whether the tool sends no structured result, or one with another schema than its annotation."""
    keyword = tool.decorator_keyword("structured_output")
    if keyword is None:
        return tool.decorator_keyword("output_schema") is not None
    value = ctx.resolve(keyword.value)
    return not (isinstance(value, Const) and value.value in {True, None})


def _returned_model(annotation: ast.expr, scope: Scope, depth: int = 0) -> DataModel | None:
    """The model that a return annotation names, also as a generic, in `Annotated` or by an alias."""
    node, resolver = unquote(annotation), Resolver()
    if node is None or depth > 10:
        return None
    if isinstance(node, ast.Subscript):
        head = resolver.expression(node.value, scope)
        if isinstance(head, Symbol) and head.name == "typing.Annotated" and isinstance(node.slice, ast.Tuple):
            first, *metadata = node.slice.elts
            symbol = resolver.annotation_symbol(first, scope)
            # The SDK's way to annotate the content of a result that the handler builds itself.
            wrapped = symbol is not None and symbol.name == "mcp.CallToolResult" and metadata
            return _returned_model(metadata[0] if wrapped else first, scope, depth + 1)
        return read_model(head)
    if not isinstance(node, (ast.Name, ast.Attribute)):
        return None
    value = resolver.expression(node, scope)
    if isinstance(value, Symbol) and value.definition is not None:
        return read_model(value)
    alias = resolver.alias_of(node, scope)
    return _returned_model(*alias, depth + 1) if alias is not None and alias[0] is not node else None
