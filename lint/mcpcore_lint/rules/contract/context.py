"""The rule that keeps `Context[Literal[...]]` in step with `errors`."""

from __future__ import annotations

import ast
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, Final

from mcpcore_lint.codemods import edits as text_edits
from mcpcore_lint.dataclasses import light
from mcpcore_lint.diagnostics import Edit, Severity
from mcpcore_lint.model import Symbol, options, string
from mcpcore_lint.patterns import regex
from mcpcore_lint.rules._contract_fix import context_is_misplaced
from mcpcore_lint.rules._fail_fix import is_method
from mcpcore_lint.rules.base import Rule, RuleContext
from mcpcore_lint.rules.contract.entries import near
from mcpcore_lint.semantics.annotations import unquote
from mcpcore_lint.semantics.evaluate import Resolver
from mcpcore_lint.syntax.parse import walk
from mcpcore_lint.syntax.source import Source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpcore_lint.diagnostics import Fix
    from mcpcore_lint.model import ContextParameter, Contract, Handler, ToolDef
    from mcpcore_lint.rules.base import Family
    from mcpcore_lint.syntax.module import Module
    from mcpcore_lint.syntax.scopes import Scope

_BETWEEN: Final = regex(r"\s*,\s*\Z")
_BEFORE: Final = regex(r"\[\s*\Z")
_AFTER: Final = regex(r"\s*,?\s*\]\Z")


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
        quoted = isinstance(handler.context.annotation, ast.Constant) if handler.context is not None else False
        node = handler.context.annotation if quoted and handler.context is not None else at
        wanted = f"write Context[Literal[{', '.join(_quoted(each) for each in declared)}]]"
        ctx.report(
            node or handler.node,
            f"the Context of {tool.display_name} {what}",
            help=step or (wanted if declared else "declare it in errors, or leave the type argument out"),
            tool=tool,
            module=handler.module,
            fix=_fix(handler, declared, ctx) if declared and alone else None,
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


# ---------------------------------------------------------------------------------------------------------------------
# The fix.
# ---------------------------------------------------------------------------------------------------------------------


@light
class _Place:
    """Where the type argument stands, or is to stand; offsets are those of `source`."""

    source: Source
    head: ast.expr
    argument: ast.expr | None


def _fix(handler: Handler, declared: Sequence[str], ctx: RuleContext) -> Fix | None:
    module = handler.module
    context = handler.context
    if context is None or context.annotation is None:
        return None
    scope = module.scope_of(handler.node)
    scope = scope.parent or scope
    annotation = context.annotation
    quoted = isinstance(annotation, ast.Constant)
    if isinstance(annotation, ast.Constant):
        found = _in_quotes(annotation, module, scope)
    else:
        found = _find(annotation, module.source, scope)
    if found is None or (found.argument is None) != context.bare:
        return None
    imported = text_edits.import_name(module, "typing", "Literal")
    quote = "'" if quoted and module.source.segment(annotation).startswith('"') else '"'
    edits = _edits(found, declared, imported.text, quote, scope)
    if edits is None:
        return None
    if quoted:
        # The edits are those of the text in the quotes.
        text = text_edits.apply(found.source.text, edits)
        mark = module.source.segment(annotation)[0]
        if mark in text:
            return None
        edits = [text_edits.replace_node(module, annotation, f"{mark}{text}{mark}")]
    # Where `Literal` is spelled already, the import has nothing to add.
    needs_import = any(imported.text in each.text for each in edits)
    return ctx.fix("Name the declared reasons", [*edits, *(imported.edits if needs_import else ())])


def _in_quotes(annotation: ast.Constant, module: Module, scope: Scope) -> _Place | None:
    text = annotation.value
    segment = module.source.segment(annotation)
    if not isinstance(text, str) or segment[1:-1] != text or segment[:1] not in "\"'":
        return None
    if not text.isascii() or "\n" in text:
        return None
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError:
        return None
    return _find(tree, Source(module.path, text), scope)


def _find(annotation: ast.expr, source: Source, scope: Scope) -> _Place | None:
    """`Context` in an annotation, which may be in `Annotated[...]` or beside `None`."""
    places: list[_Place] = []
    subscripted: dict[ast.expr, ast.Subscript] = {
        each.value: each for each in walk([annotation]) if isinstance(each, ast.Subscript)
    }
    for node in walk([annotation]):
        if not isinstance(node, (ast.Name, ast.Attribute)):
            continue
        value = Resolver().expression(node, scope)
        if not isinstance(value, Symbol) or value.name != "mcpcore.Context":
            continue
        outer = subscripted.get(node)
        argument = None
        if outer is not None:
            argument = outer.slice.elts[0] if isinstance(outer.slice, ast.Tuple) and outer.slice.elts else outer.slice
        places.append(_Place(source, node, argument))
    return places[0] if len(places) == 1 else None


def _edits(place: _Place, declared: Sequence[str], literal: str, quote: str, scope: Scope) -> list[Edit] | None:
    source = place.source
    plain = f"{literal}[{', '.join(_quoted(each, quote) for each in declared)}]"
    if place.argument is None:
        _, end = source.node_range(place.head)
        return [Edit(end, end, f"[{plain}]")]
    argument = unquote(place.argument)
    start, end = source.node_range(place.argument)
    if argument is not place.argument:
        return [Edit(start, end, plain)]
    if not isinstance(argument, ast.Subscript):
        named = Resolver().annotation_symbol(argument, scope)
        never = named is not None and named.name in {"typing.Never", "typing.NoReturn"}
        return [Edit(start, end, plain)] if never else None
    head = Resolver().expression(argument.value, scope)
    if not isinstance(head, Symbol) or head.name != "typing.Literal":
        return None
    elts = list(argument.slice.elts) if isinstance(argument.slice, ast.Tuple) else [argument.slice]
    if not elts:
        return [Edit(start, end, plain)]
    if not all(isinstance(each, ast.Constant) and isinstance(each.value, str) for each in elts):
        return None
    if source.segment(elts[0]).startswith("'"):
        quote = "'"
    return _in_literal(source, argument, elts, declared, quote)


def _in_literal(
    source: Source, literal: ast.Subscript, elts: Sequence[ast.expr], declared: Sequence[str], quote: str
) -> list[Edit] | None:
    """The names between the brackets of a `Literal`, laid out as those before them."""
    _, opening = source.node_range(literal.value)
    _, closing = source.node_range(literal)
    ranges = [source.node_range(each) for each in elts]
    names = [_quoted(each, quote) for each in declared]
    before = source.text[opening : ranges[0][0]]
    after = source.text[ranges[-1][1] : closing]
    gaps = [source.text[left[1] : right[0]] for left, right in pairwise(ranges)]
    if _BEFORE.match(before) and _AFTER.match(after) and all(_BETWEEN.match(each) for each in gaps):
        between = gaps[0] if gaps else f",{before[1:]}" if "\n" in before or "\r" in before else ", "
        return [Edit(ranges[0][0], ranges[-1][1], between.join(names))]
    if "#" not in source.text[opening:closing]:
        return [Edit(opening, closing, f"[{', '.join(names)}]")]
    # Comments stay where they are: names change places, and new ones go behind the last.
    written = [each.value for each in elts if isinstance(each, ast.Constant)]
    missing = [_quoted(each, quote) for each in declared if each not in written]
    texts: list[str | None] = []
    for each, node in zip(written, elts, strict=True):
        if each in declared:
            texts.append(source.segment(node))
        elif missing:
            texts.append(missing.pop(0))
        else:
            return None
    edits = [
        Edit(*place, text)
        for place, text, node in zip(ranges, texts, elts, strict=True)
        if text is not None and text != source.segment(node)
    ]
    if missing:
        last = ranges[-1]
        behind = "".join(f", {each}" for each in missing)
        edits = [each for each in edits if each.start != last[0]]
        edits.append(Edit(*last, f"{texts[-1]}{behind}"))
    return edits


def _quoted(reason: str, quote: str = '"') -> str:
    if reason.isprintable() and "\\" not in reason and quote not in reason:
        return f"{quote}{reason}{quote}"
    return repr(reason)
