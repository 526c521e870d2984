"""error-contract-context-mismatch."""

import ast

from mcpcore_lint.codemods import edits
from mcpcore_lint.diagnostics import Change, Fix, Severity
from mcpcore_lint.engine.semantics.evaluate import Resolver
from mcpcore_lint.engine.syntax.parse import walk
from mcpcore_lint.model import Contract, Handler, Symbol, ToolDef, options, string
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._fixes import context_is_misplaced, is_method
from mcpcore_lint.rules._tools import binds_arguments, may_have_contract
from mcpcore_lint.rules._wording import near


class ContractContextMismatch(Rule):
    """`Context[...]` and `errors` disagree.

    Summary: `Context[...]` names a reason that is not declared, lacks one that the handler uses, has no type argument,
        or is not the first parameter
    Why: The server fails at import if `Context[...]` names a reason that `errors` lacks, or if the context is not the
        first positional parameter. Without the type argument, type checkers accept every reason in `ctx.fail`, even
        misspelt ones.
    How to fix: Name the declared reasons in `Context[Literal[...]]`; the fix writes them in the order of `errors`.
    When to suppress: When tools with different contracts share the handler.

    Bad:
        @tool(errors=[FailureMode("no_match", ...)])
        async def go(ctx: Context) -> str: ...
    Good:
        @tool(errors=[FailureMode("no_match", ...)])
        async def go(ctx: Context[Literal["no_match"]]) -> str: ...
    """

    severity = Severity.ERROR
    fixable = True

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Compare the context of the handler with the contract."""
        contract, handler, name = tool.contract, tool.handler, tool.display_name
        context = handler.context
        if context is None or not context.mcpcore or tool.flavour != "mcpcore" or not context.resolved:
            return
        if contract is None and may_have_contract(tool):
            return
        if contract is not None and context_is_misplaced(tool) and not binds_arguments(tool):
            message = f"the Context of {name} is not its first positional parameter, so the server fails at import"
            step = f"move {context.name} to the front{', after self' if is_method(tool) else ''}"
            ctx.report(context.node, message, help=step, tool=tool, module=handler.module)
            return
        declared = _declared_reasons(contract)
        named = context.reasons or ()
        unknown = [reason for reason in named if declared is not None and reason not in declared]
        known = contract.by_reason if contract is not None else {}
        used = [*(call.reason for call in handler.fail_calls), *(named.reason for named in handler.named_reasons)]
        texts = dict.fromkeys(string(option) for value in used for option in options(value))
        lacking = [text for text in texts if text in known and text not in named]
        step = ""
        if context.bare:
            problem = "has no type argument, so type checkers accept any reason" if declared else ""
        elif context.reasons is None:
            return
        elif unknown:
            problem = f"names {_reasons(unknown)}, which errors does not declare"
            close = near(unknown[0], declared or ())
            step = f"did you mean {close!r}?" if close and close not in named else ""
        else:
            problem = f"lacks {_reasons(lacking)}, which the handler uses" if lacking else ""
        if not problem:
            return
        others = [other.contract for other in ctx.tools if other.handler.node is handler.node and other is not tool]
        shared = any(_declared_reasons(other) != declared for other in others)
        # The nodes of a quoted annotation or of an alias have no place in the signature.
        inside = walk([context.annotation]) if context.annotation is not None else []
        node = context.argument if context.argument in inside else context.annotation or handler.node
        listed = _listed(declared or ())
        otherwise = (
            f"write Context[Literal[{listed}]]" if listed else "declare it in errors, or remove the type argument"
        )
        fix = _fix(handler, listed, ctx) if listed and not shared else None
        problem = f"the Context of {name} {problem}"
        ctx.report(node, problem, help=step or otherwise, tool=tool, module=handler.module, fix=fix)


def _listed(reasons: tuple[str, ...]) -> str:
    import json

    return ", ".join(json.dumps(reason, ensure_ascii=False) for reason in reasons)


def _reasons(names: list[str]) -> str:
    return f"the reason{'s' * (len(names) > 1)} {' and '.join(map(repr, names))}"


def _declared_reasons(contract: Contract | None) -> tuple[str, ...] | None:
    """All reasons of a contract, in order; None if it may have others."""
    return () if contract is None else contract.reasons if contract.known else None


def _fix(handler: Handler, listed: str, ctx: RuleContext) -> Fix | None:
    """Name the declared reasons in the type argument; None if the annotation is quoted, or uses an alias."""
    module, context = handler.module, handler.context
    if context is None or context.annotation is None:
        return None
    literal = edits.import_name(module, "typing", "Literal")
    reasons = f"{literal.text}[{listed}]"
    scope = module.scope_of(handler.node)
    changes: list[Change | None] = []
    for node in walk([context.annotation]):
        if not context.bare:
            if node is context.argument and isinstance(node, ast.Subscript):
                changes.append(edits.replace_node(module, node, reasons))
        elif isinstance(node, (ast.Name, ast.Attribute)):
            value = Resolver().expression(node, scope.parent or scope)
            if isinstance(value, Symbol) and value.name == "mcpcore.Context":
                changes.append(edits.replace_node(module, node, f"{module.source.segment(node)}[{reasons}]"))
    return ctx.fix("Name the declared reasons", [*changes, *literal.edits]) if len(changes) == 1 else None
