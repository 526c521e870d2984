"""What a decorator of the project puts in the place of a function: a nested function, or an object that is called."""

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
"""How many decorators deep, each made of others, a decorator is read."""


class Wrapper(NamedTuple):
    """What a decorator puts in the place of a function."""

    key: Key
    parameter: Parameter
    """What the function is to it."""
    keeps: bool = False
    """Whether it is an object that got the function when it was made."""

    def event(self, span: Span, wrapped: Key) -> Event:
        """Calling it."""
        if not self.keeps:
            return Event("call", span, (), targets=(self.key,), bindings=((self.parameter, wrapped),))
        passed = Passed(self.parameter, "function", key=wrapped)
        return Event("call", span, (), targets=(self.key._replace(passed=(passed,)),))


def wrappers_of(decorator: ast.expr, scope: Scope, depth: int = 0) -> list[Wrapper]:
    """What a decorator of the project puts round a function, the outermost first.

    A decorator may apply others: `return logged(limited(3)(fn))`, `compose(logged, limited(3))`, or a name for these.
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
        made = _wrapper_of_class(info, called=call is not None)
        return [made] if made is not None else []
    owner = scope.module.project.module_defining(definition) if isinstance(definition, ast.FunctionDef) else None
    if not isinstance(definition, ast.FunctionDef) or owner is None:
        return []
    if call is not None and definition.args.vararg is not None and not definition.args.args:
        # It is given decorators, and applies them all.
        return [each for part in call.args for each in wrappers_of(part, scope, depth + 1)]
    applied = _applied(definition, owner, called=call is not None, depth=depth)
    if applied:
        return applied
    own = _wrapper_of_function(definition, owner)
    return [own] if own is not None else []


def _applied(maker: ast.FunctionDef, owner: Module, *, called: bool, depth: int) -> list[Wrapper]:
    """The wrappers of the decorators that a decorator applies to its function in turn."""
    function = maker
    if called:
        inner = [each for each, decorator in _returned(maker) if decorator is maker]
        if len(inner) != 1 or not isinstance(inner[0], ast.FunctionDef):
            return []
        function = inner[0]
    parameters = all_parameters(function.args)
    returned = [each.value for each in own_nodes(function) if isinstance(each, ast.Return)]
    if not parameters or len(returned) != 1 or returned[0] is None:
        return []
    scope = owner.scope_of(function)
    current: ast.expr = returned[0]
    found: list[Wrapper] = []
    for _ in range(2 * DEEP):
        if isinstance(current, ast.Name):
            if current.id == parameters[0].arg:
                return found
            bindings = scope.bindings.get(current.id, [])
            if len(bindings) != 1 or bindings[0].value is None:
                return []
            current = bindings[0].value
        elif isinstance(current, ast.Call) and len(current.args) == 1:
            found += wrappers_of(current.func, scope, depth + 1)
            current = current.args[0]
        else:
            return []
    return []


def _wrapper_of_function(maker: ast.FunctionDef, module: Module) -> Wrapper | None:
    """The function that a decorator returns, whether it is written with arguments, without, or works both ways."""
    for function, decorator in _returned(maker):
        # `def retry(times)` returns the decorator, `def retry(run)` what takes the place of `run`.
        inner = [] if decorator is not maker else _returned(function)
        if inner and isinstance(function, ast.FunctionDef):
            function, decorator = inner[0][0], function  # noqa: PLW2901 - one level further in
        parameters = all_parameters(decorator.args)
        if parameters:
            return Wrapper(key_of(function, module, None), parameter_of(decorator, module, parameters[0].arg))
    return None


def _wrapper_of_class(info: ClassInfo, *, called: bool) -> Wrapper | None:
    """What a class does as a decorator: its objects are called in the place of the function, or make what is."""
    call = method_of(info, "__call__")
    made = method_of(info, "__init__")
    if call is None or not isinstance(call[0], (ast.FunctionDef, ast.AsyncFunctionDef)):
        return None
    node, owner = call[0], call[1].module
    if called:
        parameters = all_parameters(node.args)[1:]
        for function, decorator in _returned(node) if isinstance(node, ast.FunctionDef) else ():
            if decorator is node and parameters:
                return Wrapper(key_of(function, owner, None), parameter_of(node, owner, parameters[0].arg))
        return None
    parameters = all_parameters(made[0].args)[1:] if made is not None else []
    if made is None or not parameters:
        return None
    parameter = parameter_of(made[0], made[1].module, parameters[0].arg)
    return Wrapper(key_of(node, owner, info), parameter, keeps=True)


def _returned(
    node: ast.FunctionDef | ast.AsyncFunctionDef,
) -> list[tuple[ast.FunctionDef | ast.AsyncFunctionDef, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """The nested functions that a function returns, each with the function whose parameter it closes over."""
    nested = {each.name: each for each in own_nodes(node) if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))}
    found: list[tuple[ast.FunctionDef | ast.AsyncFunctionDef, ast.FunctionDef | ast.AsyncFunctionDef]] = []
    for each in own_nodes(node) if nested else ():
        values = [each.value] if isinstance(each, ast.Return) else []
        while values:
            value = values.pop(0)
            if isinstance(value, ast.IfExp):
                values += [value.body, value.orelse]
            elif isinstance(value, ast.Name) and value.id in nested:
                found.append((nested[value.id], node))
            elif isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in nested:
                decorator = nested[value.func.id]
                found.extend(one for one in _returned(decorator) if one[1] is decorator)
    return found


__all__ = ["Wrapper", "wrappers_of"]
