"""error-contract-fail-undeclared."""

import ast

from mcpcore_lint.codemods import edits
from mcpcore_lint.diagnostics import Fix, Severity
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.parse import argument_of
from mcpcore_lint.model import Contract, ToolDef, Value, options, string
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._wording import clearly_near, near


class ContractFailUndeclared(Rule):
    """`ctx.fail` with a reason that the contract does not declare.

    Summary: `ctx.fail`, `ctx.guard` or `ctx.recovery_for` is called with an undeclared reason
    Why: `ctx.fail` rejects the reason when it is called, so the agent gets an internal error instead of the failure.
    How to fix: Correct the reason, or declare it. The fix corrects it if one declared reason is clearly meant.
    When to suppress: Never: the call fails.

    Bad:
        raise ctx.fail("no_mach")
    Good:
        raise ctx.fail("no_match")
    """

    severity = Severity.ERROR
    fixable = True

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each reason that the handler passes to its context and that the contract does not declare."""
        contract = tool.contract
        if contract is None or not contract.known:
            return
        handler = tool.handler
        calls: list[tuple[ast.AST, str, Value]] = [
            *((call.node, "fail", call.reason) for call in handler.fail_calls),
            *((named.node, named.method, named.reason) for named in handler.named_reasons),
        ]
        listed = ", ".join(map(repr, contract.reasons))
        declare = f"declare it in errors, or use one of {listed}" if listed else "declare it in errors"
        texts = ((call, method, string(option)) for call, method, value in calls for option in options(value))
        for call, method, text in texts:
            if text is not None and text not in contract.by_reason:
                argument = argument_of(call, "reason", 0) if isinstance(call, ast.Call) else None
                node = argument or call
                close = near(text, contract.reasons)
                message = f"the reason {text!r} is not declared: {tool.display_name} calls ctx.{method} with it"
                step = f"did you mean {close!r}?" if close else declare
                fix = _fix(node, text, contract, handler.module, ctx)
                ctx.report(node, message, help=step, tool=tool, module=handler.module, fix=fix)


def _fix(node: ast.AST, text: str, contract: Contract, module: Module, ctx: RuleContext) -> Fix | None:
    """Replace the reason with the declared one that is meant."""
    meant = clearly_near(text, contract.reasons)
    written = module.source.segment(node)
    if meant is None or not isinstance(node, ast.Constant) or written not in {f'"{text}"', f"'{text}'"}:
        return None
    return ctx.fix(f"Change to {meant!r}", [edits.replace_node(module, node, f"{written[0]}{meant}{written[0]}")])
