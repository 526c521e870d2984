"""The rule error-contract-context-mismatch."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, ClassVar

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import options, string
from mcpcore_lint.rules._contract_fix import context_is_misplaced
from mcpcore_lint.rules._fail_fix import is_method
from mcpcore_lint.rules._wording import near
from mcpcore_lint.rules.base import Rule, RuleContext
from mcpcore_lint.rules.contract._context_fix import context_fix, quoted
from mcpcore_lint.syntax.parse import walk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpcore_lint.model import ContextParameter, Contract, Handler, ToolDef
    from mcpcore_lint.rules.base import Family


class ContractContextMismatch(Rule):
    """A context that knows other reasons than the contract."""

    id = "error-contract-context-mismatch"
    severity = Severity.ERROR
    family: ClassVar[Family] = "contract"
    fixable = True
    summary = (
        "`Context[...]` names a reason that is not declared, lacks one that the handler uses, has no type argument, or "
        "is not the first parameter"
    )
    why = (
        "The type argument is what lets a type checker find a misspelt reason in `ctx.fail`. Without it any reason is "
        "accepted; with a name that `errors` lacks, the tool is refused at import, and so it is "
        "where the context is not the first positional parameter."
    )
    bad = '@tool(errors=[FailureMode("no_match", ...)])\nasync def fetch(ctx: Context, id: str) -> Article: ...'
    good = (
        '@tool(errors=[FailureMode("no_match", ...)])\n'
        'async def fetch(ctx: Context[Literal["no_match"]], id: str) -> Article: ...'
    )
    how_to_fix = "Name the declared reasons in `Context[Literal[...]]`; the fix writes them in the order of `errors`."
    when_to_suppress = "When the handler is shared by tools whose contracts differ."

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Compare the context of the handler with the contract."""
        context = tool.handler.context
        if context is None or not context.mcpcore or tool.flavour != "mcpcore" or not context.resolved:
            return
        if tool.contract is not None and context_is_misplaced(tool) and not _binds(tool.registration):
            ctx.report(
                context.node,
                f"the Context of {tool.display_name} is not its first positional parameter, so the tool is refused at "
                "import",
                help=f"move {context.name} to the front{', behind self' if is_method(tool) else ''}",
                tool=tool,
                module=tool.handler.module,
            )
            return
        declared = _declared(tool.contract)
        if context.bare:
            if declared:
                self._report(
                    tool, ctx, context.annotation, "has no type argument, so that any reason is accepted", declared, ""
                )
            return
        if context.reasons is None:
            return
        if declared is not None:
            strange = [each for each in context.reasons if each not in declared]
            if strange:
                close = near(strange[0], declared)
                step = f"did you mean {close!r}?" if close and close not in context.reasons else ""
                what = f"names the reason {_listed(strange)}, which errors does not declare"
                # What it lacks in their place is mended with them.
                self._report(tool, ctx, _named(context, strange[0]), what, declared, step)
                return
        known = tool.contract.by_reason if tool.contract is not None else {}
        lacking = [each for each in _used(tool.handler) if each in known and each not in context.reasons]
        if lacking:
            what = f"lacks the reason {_listed(lacking)}, which the handler uses"
            self._report(tool, ctx, context.argument, what, declared or (), "")

    @staticmethod
    def _report(
        tool: ToolDef, ctx: RuleContext, at: ast.expr | None, what: str, declared: Sequence[str], step: str
    ) -> None:
        handler = tool.handler
        others = [each.contract for each in ctx.tools if each.handler.node is handler.node and each is not tool]
        alone = all(_declared(each) == tuple(declared) for each in others)
        # An annotation in quotes has no places of its own.
        in_quotes = isinstance(handler.context.annotation, ast.Constant) if handler.context is not None else False
        node = handler.context.annotation if in_quotes and handler.context is not None else at
        wanted = f"write Context[Literal[{', '.join(quoted(each) for each in declared)}]]"
        ctx.report(
            node or handler.node,
            f"the Context of {tool.display_name} {what}",
            help=step or (wanted if declared else "declare it in errors, or leave the type argument out"),
            tool=tool,
            module=handler.module,
            fix=context_fix(handler, declared, ctx) if declared and alone else None,
        )


def _binds(registration: ast.expr) -> bool:
    """Whether a registration may fill in the parameters before the context: `add_tool(partial(fetch, store))`."""
    return any(
        (each.attr if isinstance(each, ast.Attribute) else each.id) == "partial"
        for each in walk([registration])
        if isinstance(each, (ast.Name, ast.Attribute))
    )


def _declared(contract: Contract | None) -> tuple[str, ...] | None:
    """All reasons of a contract, in order; None where some may be out of sight."""
    if contract is None:
        return ()
    if contract.state != "sequence" or not contract.complete:
        return None
    if not all(each.is_failure_mode and each.reason_text for each in contract.entries):
        return None
    return contract.reasons


def _used(handler: Handler) -> list[str]:
    """The reasons that a handler hands to its context, each once."""
    values = [*(each.reason for each in handler.fail_calls), *handler.named_reasons]
    texts = [string(one) for each in values for one in options(each)]
    return list(dict.fromkeys(each for each in texts if each is not None))


def _listed(reasons: Sequence[str]) -> str:
    return " and ".join(repr(each) for each in reasons)


def _named(context: ContextParameter, reason: str) -> ast.expr | None:
    """The string in the annotation that names a reason; else the whole type argument, or the annotation."""
    if context.annotation is None or context.argument is None:
        return context.annotation
    inside = set(walk([context.annotation]))
    for each in walk([context.argument]):
        if isinstance(each, ast.Constant) and each.value == reason and each in inside:
            return each
    return context.argument if context.argument in inside else context.annotation
