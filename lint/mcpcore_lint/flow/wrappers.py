"""Finds the function that replaces a decorated one: a nested function, or `__call__` of an object."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from mcpcore_lint.flow.effects import Event, Key, Parameter, Passed, key_of
from mcpcore_lint.flow.facts.passing import parameter_of
from mcpcore_lint.model import CallValue, Symbol
from mcpcore_lint.semantics.evaluate import evaluate
from mcpcore_lint.semantics.symbols import class_info
from mcpcore_lint.semantics.type_model import method_of
from mcpcore_lint.syntax.parse import all_parameters, own_nodes

if TYPE_CHECKING:
    from mcpcore_lint.diagnostics import Span
    from mcpcore_lint.syntax.module import ClassInfo, Module
    from mcpcore_lint.syntax.scopes import Scope

DEEP = 8
"""Decorators that apply other decorators are followed this deep."""


class Wrapper(NamedTuple):
    """The function that a decorator returns instead of the decorated one."""

    key: Key
    parameter: Parameter
    """The parameter that holds the decorated function."""
    keeps: bool = False
    """Whether it is an object whose constructor took the function."""

    def event(self, span: Span, wrapped: Key) -> Event:
        """Return the call of the wrapper."""
        if not self.keeps:
            return Event("call", span, (), targets=(self.key,), bindings=((self.parameter, wrapped),))
        passed = Passed(self.parameter, "function", key=wrapped)
        return Event("call", span, (), targets=(self.key._replace(passed=(passed,)),))


def wrappers_of(decorator: ast.expr, scope: Scope, depth: int = 0) -> list[Wrapper]:
    """Return the wrappers that a decorator of the project adds, the outermost first.

    A decorator may apply others, as in `return logged(limited(3)(fn))` or `compose(logged, limited(3))`.
    """
    call = decorator if isinstance(decorator, ast.Call) else None
    value = evaluate(call.func if call is not None else decorator, scope)
    if depth > DEEP:
        return []
    if isinstance(value, CallValue):
        first = value.args[0] if value.args else None
        if value.func.name == "functools.partial" and isinstance(first, Symbol):
            value = first
        elif call is None and isinstance(value.node, ast.Call) and value.module is not None:
            return wrappers_of(value.node, value.module.scope, depth + 1)
    if not isinstance(value, Symbol):
        return []
    if call is not None and value.name == "functools.partial":
        return wrappers_of(call.args[0], scope, depth + 1) if call.args else []
    info, definition = class_info(value), value.definition
    if info is not None:
        wrapper = _wrapper_of_class(info, called=call is not None)
        return [wrapper] if wrapper is not None else []
    owner = scope.module.project.module_defining(definition) if isinstance(definition, ast.FunctionDef) else None
    if not isinstance(definition, ast.FunctionDef) or owner is None:
        return []
    if call is not None and definition.args.vararg is not None and not definition.args.args:
        # `compose(first, second)` applies all its arguments.
        return [inner for part in call.args for inner in wrappers_of(part, scope, depth + 1)]
    applied = _applied(definition, owner, called=call is not None, depth=depth)
    if applied:
        return applied
    replacement = _wrapper_of_function(definition, owner)
    return [replacement] if replacement is not None else []


def _applied(maker: ast.FunctionDef, owner: Module, *, called: bool, depth: int) -> list[Wrapper]:
    """Return the wrappers of the decorators that a decorator applies to its function."""
    function = maker
    if called:
        nested = [function for function, decorator in _returned(maker) if decorator is maker]
        if len(nested) != 1 or not isinstance(nested[0], ast.FunctionDef):
            return []
        function = nested[0]
    parameters = all_parameters(function.args)
    returned = [node.value for node in own_nodes(function) if isinstance(node, ast.Return)]
    if not parameters or len(returned) != 1 or returned[0] is None:
        return []
    scope = owner.scope_of(function)
    current: ast.expr = returned[0]
    wrappers: list[Wrapper] = []
    for _ in range(2 * DEEP):
        if isinstance(current, ast.Name):
            if current.id == parameters[0].arg:
                return wrappers
            bindings = scope.bindings.get(current.id, [])
            if len(bindings) != 1 or bindings[0].value is None:
                return []
            current = bindings[0].value
        elif isinstance(current, ast.Call) and len(current.args) == 1:
            wrappers += wrappers_of(current.func, scope, depth + 1)
            current = current.args[0]
        else:
            return []
    return []


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


def _wrapper_of_class(info: ClassInfo, *, called: bool) -> Wrapper | None:
    """Return the wrapper of a class as a decorator: `__call__` replaces the function, or returns the replacement."""
    call = method_of(info, "__call__")
    init = method_of(info, "__init__")
    if call is None or not isinstance(call[0], (ast.FunctionDef, ast.AsyncFunctionDef)):
        return None
    node, owner = call[0], call[1].module
    if called:
        parameters = all_parameters(node.args)[1:]
        for function, decorator in _returned(node) if isinstance(node, ast.FunctionDef) else ():
            if decorator is node and parameters:
                return Wrapper(key_of(function, owner, None), parameter_of(node, owner, parameters[0].arg))
        return None
    parameters = all_parameters(init[0].args)[1:] if init is not None else []
    if init is None or not parameters:
        return None
    parameter = parameter_of(init[0], init[1].module, parameters[0].arg)
    return Wrapper(key_of(node, owner, info), parameter, keeps=True)


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
