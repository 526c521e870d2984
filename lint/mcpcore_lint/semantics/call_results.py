"""What functions of the project make of what they are given, where they do no more than return it; and comprehensions.

A contract may be made by a function, `errors=common(extra)`, and its entries by another one, `entry("gone", ...)`.
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
"""How many functions that make something of what another one makes are followed."""
MAX_STEPS: Final = 200
"""How many of them, and how many comprehensions, are followed for one question."""
MANY: Final = 64
"""How many rounds of a comprehension are looked at."""
_KEEPING: Final = frozenset({"cache", "lru_cache", "staticmethod"})
"""Decorators that leave what a function returns as it is."""
_PLAIN: Final = (ast.Assign, ast.AnnAssign, ast.Import, ast.ImportFrom)


def made(value: Value, resolver: Resolver) -> Value:
    """What a value is behind the functions of the project that return it; itself where that cannot be told."""
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
    """What a function returns for the arguments of one call; None where it does more than to return something."""
    if call.module is None or not isinstance(call.node, ast.Call):
        return None
    owner = call.module.project.module_defining(function)
    if owner is None or not all(_keeps(each) for each in function.decorator_list):
        return None
    owner.complete(function)
    body = function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body
    if not body or not isinstance(body[-1], ast.Return) or body[-1].value is None:
        return None
    if not all(isinstance(each, _PLAIN) for each in body[:-1]):
        return None
    if any(isinstance(each, (ast.Yield, ast.YieldFrom)) for each in own_nodes(function)):
        return None
    scope = owner.scope_of(function)
    if scope.owner is not None:
        return None
    given = _given(call, function, owner, scope, resolver)
    if given is None:
        return None
    with resolver.within(scope, given):
        value = resolver.expression(body[-1].value, scope)
    return _moved(value, _Made(owner, function, frozenset(given), call.node.func, call.module))


def _keeps(decorator: ast.expr) -> bool:
    target = decorator.func if isinstance(decorator, ast.Call) else decorator
    return (target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")) in _KEEPING


def _given(
    call: CallValue, function: ast.FunctionDef, owner: Module, scope: Scope, resolver: Resolver
) -> dict[str, Value] | None:
    """What each parameter is in one call; None where that cannot be seen."""
    if not call.complete:
        return None
    args = function.args
    positional = [*args.posonlyargs, *args.args]
    found: dict[str, Value] = {each.arg: value for each, value in zip(positional, call.args, strict=False)}
    names = {each.arg for each in (*args.args, *args.kwonlyargs)}
    rest: list[tuple[Value, Value]] = []
    for name, value in call.keywords:
        if name in names:
            found[name] = value
        else:
            rest.append((Const(call.node, call.module, name), value))
    if args.vararg is not None:
        found[args.vararg.arg] = Items(call.node, call.module, "tuple", call.args[len(positional) :])
    elif len(call.args) > len(positional):
        return None
    if args.kwarg is not None:
        found[args.kwarg.arg] = Mapping(call.node, call.module, tuple(rest))
    elif rest:
        return None
    outside = scope.parent or owner.scope
    defaults = [*zip(positional[len(positional) - len(args.defaults) :], args.defaults, strict=True)]
    defaults += [(arg, each) for arg, each in zip(args.kwonlyargs, args.kw_defaults, strict=True) if each is not None]
    for arg, default in defaults:
        if arg.arg not in found:
            found[arg.arg] = resolver.expression(default, outside)
    return found


def comprehended(node: ast.ListComp | ast.GeneratorExp | ast.SetComp, scope: Scope, resolver: Resolver) -> Value | None:
    """The items of a comprehension over what is known; None where some cannot be told."""
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
        items: tuple[Value, ...] = tuple(Items(over, scope.module, "tuple", each) for each in source.items)
    elif isinstance(source, Mapping) and source.complete:
        items = tuple(key for key, _ in source.items)
    elif isinstance(source, Items) and source.complete and source.kind != "set":
        items = source.items
    else:
        return None
    if len(items) > MANY:
        return None
    found: list[Value] = []
    for each in items:
        given: dict[str, Value] = {}
        if not _bind(generator.target, each, given):
            return None
        with resolver.within(scope, given):
            found.append(resolver.expression(node.elt, scope))
    kind = "set" if isinstance(node, ast.SetComp) else "list"
    whole = Items(node, scope.module, kind, tuple(found))  # type: ignore[arg-type]
    place = _Made(scope.module, node, frozenset(_names(generator.target)), node, scope.module)
    return replace(whole, items=tuple(_at(each, place) for each in whole.items))


def _names(target: ast.expr) -> set[str]:
    return {each.id for each in walk([target]) if isinstance(each, ast.Name)}


def _bind(target: ast.expr, value: Value, given: dict[str, Value]) -> bool:
    if isinstance(target, ast.Name):
        given[target.id] = value
        return True
    if isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, Items) and len(value.items) == len(target.elts):
        return all(_bind(each, one, given) for each, one in zip(target.elts, value.items, strict=True))
    return False


class _Made(NamedTuple):
    """Where something is made, by what names it differs from time to time, and where it is asked for."""

    where: Module
    round_it: ast.AST
    names: frozenset[str]
    node: ast.expr
    module: Module


def _moved(value: Value, place: _Made) -> Value:
    """A value that a function makes, as something that stands where the function is called."""
    if isinstance(value, Items):
        return replace(
            value, items=tuple(_at(each, place) for each in value.items), node=place.node, module=place.module
        )
    if isinstance(value, Choice):
        return Unknown(place.node, place.module, "a function that makes one of several things")
    return _at(value, place)


def _at(value: Value, place: _Made) -> Value:
    """A call that made something anew each time stands where that was asked for: no fix may change it for one.

    So do those of its arguments that differ; the others stand where they are written, once for all.
    """
    if not isinstance(value, CallValue) or not _inside(value, place):
        return value
    if isinstance(value.func.definition, ast.FunctionDef):
        return value
    args = tuple(_differing(each, place) for each in value.args)
    keywords = tuple((name, _differing(each, place)) for name, each in value.keywords)
    return replace(value, node=place.node, module=place.module, args=args, keywords=keywords)


def _differing(value: Value, place: _Made) -> Value:
    if value.node is not None and _inside(value, place):
        names = (each.id for each in walk([value.node]) if isinstance(each, ast.Name))
        if not place.names.isdisjoint(names):
            return replace(value, node=place.node, module=place.module)
    return value


def _inside(value: Value, place: _Made) -> bool:
    line: int = getattr(value.node, "lineno", 0)
    outer = place.round_it
    first: int = getattr(outer, "lineno", 0)
    last: int = getattr(outer, "end_lineno", 0)
    return value.module is place.where and first <= line <= last


__all__ = ["comprehended", "made"]
