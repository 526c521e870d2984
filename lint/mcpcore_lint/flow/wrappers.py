"""Finds the nested function that replaces a decorated one."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from mcpcore_lint.flow.effects import Event, Key, Parameter, key_of, parameter_of
from mcpcore_lint.model import CallValue, Symbol
from mcpcore_lint.semantics.evaluate import evaluate
from mcpcore_lint.syntax.parse import all_parameters, own_nodes

if TYPE_CHECKING:
    from mcpcore_lint.diagnostics import Span
    from mcpcore_lint.syntax.module import Module
    from mcpcore_lint.syntax.scopes import Scope


class Wrapper(NamedTuple):
    """The function that a decorator returns instead of the decorated one."""

    key: Key
    parameter: Parameter
    """The parameter that holds the decorated function."""

    def event(self, span: Span, wrapped: Key) -> Event:
        """Return the call of the wrapper."""
        return Event("call", span, (), targets=(self.key,), bindings=((self.parameter, wrapped),))


def wrappers_of(decorator: ast.expr, scope: Scope) -> list[Wrapper]:
    """Return the wrapper that a decorator of the project adds, if any."""
    value = evaluate(decorator.func if isinstance(decorator, ast.Call) else decorator, scope)
    definition = value.definition if isinstance(value, Symbol) else None
    owner = scope.module.project.module_defining(definition) if isinstance(definition, ast.FunctionDef) else None
    if not isinstance(definition, ast.FunctionDef) or owner is None:
        return []
    replacement = _wrapper_of_function(definition, owner)
    return [replacement] if replacement is not None else []


def is_unread(decorator: ast.expr, scope: Scope) -> bool:
    """Whether a decorator of the project may replace the function in a way that is not followed.

    Such are objects, and decorators that apply other decorators.
    """
    value = evaluate(decorator.func if isinstance(decorator, ast.Call) else decorator, scope)
    if isinstance(value, CallValue):
        return value.func.name == "functools.partial" or value.func.definition is not None
    definition = value.definition if isinstance(value, Symbol) else None
    if isinstance(definition, ast.ClassDef):
        return True
    if not isinstance(definition, ast.FunctionDef):
        return isinstance(value, Symbol) and value.name == "functools.partial"
    owner = scope.module.project.module_defining(definition)
    # A decorator with arguments returns the function that gets the decorated one.
    made = [function for function, outer in _returned(definition) if outer is definition]
    return owner is not None and not all(
        _is_plain(node.value, owner.scope_of(function))
        for function in (definition, *(made if isinstance(decorator, ast.Call) else ()))
        for node in own_nodes(function)
        if isinstance(node, ast.Return)
    )


def _is_plain(node: ast.expr | None, scope: Scope) -> bool:
    """Whether an expression is the name of a function or of a parameter, and nothing that is computed."""
    if not isinstance(node, ast.Name):
        return not isinstance(node, ast.Call)
    return all(binding.kind in {"function", "parameter"} for binding in scope.bindings.get(node.id, ()))


def _wrapper_of_function(maker: ast.FunctionDef, module: Module) -> Wrapper | None:
    """Return the function that a decorator returns. The decorator may take arguments, none, or support both."""
    for function, decorator in _returned(maker):
        # `def retry(times)` returns the decorator, `def retry(run)` the replacement of `run`.
        inner = [] if decorator is not maker else _returned(function)
        if inner and isinstance(function, ast.FunctionDef):
            function, decorator = inner[0][0], function  # noqa: PLW2901 - continue one level deeper
        parameters = all_parameters(decorator.args)
        if parameters:
            return Wrapper(key_of(function, module, None), parameter_of(decorator, module, parameters[0].arg))
    return None


def _returned(
    node: ast.FunctionDef | ast.AsyncFunctionDef,
) -> list[tuple[ast.FunctionDef | ast.AsyncFunctionDef, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Return the nested functions that a function returns, each with the function whose parameter it closes over."""
    nested = {
        inner.name: inner for inner in own_nodes(node) if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef))
    }
    returned: list[tuple[ast.FunctionDef | ast.AsyncFunctionDef, ast.FunctionDef | ast.AsyncFunctionDef]] = []
    for statement in own_nodes(node) if nested else ():
        values = [statement.value] if isinstance(statement, ast.Return) else []
        while values:
            value = values.pop(0)
            if isinstance(value, ast.IfExp):
                values += [value.body, value.orelse]
            elif isinstance(value, ast.Name) and value.id in nested:
                returned.append((nested[value.id], node))
            elif isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in nested:
                decorator = nested[value.func.id]
                returned.extend(pair for pair in _returned(decorator) if pair[1] is decorator)
    return returned


__all__ = ["Wrapper", "wrappers_of"]
