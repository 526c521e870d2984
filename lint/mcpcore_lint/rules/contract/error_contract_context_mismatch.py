"""error-contract-context-mismatch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import options, string
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._bodies import reasons_known
from mcpcore_lint.rules._contract_fix import context_is_misplaced
from mcpcore_lint.rules._fail_fix import is_method
from mcpcore_lint.rules._tools import binds_arguments
from mcpcore_lint.rules._wording import near
from mcpcore_lint.rules.contract._context_fix import context_fix, quoted
from mcpcore_lint.syntax.parse import walk

if TYPE_CHECKING:
    from mcpcore_lint.model import Contract, Handler, ToolDef


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
        contract, handler = tool.contract, tool.handler
        declared = _declared_reasons(contract)
        named = context.reasons or ()
        unknown = [reason for reason in named if declared is not None and reason not in declared]
        known = contract.by_reason if contract is not None else {}
        lacking = [reason for reason in _used_reasons(handler) if reason in known and reason not in named]
        step = f"write Context[Literal[{', '.join(map(quoted, declared))}]]" if declared else ""
        if context.bare:
            problem = "has no type argument, so type checkers accept any reason" if declared else ""
        elif context.reasons is None:
            return
        elif unknown:
            problem = f"names the reason {' and '.join(map(repr, unknown))}, which errors does not declare"
            close = near(unknown[0], declared or ())
            step = f"did you mean {close!r}?" if close and close not in named else step
        else:
            problem = f"lacks the reason {' and '.join(map(repr, lacking))}, which the handler uses" if lacking else ""
        if not problem:
            return
        others = [other.contract for other in ctx.tools if other.handler.node is handler.node and other is not tool]
        shared = any(_declared_reasons(other) != declared for other in others)
        # The nodes of a quoted annotation or of an alias have no place in the signature.
        inside = walk([context.annotation]) if context.annotation is not None else []
        ctx.report(
            context.argument if context.argument in inside else context.annotation or handler.node,
            f"the Context of {tool.display_name} {problem}",
            help=step or "declare it in errors, or remove the type argument",
            tool=tool,
            module=handler.module,
            fix=context_fix(handler, declared, ctx) if declared and not shared else None,
        )


def _declared_reasons(contract: Contract | None) -> tuple[str, ...] | None:
    """All reasons of a contract, in order; None if it may have others."""
    if contract is None:
        return ()
    return contract.reasons if reasons_known(contract) else None


def _used_reasons(handler: Handler) -> list[str]:
    """The reasons that a handler passes to its context, each once."""
    values = [*(call.reason for call in handler.fail_calls), *handler.named_reasons]
    reasons = [string(option) for value in values for option in options(value)]
    return list(dict.fromkeys(reason for reason in reasons if reason is not None))
