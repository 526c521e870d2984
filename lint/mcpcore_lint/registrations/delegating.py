"""Request handlers that wrap the earlier handler of the same request: the tools are those of the earlier one."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from mcpcore_lint.syntax.parse import own_nodes

if TYPE_CHECKING:
    from mcpcore_lint.syntax.scopes import Scope


def delegates(handler: ast.expr, scope: Scope) -> bool:
    """Whether a handler calls the handler that `server.request_handlers[...]` held before, or wraps it."""
    if isinstance(handler, ast.Call):
        arguments = (*handler.args, *(keyword.value for keyword in handler.keywords))
        return any(_is_earlier(argument, scope) for argument in arguments)
    place = scope.lookup(handler.id) if isinstance(handler, ast.Name) else None
    for binding in place[1] if place is not None else ():
        function = binding.node
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            inside = scope.module.scope_of(function)
            if any(isinstance(node, ast.Call) and _is_earlier(node.func, inside) for node in own_nodes(function)):
                return True
    return False


def _is_earlier(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression is a handler taken from the table, or a variable that holds one."""
    if isinstance(node, ast.Name):
        place = scope.lookup(node.id)
        values = [binding.value for binding in place[1]] if place is not None else []
        return any(value is not None and _is_entry(value) for value in values)
    return _is_entry(node)


def _is_entry(node: ast.expr) -> bool:
    match node:
        case ast.Subscript(value=ast.Attribute(attr="request_handlers")):
            return True
        case ast.Call(func=ast.Attribute(attr="get" | "pop", value=ast.Attribute(attr="request_handlers"))):
            return True
    return False


__all__ = ["delegates"]
