"""The fix of error-contract-context-mismatch: writes the declared reasons into `Context[Literal[...]]`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from mcpcore_lint.codemods import edits as codemods
from mcpcore_lint.model import Symbol
from mcpcore_lint.semantics.annotations import unquote
from mcpcore_lint.semantics.evaluate import Resolver
from mcpcore_lint.syntax.parse import walk
from mcpcore_lint.syntax.source import Source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpcore_lint.diagnostics import Change, Fix
    from mcpcore_lint.model import Handler
    from mcpcore_lint.rule import RuleContext
    from mcpcore_lint.syntax.module import Module
    from mcpcore_lint.syntax.scopes import Scope


def context_fix(handler: Handler, declared: Sequence[str], ctx: RuleContext) -> Fix | None:
    """Name the declared reasons in the type argument; None if the annotation is written in another way."""
    module = handler.module
    context = handler.context
    if context is None or context.annotation is None:
        return None
    scope = module.scope_of(handler.node)
    scope = scope.parent or scope
    annotation = context.annotation
    literal = codemods.import_name(module, "typing", "Literal")
    if isinstance(annotation, ast.Constant):
        written = _in_quotes(annotation, module, scope, declared, literal.text, bare=context.bare)
        if written is None:
            return None
        change = codemods.replace_node(module, annotation, written)
        new_literal = literal.text in written
    else:
        place = _context_in(annotation, scope)
        if place is None or (place[1] is None) != context.bare:
            return None
        head, argument = place
        names = _named_reasons(argument, scope) if argument is not None else []
        if names is None:
            return None
        if argument is not None and len(names) > len(declared) and "#" in module.source.segment(argument):
            return None  # a string would go, perhaps with a comment about it
        new_literal = not names
        plain = f"{literal.text}[{', '.join(map(quoted, declared))}]"
        if argument is None:
            change = codemods.replace_node(module, head, f"{module.source.segment(head)}[{plain}]")
        elif names:
            change = _with_reasons(module, argument, names[0], declared)
        else:
            change = codemods.replace_node(module, argument, plain)
    return ctx.fix("Name the declared reasons", [change, *(literal.edits if new_literal else ())])


def _with_reasons(module: Module, argument: ast.expr, first: ast.expr, declared: Sequence[str]) -> Change:
    quote = "'" if module.source.segment(first).startswith("'") else '"'
    return codemods.change(module, "set_strings", argument, quote, *declared)


def _in_quotes(
    annotation: ast.Constant, module: Module, scope: Scope, declared: Sequence[str], literal: str, *, bare: bool
) -> str | None:
    """A quoted annotation that names the declared reasons."""
    text = annotation.value
    segment = module.source.segment(annotation)
    if not isinstance(text, str) or segment[1:-1] != text or segment[:1] not in "\"'" or not text.isascii():
        return None
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError:
        return None
    place = _context_in(tree, scope)
    if place is None or (place[1] is None) != bare or "\n" in text:
        return None
    head, argument = place
    names = _named_reasons(argument, scope) if argument is not None else []
    if names is None:
        return None
    source = Source(module.path, text)
    mark = segment[0]
    quote = "'" if mark == '"' or (names and source.segment(names[0]).startswith("'")) else '"'
    if names and isinstance(argument, ast.Subscript):
        literal = source.segment(argument.value)
    plain = f"{literal}[{', '.join(quoted(reason, quote) for reason in declared)}]"
    if argument is None:
        _, start = source.node_range(head)
        new = f"{text[:start]}[{plain}]{text[start:]}"
    else:
        start, end = source.node_range(argument)
        new = f"{text[:start]}{plain}{text[end:]}"
    return None if mark in new else f"{mark}{new}{mark}"


def _context_in(annotation: ast.expr, scope: Scope) -> tuple[ast.expr, ast.expr | None] | None:
    """`Context` in an annotation, which may be in `Annotated[...]` or beside `None`, and its type argument."""
    places: list[tuple[ast.expr, ast.expr | None]] = []
    subscripts = {node.value: node for node in walk([annotation]) if isinstance(node, ast.Subscript)}
    for node in walk([annotation]):
        if not isinstance(node, (ast.Name, ast.Attribute)):
            continue
        value = Resolver().expression(node, scope)
        if isinstance(value, Symbol) and value.name == "mcpcore.Context":
            argument = subscripts[node].slice if node in subscripts else None
            first = argument.elts[0] if isinstance(argument, ast.Tuple) and argument.elts else argument
            places.append((node, first))
    return places[0] if len(places) == 1 else None


def _named_reasons(argument: ast.expr, scope: Scope) -> list[ast.expr] | None:
    """The strings in `Literal[...]`; empty for `Never` and quoted types, which are replaced; None for anything else."""
    plain = unquote(argument)
    if plain is not argument:
        return []
    if not isinstance(plain, ast.Subscript):
        symbol = Resolver().annotation_symbol(plain, scope)
        return [] if symbol is not None and symbol.name in {"typing.Never", "typing.NoReturn"} else None
    head = Resolver().expression(plain.value, scope)
    if not isinstance(head, Symbol) or head.name != "typing.Literal":
        return None
    elements = list(plain.slice.elts) if isinstance(plain.slice, ast.Tuple) else [plain.slice]
    strings = all(isinstance(element, ast.Constant) and isinstance(element.value, str) for element in elements)
    return elements if strings else None


def quoted(reason: str, quote: str = '"') -> str:
    """A reason as a string literal."""
    if reason.isprintable() and "\\" not in reason and quote not in reason:
        return f"{quote}{reason}{quote}"
    return repr(reason)
