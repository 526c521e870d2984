"""Where the project calls one of its functions: by name, as a decorator, as a method, and under another name.

A function that keeps its argument, in a list or in an object, says nothing of what is kept. Its callers do.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set as AbstractSet
from functools import partial
from typing import Final, TypeAlias

from mcpcore_lint.engine.registrations.collecting import Function as Definition, collector_of
from mcpcore_lint.engine.registrations.environment import Called, functions_run, written_scope
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.parse import walk
from mcpcore_lint.engine.syntax.scopes import Scope

_RENAMES: Final = 2
"""How often a function may get another name: `tool, register = make()`, and a name imported `as` another."""
_KEEP_NOTHING: Final = frozenset({"staticmethod", "classmethod", "abstractmethod", "abc.abstractmethod"})


Caller: TypeAlias = "tuple[Called, ast.Call, Scope]"


def callers_of(scope: Scope) -> list[Caller] | None:
    """The calls of a function in the project, each with its scope.

    A decorator counts as a call with what it decorates. None if the project has too many files to search.
    """
    home = written_scope(scope)
    memo, key = home.module.memo, ("callers", home.node)
    if key not in memo:
        memo[key] = []  # a function that leads back to itself has no further callers
        names = _names(home)
        candidates: list[tuple[ast.Call, Scope]] | None = None
        for _ in range(_RENAMES):
            modules = home.module.project.modules_with(home.module, partial(_mentioned, names))
            if modules is None:
                candidates = None
                break
            more = {name for module in modules for name in _aliases(module, names)} - names
            candidates = [placed for module in modules for placed in _calls_of(module, names | more)]
            names |= more
            if not more:
                break
        memo[key] = candidates and [caller for call in candidates for caller in _calling(home, *call)]
    known: list[Caller] | None = memo[key]
    return known


def all_callers_of(scope: Scope) -> list[Caller]:
    """The calls of a function that nothing else runs: the project names it nowhere else, and no decorator keeps it."""
    home = written_scope(scope)
    known, name, memo = callers_of(home) or [], getattr(home.node, "name", ""), home.module.memo
    if (key := ("all callers", home.node)) not in memo:
        kept = not _KEEP_NOTHING.issuperset(map(ast.unparse, getattr(home.node, "decorator_list", ())))
        modules = home.module.project.modules_with(home.module, partial(_mentioned, {name})) if known else None
        uses = {part for module in modules or () for part in _uses(module).get(name, ())}
        memo[key] = bool(uses) and not kept and uses <= {call.func for _, call, _ in known}
    return known if memo[key] else []


def _uses(module: Module) -> dict[str, list[ast.AST]]:
    """Where a file has each name and each attribute, with the imports that give it another name."""
    if "uses" not in module.memo:
        uses: dict[str, list[ast.AST]] = {}
        for part in walk([module.tree]):
            for alias in part.names if isinstance(part, ast.ImportFrom) else ():
                uses.setdefault(alias.name, []).extend([alias] * (alias.asname is not None))
            if isinstance(part, (ast.Name, ast.Attribute)):
                uses.setdefault(part.id if isinstance(part, ast.Name) else part.attr, []).append(part)
        module.memo["uses"] = uses
    known: dict[str, list[ast.AST]] = module.memo["uses"]
    return known


def is_renamed(nodes: list[ast.AST], name: str) -> bool:
    """Whether an import gives another name to a name."""
    imports = [node for node in nodes if isinstance(node, ast.ImportFrom)]
    return any(alias.name == name and alias.asname for node in imports for alias in node.names)


def _names(home: Scope) -> set[str]:
    """The names under which a function may be called: its own, or that of the class or of the function around it."""
    names: set[str] = set()
    scope: Scope | None = home
    while scope is not None and not isinstance(scope.node, (ast.Module, ast.Lambda)):
        names.add(scope.node.name)
        if scope.owner is not None and scope.node.name in {"__init__", "__call__"}:
            names.add(scope.owner.name)
        scope = scope.parent
    return names - {"__init__", "__call__"}


def _mentioned(names: AbstractSet[str], text: str) -> bool:
    return any(name in text for name in names)


def _aliases(module: Module, names: AbstractSet[str]) -> Iterator[str]:
    """The names that a file gives to what a call of some names returns."""
    for name, bindings in module.scope.bindings.items():
        for binding in bindings:
            value = binding.value or getattr(binding.node, "value", None)
            if binding.kind in {"assign", "annotated", "opaque"} and isinstance(value, ast.expr):
                func = value.func if isinstance(value, ast.Call) else value
                if _mentions(func, names):
                    yield name
            elif binding.target is not None and binding.target[1] in names:
                yield name


def _mentions(node: ast.expr, names: AbstractSet[str]) -> bool:
    return any(getattr(part, "id", getattr(part, "attr", "")) in names for part in walk([node]))


def _calls_of(module: Module, names: AbstractSet[str]) -> Iterator[tuple[ast.Call, Scope]]:
    """The calls and the decorators of a file whose functions have some of the names."""
    for call, scope in module.calls_near(*(f"{name}(" for name in sorted(names))):
        if _mentions(call.func, names):
            yield call, scope
    for node, inner in list(module.functions.items()):
        for decorator in getattr(node, "decorator_list", ()):
            if _mentions(decorator, names):
                outside = inner.parent or module.scope
                name = ast.copy_location(ast.Name(getattr(node, "name", ""), ast.Load()), node)
                yield ast.copy_location(ast.Call(decorator, [name], []), decorator), outside
    for info in module.classes.values():
        for decorator in info.node.decorator_list:
            name = ast.copy_location(ast.Name(info.node.name, ast.Load()), info.node)
            yield ast.copy_location(ast.Call(decorator, [name], []), decorator), module.scope


def _calling(home: Scope, call: ast.Call, scope: Scope) -> Iterator[Caller]:
    """A call, if it runs the function. A call of itself passes on what another call gave it."""
    inside: Scope | None = scope
    while inside is not None:
        if inside.node is home.node:
            return
        inside = inside.parent
    for called in functions_run(call, scope):
        # A decorator that is known to make tools has made one already.
        if called.function is home.node and not (is_decorator(call) and _makes_tools(home, scope.module)):
            yield called, call, scope


def is_unused(scope: Scope) -> bool:
    """Whether the project has the name of a function only where it defines it."""
    home = written_scope(scope)
    name = getattr(home.node, "name", "")
    modules = home.module.project.modules_with(home.module, lambda text: name in text) if name else None
    return modules is not None and sum(module.source.text.count(name) for module in modules) == 1


def is_decorator(call: ast.Call) -> bool:
    """Whether a call is made up for a decorator: it has no parentheses, so it ends where its function ends."""
    return (call.end_lineno, call.end_col_offset) == (call.func.end_lineno, call.func.end_col_offset)


def _makes_tools(home: Scope, asking: Module) -> bool:
    outer = home
    while outer.parent is not None and not outer.parent.is_module:
        outer = outer.parent
    return isinstance(outer.node, Definition) and collector_of(outer.node, home.module, asking) is not None
