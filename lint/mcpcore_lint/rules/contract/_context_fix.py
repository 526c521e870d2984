"""The fix of error-contract-context-mismatch: writes the declared reasons into `Context[Literal[...]]`."""

from __future__ import annotations

import ast
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from mcpcore_lint.codemods import edits as text_edits
from mcpcore_lint.dataclasses import light
from mcpcore_lint.diagnostics import Edit
from mcpcore_lint.model import Symbol
from mcpcore_lint.patterns import regex
from mcpcore_lint.semantics.annotations import unquote
from mcpcore_lint.semantics.evaluate import Resolver
from mcpcore_lint.syntax.parse import walk
from mcpcore_lint.syntax.source import Source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpcore_lint.diagnostics import Fix
    from mcpcore_lint.model import Handler
    from mcpcore_lint.rules.base import RuleContext
    from mcpcore_lint.syntax.module import Module
    from mcpcore_lint.syntax.scopes import Scope


_BETWEEN: Final = regex(r"\s*,\s*\Z")


_BEFORE: Final = regex(r"\[\s*\Z")


_AFTER: Final = regex(r"\s*,?\s*\]\Z")


@light
class _Place:
    """The place of the type argument in `source`, whether it is written or missing."""

    source: Source
    head: ast.expr
    argument: ast.expr | None


def context_fix(handler: Handler, declared: Sequence[str], ctx: RuleContext) -> Fix | None:
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
        # The edits apply to the text inside the quotes.
        text = text_edits.apply(found.source.text, edits)
        mark = module.source.segment(annotation)[0]
        if mark in text:
            return None
        edits = [text_edits.replace_node(module, annotation, f"{mark}{text}{mark}")]
    # No import is needed if the annotation already names `Literal`.
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
    plain = f"{literal}[{', '.join(quoted(each, quote) for each in declared)}]"
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
    """Edits of the names in a `Literal` that keep its layout."""
    _, opening = source.node_range(literal.value)
    _, closing = source.node_range(literal)
    ranges = [source.node_range(each) for each in elts]
    names = [quoted(each, quote) for each in declared]
    before = source.text[opening : ranges[0][0]]
    after = source.text[ranges[-1][1] : closing]
    gaps = [source.text[left[1] : right[0]] for left, right in pairwise(ranges)]
    if _BEFORE.match(before) and _AFTER.match(after) and all(_BETWEEN.match(each) for each in gaps):
        between = gaps[0] if gaps else f",{before[1:]}" if "\n" in before or "\r" in before else ", "
        return [Edit(ranges[0][0], ranges[-1][1], between.join(names))]
    if "#" not in source.text[opening:closing]:
        return [Edit(opening, closing, f"[{', '.join(names)}]")]
    # Comments stay in place: names are replaced one by one, and new ones are added after the last.
    written = [each.value for each in elts if isinstance(each, ast.Constant)]
    missing = [quoted(each, quote) for each in declared if each not in written]
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


def quoted(reason: str, quote: str = '"') -> str:
    if reason.isprintable() and "\\" not in reason and quote not in reason:
        return f"{quote}{reason}{quote}"
    return repr(reason)
