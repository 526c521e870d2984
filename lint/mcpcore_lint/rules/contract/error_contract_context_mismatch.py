"""error-contract-context-mismatch."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import options, string
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._contract_fix import context_is_misplaced
from mcpcore_lint.rules._fail_fix import is_method
from mcpcore_lint.rules._tools import binds_arguments
from mcpcore_lint.rules._wording import near
from mcpcore_lint.rules.contract._context_fix import context_fix, quoted
from mcpcore_lint.syntax.parse import walk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpcore_lint.model import ContextParameter, Contract, Handler, ToolDef


class ContractContextMismatch(Rule):
    """`Context[...]` and `errors` disagree."""

    id = "error-contract-context-mismatch"
    severity = Severity.ERROR
    family = "contract"
    fixable = True
    summary = (
        "`Context[...]` names a reason that is not declared, lacks one that the handler uses, has no type argument, or "
        "is not the first parameter"
    )
    why = (
        "The server fails at import if `Context[...]` names a reason that `errors` lacks, or if the context is not the "
        "first positional parameter. Without the type argument, type checkers accept every reason in `ctx.fail`, even "
        "misspelt ones."
    )
    bad = '@tool(errors=[FailureMode("no_match", ...)])\nasync def fetch(ctx: Context, id: str) -> Article: ...'
    good = (
        '@tool(errors=[FailureMode("no_match", ...)])\n'
        'async def fetch(ctx: Context[Literal["no_match"]], id: str) -> Article: ...'
    )
    how_to_fix = "Name the declared reasons in `Context[Literal[...]]`; the fix writes them in the order of `errors`."
    when_to_suppress = "When tools with different contracts share the handler."

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Compare the context of the handler with the contract."""
        context = tool.handler.context
        if context is None or not context.mcpcore or tool.flavour != "mcpcore" or not context.resolved:
            return
        if tool.contract is not None and context_is_misplaced(tool) and not binds_arguments(tool):
            ctx.report(
                context.node,
                f"the Context of {tool.display_name} is not its first positional parameter, so the server fails at "
                "import",
                help=f"move {context.name} to the front{', after self' if is_method(tool) else ''}",
                tool=tool,
                module=tool.handler.module,
            )
            return
        declared = _declared_reasons(tool.contract)
        if context.bare:
            if declared:
                problem = "has no type argument, so type checkers accept any reason"
                self._report(tool, ctx, context.annotation, problem, declared)
            return
        if context.reasons is None:
            return
        unknown = [reason for reason in context.reasons if reason not in declared] if declared is not None else []
        if declared is not None and unknown:
            close = near(unknown[0], declared)
            step = f"did you mean {close!r}?" if close and close not in context.reasons else ""
            problem = f"names the reason {_listed(unknown)}, which errors does not declare"
            self._report(tool, ctx, _written(context, unknown[0]), problem, declared, step)
            return
        known = tool.contract.by_reason if tool.contract is not None else {}
        lacking = [
            reason for reason in _used_reasons(tool.handler) if reason in known and reason not in context.reasons
        ]
        if lacking:
            problem = f"lacks the reason {_listed(lacking)}, which the handler uses"
            self._report(tool, ctx, context.argument, problem, declared or ())

    @staticmethod
    def _report(
        tool: ToolDef, ctx: RuleContext, at: ast.expr | None, problem: str, declared: Sequence[str], step: str = ""
    ) -> None:
        handler = tool.handler
        others = [other.contract for other in ctx.tools if other.handler.node is handler.node and other is not tool]
        shared = any(_declared_reasons(contract) != tuple(declared) for contract in others)
        annotation = handler.context.annotation if handler.context is not None else None
        # The nodes inside a quoted annotation have no place in the file.
        at = annotation if isinstance(annotation, ast.Constant) else at
        wanted = f"write Context[Literal[{', '.join(map(quoted, declared))}]]"
        ctx.report(
            at or handler.node,
            f"the Context of {tool.display_name} {problem}",
            help=step or (wanted if declared else "declare it in errors, or remove the type argument"),
            tool=tool,
            module=handler.module,
            fix=context_fix(handler, declared, ctx) if declared and not shared else None,
        )


def _declared_reasons(contract: Contract | None) -> tuple[str, ...] | None:
    """All reasons of a contract, in order; None if it may have others."""
    if contract is None:
        return ()
    if contract.state != "sequence" or not contract.complete:
        return None
    if not all(entry.is_failure_mode and entry.reason_text for entry in contract.entries):
        return None
    return contract.reasons


def _used_reasons(handler: Handler) -> list[str]:
    """The reasons that a handler passes to its context, each once."""
    values = [*(call.reason for call in handler.fail_calls), *handler.named_reasons]
    reasons = [string(option) for value in values for option in options(value)]
    return list(dict.fromkeys(reason for reason in reasons if reason is not None))


def _listed(reasons: Sequence[str]) -> str:
    return " and ".join(map(repr, reasons))


def _written(context: ContextParameter, reason: str) -> ast.expr | None:
    """The string in the annotation that names a reason; else the type argument, or the annotation."""
    if context.annotation is None or context.argument is None:
        return context.annotation
    inside = set(walk([context.annotation]))
    for node in walk([context.argument]):
        if isinstance(node, ast.Constant) and node.value == reason and node in inside:
            return node
    return context.argument if context.argument in inside else context.annotation
