"""Decorators of the project that collect functions, to be registered later in a loop.

A list, a table or a mark on the function lies between the decorator and the server. It is often filled by importing all
modules of a folder, which the linter cannot follow. A decorator that has "tool" in its name, in a file that mentions
MCP, is therefore taken to make tools.
"""

import ast
import re
from typing import Final

from mcpcore_lint.engine.registrations.environment import functions_called
from mcpcore_lint.engine.registrations.registration_forms import DECORATORS, Maker, flavour_in
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.parse import all_parameters, own_nodes, returned
from mcpcore_lint.engine.syntax.scopes import Scope
from mcpcore_lint.patterns import regex

_COLLECTS: Final = frozenset({"append", "add", "setdefault", "insert"})
_MARK: Final = regex(r"mcp_?tool|is_tool|^_*tool_*$|tool_?(?:def|spec)", re.IGNORECASE)
_ARGUMENTS: Final = {"name": "name", "tool_name": "name", "description": "description"}
"""Parameters of such a decorator, each with the argument of the maker that it is."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def collector_of(function: Function, owner: Module, asking: Module) -> tuple[bool, Maker] | None:
    """Whether a decorator that collects is called first, as `@tool(...)`, and its maker; None for other functions.

    Parameters that are called like the tool's name or description are arguments of the maker.
    """
    if "tool" not in function.name.lower():
        return None
    if not any("mcp" in module.source.text.lower() for module in (owner, asking)):
        return None
    called_first = _collects(function, owner)
    return (called_first, _maker(function, owner, asking)) if called_first is not None else None


def _collects(function: Function, owner: Module) -> bool | None:
    """Whether a decorator that collects is called first; None for other functions."""
    # Each decorated function of the project asks, and a function may lead back to itself.
    return owner.once(("collects", function), lambda: _called_first(function, owner), None)


def _called_first(function: Function, owner: Module) -> bool | None:
    scope = owner.scope_of(function)
    for value in returned(function):
        called = next(functions_called(value.func, scope), None) if isinstance(value, ast.Call) else None
        if called is not None and called.function is not function and _collects(called.function, called.owner):
            return True  # `return REGISTRY.register(name)`
        nested = scope.bindings.get(value.id) if isinstance(value, ast.Name) else None
        inner = nested[0].node if nested else None
        if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)) and _keeps(inner, owner.scope_of(inner)):
            return True
    return False if _keeps(function, scope) else None


def _maker(function: Function, owner: Module, asking: Module) -> Maker:
    names = {parameter.arg for parameter in all_parameters(function.args)}
    keywords = [
        ast.keyword(keyword, ast.copy_location(ast.Name(name, ast.Load()), function))
        for name, keyword in _ARGUMENTS.items()
        if name in names
    ]
    inner = ast.copy_location(ast.Call(ast.Name("tool", ast.Load()), [], keywords), function)
    flavour = flavour_in(asking.source.text) or flavour_in(owner.source.text) or "sdk"
    return Maker(DECORATORS["tool"], flavour, None, inner=inner)


def _keeps(function: Function, scope: Scope) -> bool:
    """Whether a function keeps its first parameter: in a table, in an object, or marked."""
    parameters = [parameter.arg for parameter in (*function.args.posonlyargs, *function.args.args)]
    if parameters and parameters[0] in {"self", "cls"}:
        parameters = parameters[1:]
    return bool(parameters) and any(_keeps_at(node, parameters[0], scope) for node in own_nodes(function))


def _keeps_at(node: ast.AST, name: str, scope: Scope) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr=method, value=table), args=args) if method in _COLLECTS:
            return _outside(table, scope) and any(_holds(argument, name, scope) for argument in args)
        case ast.Assign(targets=[ast.Subscript(value=table)], value=value):
            return _outside(table, scope) and _holds(value, name, scope)
        case (
            ast.Call(func=ast.Name(id="setattr"), args=[ast.Name(id=marked), ast.Constant(value=str(mark)), *_])
            | ast.Assign(targets=[ast.Attribute(value=ast.Name(id=marked), attr=mark)])
        ):
            read = regex(rf"""\.{mark}\b(?! *=[^=])|["']{mark}["']""")
            is_mark = marked == name and _MARK.search(mark) is not None
            modules = scope.module.project.modules_with(scope.module, lambda text: read.search(text) is not None)
            return is_mark and modules != []  # a mark that no code reads registers no function
    return False


def _holds(node: ast.expr, name: str, scope: Scope) -> bool:
    """Whether an expression is a parameter, or a record with the parameter in it."""
    if isinstance(node, ast.Name) and node.id != name:
        bindings = scope.bindings.get(node.id, ())
        made = bindings[0].value if len(bindings) == 1 else None
        node = made if isinstance(made, ast.Call) else node
    match node:
        case ast.Dict(values=items) | ast.Tuple(elts=items) | ast.List(elts=items):
            parts = items
        case ast.Call(args=args, keywords=keywords):
            parts = [*args, *(keyword.value for keyword in keywords)]
        case _:
            parts = [node]
    return any(isinstance(part, ast.Name) and part.id == name for part in parts)


def _outside(table: ast.expr, scope: Scope) -> bool:
    """Whether a table outlives the decorator and has a name for tools."""
    table = table.value if isinstance(table, ast.Subscript) else table
    name = table.attr if isinstance(table, ast.Attribute) else table.id if isinstance(table, ast.Name) else ""
    if not any(word in name.lower() for word in ("tool", "registry", "registered")):
        return False
    if isinstance(table, ast.Attribute):
        return True
    match = scope.lookup(name)
    return match is not None and match[0] is not scope
