"""The results of simple functions of the project, which only return an expression, and of comprehensions.

A function may build a contract, `errors=common(extra)`, and another one its entries, `entry("gone", ...)`.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final, NamedTuple

from mcpcore_lint.dataclasses import replace
from mcpcore_lint.model import CallValue, Choice, Const, Items, Mapping, Unknown, Value
from mcpcore_lint.syntax.parse import own_nodes, walk

if TYPE_CHECKING:
    from mcpcore_lint.semantics.evaluate import Resolver
    from mcpcore_lint.syntax.module import Module
    from mcpcore_lint.syntax.scopes import Scope

DEEP: Final = 8
"""The maximum depth of functions that return the result of another function."""
MAX_STEPS: Final = 200
"""The maximum number of functions and comprehensions to follow for one expression."""
MANY: Final = 64
"""The maximum number of iterations of a comprehension."""
_KEEPING: Final = frozenset({"cache", "lru_cache", "staticmethod"})
"""Decorators that do not change the result of a function."""
_PLAIN: Final = (ast.Assign, ast.AnnAssign, ast.Import, ast.ImportFrom)


def call_result(value: Value, resolver: Resolver) -> Value:
    """The result of a call of a function of the project; the value itself if it is not such a call or not followed."""
    for _ in range(4):
        if not isinstance(value, CallValue) or not isinstance(value.func.definition, ast.FunctionDef):
            break
        function = value.func.definition
        resolver.steps += 1
        if function in resolver.making or resolver.steps > MAX_STEPS or len(resolver.making) > DEEP:
            break
        before = resolver.making
        resolver.making = (*before, function)
        try:
            inner = _returned(value, function, resolver)
        finally:
            resolver.making = before
        if inner is None:
            break
        value = inner
    return value


def _returned(call: CallValue, function: ast.FunctionDef, resolver: Resolver) -> Value | None:
    """The result of a function for the arguments of one call; None if it does more than return an expression."""
    if call.module is None or not isinstance(call.node, ast.Call):
        return None
    owner = call.module.project.module_defining(function)
    if owner is None or not all(_keeps(decorator) for decorator in function.decorator_list):
        return None
    owner.complete(function)
    body = function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body
    if not body or not isinstance(body[-1], ast.Return) or body[-1].value is None:
        return None
    if not all(isinstance(statement, _PLAIN) for statement in body[:-1]):
        return None
    if any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in own_nodes(function)):
        return None
    scope = owner.scope_of(function)
    if scope.owner is not None:
        return None
    parameters = _parameters(call, function, owner, scope, resolver)
    if parameters is None:
        return None
    with resolver.within(scope, parameters):
        value = resolver.expression(body[-1].value, scope)
    return _moved(value, _Evaluation(owner, function, frozenset(parameters), call.node.func, call.module))


def _keeps(decorator: ast.expr) -> bool:
    target = decorator.func if isinstance(decorator, ast.Call) else decorator
    return (target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")) in _KEEPING


def _parameters(
    call: CallValue, function: ast.FunctionDef, owner: Module, scope: Scope, resolver: Resolver
) -> dict[str, Value] | None:
    """The value of each parameter in one call; None if the arguments are not all known."""
    if not call.complete:
        return None
    args = function.args
    positional = [*args.posonlyargs, *args.args]
    values: dict[str, Value] = {arg.arg: value for arg, value in zip(positional, call.args, strict=False)}
    names = {arg.arg for arg in (*args.args, *args.kwonlyargs)}
    rest: list[tuple[Value, Value]] = []
    for name, value in call.keywords:
        if name in names:
            values[name] = value
        else:
            rest.append((Const(call.node, call.module, name), value))
    if args.vararg is not None:
        values[args.vararg.arg] = Items(call.node, call.module, "tuple", call.args[len(positional) :])
    elif len(call.args) > len(positional):
        return None
    if args.kwarg is not None:
        values[args.kwarg.arg] = Mapping(call.node, call.module, tuple(rest))
    elif rest:
        return None
    outside = scope.parent or owner.scope
    defaults = [*zip(positional[len(positional) - len(args.defaults) :], args.defaults, strict=True)]
    keyword_defaults = zip(args.kwonlyargs, args.kw_defaults, strict=True)
    defaults += [(arg, default) for arg, default in keyword_defaults if default is not None]
    for arg, default in defaults:
        if arg.arg not in values:
            values[arg.arg] = resolver.expression(default, outside)
    return values


def comprehended(node: ast.ListComp | ast.GeneratorExp | ast.SetComp, scope: Scope, resolver: Resolver) -> Value | None:
    """The items of a comprehension over known items; None if they cannot be evaluated."""
    resolver.steps += 1
    if resolver.steps > MAX_STEPS or len(node.generators) != 1 or node.generators[0].ifs or node.generators[0].is_async:
        return None
    generator = node.generators[0]
    over = generator.iter
    pairs = (
        isinstance(over, ast.Call)
        and isinstance(over.func, ast.Attribute)
        and over.func.attr == "items"
        and not over.args
    )
    source = resolver.expression(over.func.value if pairs else over, scope)  # type: ignore[attr-defined]
    if pairs:
        if not isinstance(source, Mapping) or not source.complete:
            return None
        items: tuple[Value, ...] = tuple(Items(over, scope.module, "tuple", pair) for pair in source.items)
    elif isinstance(source, Mapping) and source.complete:
        items = tuple(key for key, _ in source.items)
    elif isinstance(source, Items) and source.complete and source.kind != "set":
        items = source.items
    else:
        return None
    if len(items) > MANY:
        return None
    results: list[Value] = []
    for item in items:
        variables: dict[str, Value] = {}
        if not _bind(generator.target, item, variables):
            return None
        with resolver.within(scope, variables):
            results.append(resolver.expression(node.elt, scope))
    kind = "set" if isinstance(node, ast.SetComp) else "list"
    whole = Items(node, scope.module, kind, tuple(results))  # type: ignore[arg-type]
    evaluation = _Evaluation(scope.module, node, frozenset(_names(generator.target)), node, scope.module)
    return replace(whole, items=tuple(_at(item, evaluation) for item in whole.items))


def _names(target: ast.expr) -> set[str]:
    return {node.id for node in walk([target]) if isinstance(node, ast.Name)}


def _bind(target: ast.expr, value: Value, variables: dict[str, Value]) -> bool:
    if isinstance(target, ast.Name):
        variables[target.id] = value
        return True
    if isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, Items) and len(value.items) == len(target.elts):
        return all(_bind(part, item, variables) for part, item in zip(target.elts, value.items, strict=True))
    return False


class _Evaluation(NamedTuple):
    """One call of a function, or one run of a comprehension."""

    source: Module
    """The module of the function or comprehension."""
    outer: ast.AST
    """The function or comprehension."""
    names: frozenset[str]
    """The parameters or variables, which have other values in each call or iteration."""
    node: ast.expr
    """The expression that gets the result."""
    module: Module
    """The module of `node`."""


def _moved(value: Value, evaluation: _Evaluation) -> Value:
    """The result of a function, with the call as its place."""
    if isinstance(value, Items):
        items = tuple(_at(item, evaluation) for item in value.items)
        return replace(value, items=items, node=evaluation.node, module=evaluation.module)
    if isinstance(value, Choice):
        return Unknown(evaluation.node, evaluation.module, "a function that makes one of several things")
    return _at(value, evaluation)


def _at(value: Value, evaluation: _Evaluation) -> Value:
    """The value of a call inside the function, with the outer call as its place.

    A fix of the inner call would change the results of all other calls too. Arguments that use a parameter get the same
    place; all others keep their own.
    """
    if not isinstance(value, CallValue) or not _inside(value, evaluation):
        return value
    if isinstance(value.func.definition, ast.FunctionDef):
        return value
    args = tuple(_argument_at(arg, evaluation) for arg in value.args)
    keywords = tuple((name, _argument_at(arg, evaluation)) for name, arg in value.keywords)
    return replace(value, node=evaluation.node, module=evaluation.module, args=args, keywords=keywords)


def _argument_at(value: Value, evaluation: _Evaluation) -> Value:
    if value.node is not None and _inside(value, evaluation):
        names = (node.id for node in walk([value.node]) if isinstance(node, ast.Name))
        if not evaluation.names.isdisjoint(names):
            return replace(value, node=evaluation.node, module=evaluation.module)
    return value


def _inside(value: Value, evaluation: _Evaluation) -> bool:
    line: int = getattr(value.node, "lineno", 0)
    first: int = getattr(evaluation.outer, "lineno", 0)
    last: int = getattr(evaluation.outer, "end_lineno", 0)
    return value.module is evaluation.source and first <= line <= last


__all__ = ["call_result", "comprehended"]
