"""What a function changes in a mapping or a model: the keys that it sets, and whether something else may change it."""

import ast
from collections.abc import Iterable, Iterator
from typing import Final

from mcpcore_lint.model import Const, Mapping, Value, string
from mcpcore_lint.rules._bodies import Body

_LOOPS: Final = (ast.For, ast.AsyncFor, ast.While)


def fields_set(
    nodes: Iterable[ast.AST], name: str, body: Body
) -> Iterator[tuple[ast.expr | ast.stmt, str | None, Value]]:
    """The fields that some nodes set in a mapping: the node, the key (None if unknown), the value."""
    for node in nodes:
        match node:
            case ast.Assign(targets=targets):
                for target in targets:
                    if isinstance(target, ast.Subscript) and getattr(target.value, "id", "") == name:
                        yield node, string(body.value(target.slice)), body.value(node.value)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=updated), attr="update"), args=[arg]) if updated == name:
                table = body.value(arg)
                fields = table.items if isinstance(table, Mapping) else ((table, table),)
                yield from ((node, string(key), value) for key, value in fields)


def keys_set(answer: ast.Name, body: Body, arguments: dict[str, Value]) -> Iterator[tuple[str | None, Value]]:
    """The keys that a function sets in a mapping before it is an answer, or the attributes, and the values.

    The key is None if it is unknown. A loop or `update()` may set the keywords of `**kwargs`.
    """
    is_repeated = any(isinstance(part, _LOOPS) for part in body.above(answer))
    assigned = [node for node in body.all(ast.Assign) if is_repeated or node.lineno <= answer.lineno]
    called = [node for node in body.all(ast.Call) if is_repeated or node.lineno <= answer.lineno]
    for node in assigned:
        for target in node.targets:
            if isinstance(target, ast.Attribute) and getattr(target.value, "id", "") == answer.id:
                yield target.attr, body.value(node.value)
    for setter, key, value in fields_set([*assigned, *called], answer.id, body):
        loop = next((part for part in body.above(setter) if isinstance(part, ast.For)), None)
        copied = _copied(setter, loop) if key is None else ""
        if f"**{copied}" in arguments:
            yield from ((keyword, value) for keyword in (string(arguments[f"**{copied}"]) or "").split())
        elif not isinstance(arguments.get(copied), Const):  # `if more: answer.update(more)` without more
            yield key, value


def _copied(setter: ast.AST, loop: ast.For | None) -> str:
    """The mapping that a node copies into another one: by `update()`, or in a loop over its items; empty if none."""
    match setter, loop:
        case ast.Call(args=[ast.Name(id=name)]), _:
            return name
        case (
            ast.Assign(targets=[ast.Subscript(slice=ast.Name(id=key))]),
            ast.For(
                target=ast.Tuple(elts=[ast.Name(id=looped), _]),
                iter=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="items")),
            ),
        ) if key == looped:
            return name
    return ""


def changes_of(name: str, body: Body, passed: ast.expr | None = None) -> Iterator[str | None]:
    """The constant keys that a function sets in a dict, and None for a use that may change the dict otherwise."""
    for use in body.all(ast.Name):
        if use.id == name and use is not passed:
            match body.parents.get(use):
                case ast.Subscript(slice=ast.Constant() as key, ctx=ast.Store()):
                    yield ast.unparse(key)
                case (
                    ast.Subscript(ctx=ast.Load())
                    | ast.Attribute(attr="get" | "items")
                    | ast.Compare()
                    | ast.FormattedValue()
                ):
                    pass
                case ast.Call(func=ast.Attribute(attr="update")):  # `answer.update(table)` changes the answer
                    pass
                case ast.keyword(arg=None):  # `**table` is a copy
                    pass
                case _ if isinstance(use.ctx, ast.Load):
                    yield None
