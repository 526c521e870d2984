"""output-error-field."""

import ast

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.engine.semantics.data_model import error_field
from mcpcore_lint.model import Const, ToolDef
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules.handler._returned_failures import returned_failures


class OutputErrorField(Rule):
    """The model of a successful result has a field named `error`.

    Summary: the success model has a field named `error`
    Why: Clients look for failures in `structuredContent.error`, so some of them read the successful result as a
        failure. Others read a failure returned in this field as a success. A tool with a contract and such a model
        fails at import. A dict that has the key at run time is sent unchanged, with a line in the log; on a strict
        server the call fails with INTERNAL_ERROR. On a server without mcpcore, the finding is information, because
        nothing else puts failures there. There is no finding if no-error-as-data reports the returned failure.
    How to fix: Raise the failure instead of returning it, with `ctx.fail` for a declared reason. If the field does not
        describe a failure of the tool, rename it, or give it a `serialization_alias`.
    When to suppress: On a server without mcpcore whose clients know the field.

    Bad:
        class Found(BaseModel):
            items: list[str]
            error: str | None = None
    Good:
        class Found(BaseModel):
            items: list[str]
            warning: str | None = None
    """

    severity = Severity.ERROR

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Look for the field in the return annotation of the handler."""
        node = tool.handler.node
        other = tool.kind != "tool" or tool.flavour == "lowlevel"
        if other or isinstance(node, ast.Lambda) or node.returns is None or _has_other_output(tool, ctx):
            return
        module = tool.handler.module
        match = error_field(node, module)
        # On a server without mcpcore, no-error-as-data says it where the failure is returned.
        if match is None or (tool.flavour != "mcpcore" and returned_failures(tool.handler, ctx, contract_tool=False)):
            return
        model, field = match
        sent = "" if field.name == "error" else " is sent as 'error', which"
        read = f"whose field {field.name}{sent} clients read as a failure"
        step = "raise the failure instead of returning it, or rename the field"
        related = [ctx.related(field.node, "the field", field.module)]
        weight = Severity.INFO if tool.flavour != "mcpcore" else None
        message = f"{tool.display_name} returns {model}, {read}"
        ctx.report(node.returns, message, help=step, tool=tool, module=module, related=related, weight=weight)


def _has_other_output(tool: ToolDef, ctx: RuleContext) -> bool:
    """Whether the tool sends no structured result, or one with another schema than its annotation."""
    keyword = tool.decorator_keyword("structured_output")
    if keyword is None:
        return tool.decorator_keyword("output_schema") is not None
    value = ctx.resolve(keyword.value)
    return not (isinstance(value, Const) and value.value in {True, None})
