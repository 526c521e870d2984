"""The calls of a function, and the functions and parameters that a call means."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.model import Symbol, Unknown
from mcpcore_lint.semantics.evaluate import evaluate
from mcpcore_lint.semantics.type_model import method_of
from mcpcore_lint.semantics.types import Inference
from mcpcore_lint.syntax.parse import all_parameters
from mcpcore_lint.syntax.source import SourceError

if TYPE_CHECKING:
    from mcpcore_lint.syntax.module import Module
    from mcpcore_lint.syntax.scopes import Scope

Function = ast.FunctionDef | ast.AsyncFunctionDef
Calls = list[tuple[ast.Call, "Scope"]]

MANY: Final = 40
"""How many files are parsed at most for the calls of one function."""


def calls_here(function: Function, where: Scope) -> Calls:
    """The calls of a function in its own file, those of a method by its name alone."""
    method = where.owner is not None
    return [
        (call, scope)
        for call, scope in where.module.calls_near(f"{_called_name(function, where)}(")
        if (method and _is_attribute(call.func, function.name)) or _means(call, scope, function, where)
    ]


def calls_elsewhere(function: Function, where: Scope) -> tuple[Calls, Calls]:
    """The calls in the files round its own: those that mean the function, and others that may, by its name."""
    module, name = where.module, _called_name(function, where)
    certain: Calls = []
    possible: Calls = []
    for path in module.project.files_calling(module.absolute, name)[:MANY]:
        try:
            other = module.project.read(path)
        except (OSError, SourceError):
            continue
        for call, scope in other.calls_near(f"{name}("):
            means = _means(call, scope, function, where)
            if means:
                certain.append((call, scope))
            elif means is None:
                possible.append((call, scope))
    return certain, possible


def _called_name(function: Function, where: Scope) -> str:
    """The name that calls of a function have: that of the class for `__init__`."""
    return where.owner.name if where.owner is not None and function.name == "__init__" else function.name


def _means(call: ast.Call, scope: Scope, function: Function, where: Scope) -> bool | None:
    """Whether a call is one of a function; None where only the name says so, as in `module.register(mcp)` in a loop."""
    callee = evaluate(call.func, scope)
    if where.owner is None or function.name == "__init__":
        if isinstance(callee, Symbol):
            return callee.definition is (where.owner or function)
    elif isinstance(call.func, ast.Attribute):
        method = method_called(call.func, scope)
        if method is not None:
            return method[0] is function
    return None if isinstance(callee, Unknown) and _is_attribute(call.func, function.name) else False


def _is_attribute(func: ast.expr, name: str) -> bool:
    return isinstance(func, ast.Attribute) and func.attr == name


def method_called(func: ast.Attribute, scope: Scope) -> tuple[Function, Module] | None:
    """The method of a class of the project that `value.name` is, with its file."""
    for kind in Inference().of(func.value, scope):
        info = getattr(kind, "info", None)
        found = method_of(info, func.attr) if info is not None else None
        if found is not None:
            return found[0], found[1].module
    return None


def arguments_of(function: Function, call: ast.Call, *, bound_first: bool = False) -> dict[str, ast.expr]:
    """The argument for each parameter of a function, as far as the call shows it."""
    positional = [parameter.arg for parameter in (*function.args.posonlyargs, *function.args.args)]
    if bound_first:
        positional = positional[1:]
    arguments: dict[str, ast.expr] = {}
    for name, argument in zip(positional, call.args, strict=False):
        if isinstance(argument, ast.Starred):
            break
        arguments[name] = argument
    names = {parameter.arg for parameter in all_parameters(function.args)}
    arguments.update({keyword.arg: keyword.value for keyword in call.keywords if keyword.arg in names})
    return arguments


__all__ = ["arguments_of", "calls_elsewhere", "calls_here", "method_called"]
