"""What in a function says that a mapping with an error is a failure, and not a result about an error."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from mcpcore_lint.migrate.failures.raises import mentions_name
from mcpcore_lint.migrate.messages import is_text

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from mcpcore_lint.migrate.body import Body


def is_message(value: ast.expr, node: ast.AST, body: Body) -> bool:
    """Whether an expression is a text, or is made of the exception that was caught."""
    for parent, _ in body.above(node):
        if isinstance(parent, ast.ExceptHandler) and parent.name is not None and mentions_name(value, parent.name):
            return True
    if is_text(value, body.scope):
        return True
    match value:
        case ast.Name(id=name):
            values = [binding.value for binding in body.scope.bindings.get(name, ())]
            return bool(values) and all(_is_written(item, body) for item in values)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return is_text(left, body.scope) or is_text(right, body.scope)
    return False


def _is_written(value: ast.expr | None, body: Body) -> bool:
    """Whether a value that a name gets is a text."""
    return value is not None and not isinstance(value, ast.Name) and is_text(value, body.scope)


def always_returned(node: ast.Return, body: Body) -> bool:
    """Whether a function has no other `return` or `raise`, so that it fails always or not at all."""
    leaving = [part for part in body.nodes if isinstance(part, (ast.Return, ast.Raise))]
    return leaving == [node] and body.parents[node] is body.node


def is_result_model(
    node: ast.Return, keys: Collection[str], is_failure: Callable[[dict[str, ast.expr]], bool], body: Body
) -> bool:
    """Whether the function also returns a success with exactly the same keys."""
    for other in body.nodes:
        if not isinstance(other, ast.Return) or other is node:
            continue
        value = other.value
        if isinstance(value, ast.Call) and value.args:
            value = value.args[0]
        if not isinstance(value, ast.Dict):
            continue
        table = {
            key.value.lower(): part
            for key, part in zip(value.keys, value.values, strict=True)
            if isinstance(key, ast.Constant) and isinstance(key.value, str)
        }
        if table.keys() == set(keys) and not is_failure(table):
            return True
    return False
