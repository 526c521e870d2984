"""error-contract-fail-undeclared."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from mcpcore_lint.codemods import edits
from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import options, string
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._bodies import reasons_known
from mcpcore_lint.rules._wording import clearly_near, near

if TYPE_CHECKING:
    from mcpcore_lint.diagnostics import Fix
    from mcpcore_lint.model import Contract, ToolDef, Value
    from mcpcore_lint.syntax.module import Module


class ContractFailUndeclared(Rule):
    """`ctx.fail` with a reason that the contract does not declare."""

    id = "error-contract-fail-undeclared"
    severity = Severity.ERROR
    family = "conformance"
    fixable = True
    summary = "`ctx.fail`, `ctx.guard` or `ctx.recovery_for` with a reason that is not declared"
    why = "`ctx.fail` rejects the reason when it is called, so the agent gets an internal error instead of the failure."
    bad = 'raise ctx.fail("no_mach")'
    good = 'raise ctx.fail("no_match")'
    how_to_fix = "Correct the reason, or declare it. The fix corrects it if one declared reason is clearly meant."
    when_to_suppress = "Never: the call fails."

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each reason that the handler passes to its context and that the contract does not declare."""
        contract = tool.contract
        if contract is None or not reasons_known(contract):
            return
        handler = tool.handler
        calls: list[tuple[ast.AST, str, Value]] = [
            *((_reason_argument(call.node), "fail", call.reason) for call in handler.fail_calls),
            *((_reason_argument(call.node), "recovery_for", call.reason) for call in handler.recovery_calls),
            *((call.node, "guard", call.reason) for call in handler.guarded_reasons),
        ]
        for node, method, reason in calls:
            for option in options(reason):
                text = string(option)
                if text is None or text in contract.by_reason:
                    continue
                close = near(text, contract.reasons)
                declared = ", ".join(map(repr, contract.reasons))
                step = f"declare it in errors, or use one of {declared}" if declared else "declare it in errors"
                ctx.report(
                    node,
                    f"the reason {text!r} is not declared: {tool.display_name} calls ctx.{method} with it",
                    help=f"did you mean {close!r}?" if close else step,
                    tool=tool,
                    module=handler.module,
                    fix=_fix(node, text, contract, handler.module, ctx),
                )


def _fix(node: ast.AST, text: str, contract: Contract, module: Module, ctx: RuleContext) -> Fix | None:
    """Replace the reason with the declared one that is meant."""
    meant = clearly_near(text, contract.reasons)
    written = module.source.segment(node)
    if meant is None or not isinstance(node, ast.Constant) or written not in {f'"{text}"', f"'{text}'"}:
        return None
    return ctx.fix(f"Change to {meant!r}", [edits.replace_node(module, node, f"{written[0]}{meant}{written[0]}")])


def _reason_argument(node: ast.AST) -> ast.AST:
    if isinstance(node, ast.Call):
        for keyword in node.keywords:
            if keyword.arg == "reason":
                return keyword.value
        if node.args and not isinstance(node.args[0], ast.Starred):
            return node.args[0]
    return node
