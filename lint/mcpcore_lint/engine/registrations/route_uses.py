"""Uses of a web application that may add a route and cannot be read: `get = app.get`, `app.routes.append(route)`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.engine.registrations.callers import scope_around
from mcpcore_lint.engine.registrations.contents import ROUTED, ROUTES, modules_of
from mcpcore_lint.engine.registrations.environment import (
    DEEP,
    FUNCTIONS,
    arguments_of,
    assignments_of,
    class_of,
    functions_run,
    written_scope,
)
from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.semantics.types import Inference
from mcpcore_lint.engine.syntax.parse import argument_of, walk
from mcpcore_lint.model import Symbol, Unknown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore_lint.engine.syntax.module import Module
    from mcpcore_lint.engine.syntax.scopes import Scope

_ADDS: Final = frozenset({"append", "extend", "insert"})


def unread_use(node: ast.expr, scope: Scope, depth: int = 0) -> ast.expr | None:
    """The first use of an application or a router that may add a route and is not read.

    Args:
        node: The name or the attribute that is the application, or an expression that cannot be read.
        scope: The scope that it is read in.
        depth: How many functions it was passed to.
    """
    if depth > DEEP:
        return node
    sources = assignments_of(node, scope)
    for value, _ in sources:
        if isinstance(value, ast.Call) and any(keyword.arg == "routes" for keyword in value.keywords):
            return value
    place = scope.lookup(node.id) if isinstance(node, ast.Name) else None
    if place is None and not isinstance(node, ast.Attribute):
        return node
    is_given = place is not None and place[1][0].kind == "parameter"
    if not sources and not is_given and isinstance(evaluate(node, scope), Unknown):
        return node
    for part, module in _mentions(node, scope):
        unread = _unread(part, module, depth)
        if unread is not None:
            return unread
    return None


def _mentions(node: ast.expr, scope: Scope) -> Iterator[tuple[ast.expr, Module]]:
    """The places where the project mentions a variable, or an attribute of the objects of a class."""
    if isinstance(node, ast.Name):
        place = scope.lookup(node.id)
        assert place is not None
        home = written_scope(place[0])
        for module in modules_of(home.module, node.id) if home.is_module else (home.module,):
            for part in walk([module.tree] if home.is_module else [home.node]):
                if isinstance(part, ast.Name) and part.id == node.id and isinstance(part.ctx, ast.Load):
                    where = scope_around(part, module).lookup(part.id)
                    if where is not None and (written_scope(where[0]) is home or where[1][0].target is not None):
                        yield part, module
    elif isinstance(node, ast.Attribute):
        info = class_of(node.value, scope)
        for module in modules_of(info.module, node.attr) if info is not None else ():
            for part in walk([module.tree]):
                if isinstance(part, ast.Attribute) and part.attr == node.attr and isinstance(part.ctx, ast.Load):
                    yield part, module


def _unread(part: ast.expr, module: Module, depth: int) -> ast.expr | None:
    """A use of an application, if it may add a route and is not read."""
    parents = module.parents
    above = parents.get(part)
    if isinstance(above, ast.Attribute) and above.attr == "router":
        part, above = above, parents.get(above)
    outer = parents.get(above) if above is not None else None
    around = parents.get(outer) if outer is not None else None
    match above:
        case ast.Attribute(attr="routes"):
            return above if isinstance(outer, ast.Attribute) and outer.attr in _ADDS else None
        case ast.Attribute(attr=attr) if attr in ROUTED:
            read = isinstance(outer, ast.Call) and argument_of(outer, *ROUTED[attr]) is not None
            return None if read and depth < 2 else above  # only the functions that get it first are read
        case ast.Attribute(attr=attr) if attr in ROUTES:
            decorates = isinstance(around, FUNCTIONS) and outer in around.decorator_list
            decorates |= isinstance(around, ast.Call) and around.func is outer
            return None if isinstance(outer, ast.Call) and decorates and depth < 2 else above
        case ast.Assign(targets=[ast.Name() | ast.Attribute() as target]):
            # It is used under another name.
            name = target.id if isinstance(target, ast.Name) else f".{target.attr}"
            return part if any(module.source.has(f"{name}.{method}(") for method in (*ROUTES, *ROUTED)) else None
        case ast.Call():
            return _passed(above, part, module, depth)
        case ast.keyword() if isinstance(outer, ast.Call):
            return _passed(outer, part, module, depth)
    return None


def _passed(call: ast.Call, part: ast.expr, module: Module, depth: int) -> ast.expr | None:
    """The use of an application by the function that gets it."""
    scope = scope_around(call, module)
    symbol = evaluate(call.func, scope)
    if isinstance(symbol, Symbol) and symbol.definition is None:
        asks = symbol.name == "builtins.getattr" and not isinstance(call.args[1], ast.Constant)
        return call if asks else None
    called = next(functions_run(call, scope), None)
    if called is None:
        known = isinstance(symbol, Symbol) or (
            isinstance(call.func, ast.Attribute) and Inference().of(call.func.value, scope)
        )
        return None if known else call.func
    arguments = arguments_of(called.function, call, bound_first=called.bound_first)
    inside = called.owner.scope_of(called.function)
    names = [name for name, argument in arguments.items() if argument is part]
    deeper = depth + (1 if isinstance(part, ast.Name) else 2)
    uses = (unread_use(ast.copy_location(ast.Name(name, ast.Load()), call), inside, deeper) for name in names)
    return next((use for use in uses if use is not None), None)
