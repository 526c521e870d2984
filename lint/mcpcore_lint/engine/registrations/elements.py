"""The items of lists, the entries of tables, and the rounds of the loops that go through them."""

from __future__ import annotations

import ast
import re
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeAlias

from mcpcore_lint.engine.registrations.collecting import Function as Definition
from mcpcore_lint.engine.registrations.collecting import collector_of
from mcpcore_lint.engine.registrations.conditions import Conditions
from mcpcore_lint.engine.registrations.environment import (
    DEEP,
    Env,
    Frame,
    Function,
    Placed,
    assignments_of,
    bind,
    callee_frame,
    read_again,
    returned,
    substitute,
    written_scope,
)
from mcpcore_lint.engine.registrations.members import Members
from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.syntax.parse import alternatives, children, own_nodes, statements, walk
from mcpcore_lint.model import Symbol
from mcpcore_lint.names import BUILTIN_NAMES
from mcpcore_lint.patterns import regex

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore_lint.engine.registrations.functions import Functions
    from mcpcore_lint.engine.syntax.scopes import Scope

Loop: TypeAlias = "ast.For | ast.AsyncFor | ast.comprehension"
Pair: TypeAlias = "tuple[ast.expr, ast.expr, Scope]"
"""A key and a value of a table, and the scope of both."""

_LOOPS: Final = (ast.For, ast.AsyncFor, ast.comprehension)
MANY: Final = 600
"""How many items of a list, or rounds of a loop, are followed."""
_APPENDING: Final = ("append", "add", "insert")
_EXTENDING: Final = ("extend", "update")
_SAME_ITEMS: Final = frozenset({"list", "tuple", "set", "frozenset", "sorted", "reversed", "iter"})
"""Builtins that return the items of their argument."""
_VIEWS: Final = frozenset({"values", "items", "keys"})


class Elements:
    """Follows lists, tables and loops, for the registrations of one file."""

    def __init__(self, functions: Functions) -> None:
        self.functions = functions
        self.members = Members(functions)
        self.conditions = Conditions(functions, self.members.text)
        self._active: list[Loop] = []

    # -- lists -------------------------------------------------------------------------------------------------------

    def of(self, node: ast.expr, scope: Scope, depth: int = 0) -> list[Placed]:
        """The items of an iterable, as far as they are known."""
        if depth > 2 * DEEP or self.functions.too_many_steps():
            return []
        return list(islice(self._items(node, scope, depth + 1), MANY))

    def _items(self, node: ast.expr, scope: Scope, depth: int) -> Iterator[Placed]:
        match node:
            case ast.List() | ast.Tuple() | ast.Set():
                for item in node.elts:
                    if isinstance(item, ast.Starred):
                        yield from self.of(item.value, scope, depth)
                    else:
                        yield item, scope
            case ast.Dict():
                yield from ((key, where) for key, _, where in self.pairs(node, scope, depth))
            case ast.BinOp(op=ast.Add() | ast.BitOr()):
                yield from self.of(node.left, scope, depth)
                yield from self.of(node.right, scope, depth)
            case ast.IfExp() | ast.BoolOp():
                for alternative in alternatives(node):
                    yield from self.of(alternative, scope, depth)
            case ast.ListComp() | ast.GeneratorExp() | ast.SetComp():
                for frame in self.rounds(node.elt, scope):
                    yield substitute(node.elt, frame)
            case ast.Call():
                yield from self._returned(node, scope, depth)
            case ast.Name() | ast.Attribute() | ast.Subscript():
                yield from self._named(node, scope, depth)

    def _named(self, node: ast.Name | ast.Attribute | ast.Subscript, scope: Scope, depth: int) -> Iterator[Placed]:
        for placed in self._sources(node, scope):
            yield from self.of(*placed, depth)
        if isinstance(node, ast.Subscript):
            # `GROUPS[name]`: all groups if the name is not known, unless calls give it
            place = scope.lookup(node.slice.id) if isinstance(node.slice, ast.Name) else None
            given_by_calls = place is not None and place[1][0].kind == "parameter"
            wanted = self.members.text(node.slice, scope)
            for key, value, where in () if given_by_calls else self.pairs(node.value, scope, depth):
                if wanted is None or self.members.text(key, where) in {None, wanted}:
                    yield from self.of(value, where, depth)
        if isinstance(node, ast.Name) and scope.module.changes_in_place(node.id):
            yield from self._appended(node.id, scope, depth)

    def _sources(self, node: ast.expr, scope: Scope) -> list[Placed]:
        """Where the value of a name comes from: a loop or an argument, another file, or the assignments here."""
        seen = substitute(node, scope)
        return [seen] if seen[0] is not node else self.members.home(node, scope) or assignments_of(node, scope)

    def _appended(self, name: str, scope: Scope, depth: int) -> Iterator[Placed]:
        """The items that are added to a list or a set: `x.append(fn)`, `x.extend([...])`, `x += [...]`."""
        place = scope.lookup(name)
        if place is None:
            return
        home = place[0]
        methods = (*_APPENDING, *_EXTENDING)
        appending = {f"{name}.{method}" for method in _APPENDING}
        for call, where in home.module.calls_near(*(f"{name}.{method}(" for method in methods)):
            func = call.func
            match = where.lookup(name)
            if not call.args or match is None or match[0] is not written_scope(home):
                continue
            if not isinstance(func, ast.Attribute) or not isinstance(func.value, ast.Name) or func.value.id != name:
                continue
            item = call.args[-1]
            # A function may fill a list with its arguments, or with what it decorates.
            inside = scope if written_scope(scope) is where else where
            yield from self._decorated(item, inside)
            for frame in self.rounds(call, inside, item):
                if func.attr in _EXTENDING:
                    yield from self.of(item, frame, depth)
                else:
                    yield substitute(item, frame)
        for function, inner in list(home.module.functions.items()):
            if isinstance(function, ast.Lambda) or inner.parent is None:
                continue
            # `@tools.append`
            appends = any(ast.unparse(decorator) in appending for decorator in function.decorator_list)
            match = inner.parent.lookup(name) if appends else None
            if match is not None and match[0] is written_scope(home):
                yield ast.copy_location(ast.Name(function.name, ast.Load()), function), inner.parent
        for statement in statements(list(home.node.body)) if not isinstance(home.node, ast.Lambda) else ():
            if isinstance(statement, ast.AugAssign) and getattr(statement.target, "id", None) == name:
                yield from self.of(statement.value, home, depth)

    @staticmethod
    def _decorated(item: ast.expr, scope: Scope) -> Iterator[Placed]:
        """The functions of the project that a decorator adds to a list, if the item is the parameter of one."""
        names = {part.id for part in walk([item]) if isinstance(part, ast.Name)}
        places = {name: place for name in names if (place := scope.lookup(name)) is not None and place[0] is scope}
        name = next((name for name, place in places.items() if place[1][0].kind == "parameter"), None)
        if name is None or isinstance(scope, Frame):
            return
        # `def register(fn)`, or `def register(name)` with the decorator in it
        above = scope.parent
        outer = above.node if above is not None and not above.is_module else scope.node
        uses = regex(rf"^[ \t]*@[\w.]*\b{getattr(outer, 'name', '')}\b", re.MULTILINE)
        for module in scope.module.project.modules_with(scope.module, lambda text: uses.search(text) is not None) or ():
            for node, inner in module.functions.items():
                outside = inner.parent or module.scope
                for decorator in getattr(node, "decorator_list", ()):
                    maker = evaluate(decorator.func if isinstance(decorator, ast.Call) else decorator, outside)
                    made = isinstance(maker, Symbol) and maker.definition is outer
                    # A decorator that is known to make tools has made one already.
                    if made and isinstance(outer, Definition) and not collector_of(outer, scope.module, module):
                        function = ast.copy_location(ast.Name(getattr(node, "name", ""), ast.Load()), node)
                        yield substitute(item, Frame(scope, {name: (function, outside)}))

    def _returned(self, node: ast.Call, scope: Scope, depth: int) -> Iterator[Placed]:
        """The items of what a call returns."""
        func = node.func
        if isinstance(func, ast.Attribute) and func.attr in _VIEWS and not node.args:
            for key, value, where in self.pairs(func.value, scope, depth):
                pair = ast.copy_location(ast.Tuple([key, value], ast.Load()), value)
                yield {"values": value, "items": pair, "keys": key}[func.attr], where
            return
        inside = callee_frame(node, scope)
        symbol = evaluate(func, scope)
        name = symbol.name if isinstance(symbol, Symbol) else ""
        last = name.rpartition(".")[2]
        if inside is not None:
            # The members of an object are mostly those of the subclasses.
            if depth <= DEEP and (name or not goes_through_members(inside[0])):
                yield from self._yielded(*inside, depth)
        elif last in _SAME_ITEMS and node.args:
            yield from self.of(node.args[0], scope, depth)
        elif name == "builtins.filter" and len(node.args) == 2:
            for item in self.of(node.args[1], scope, depth):
                if self.conditions.accepts(node.args[0], scope, item) is not False:
                    yield item
        elif name == "builtins.enumerate" and node.args:
            for counted, where in self.of(node.args[0], scope, depth):
                number = ast.copy_location(ast.Name("_", ast.Load()), counted)
                yield ast.copy_location(ast.Tuple([number, counted], ast.Load()), counted), where
        elif name == "builtins.getattr" and len(node.args) > 1:
            for member, where in self.members.named_members(node.args[0], node.args[1], scope):
                yield from self.of(member, where, depth)
        elif last == "dir" and node.args:
            yield from ((key, where) for key, _, where in self.members.of(node.args[0], scope))
        elif last in {"getmembers", "getmembers_static"} and node.args:
            wanted = node.args[1:] or [keyword.value for keyword in node.keywords if keyword.arg == "predicate"]
            for key, value, where in self.members.of(node.args[0], scope):
                if not wanted or self.conditions.accepts(wanted[0], scope, (value, where)) is not False:
                    yield ast.copy_location(ast.Tuple([key, value], ast.Load()), node), where

    def _yielded(self, function: Function, frame: Frame, depth: int) -> Iterator[Placed]:
        """The items that a function of the project returns or yields: its own, or its arguments."""
        for node in own_nodes(function):
            if isinstance(node, (ast.Return, ast.YieldFrom)) and node.value is not None:
                yield from self.of(node.value, frame, depth)
            elif isinstance(node, ast.Yield) and node.value is not None:
                for inner in self.rounds(node, frame, node.value):
                    yield substitute(node.value, inner)

    # -- tables ------------------------------------------------------------------------------------------------------

    def pairs(self, node: ast.expr, scope: Scope, depth: int = 0) -> Iterator[Pair]:
        """The keys and values of a table."""
        if depth > 2 * DEEP or self.functions.too_many_steps():
            return
        deeper = depth + 1
        match node:
            case ast.Dict():
                for key, value in zip(node.keys, node.values, strict=True):
                    if key is None:
                        yield from self.pairs(value, scope, deeper)
                    else:
                        yield key, value, scope
            case ast.DictComp():
                for frame in self.rounds(node.value, scope):
                    yield node.key, node.value, frame
            case ast.Call(func=ast.Name(id="dict" | "sorted"), args=arguments, keywords=keywords):
                for argument in arguments:
                    yield from self.pairs(argument, scope, deeper)
                for keyword in keywords:
                    if keyword.arg is not None:
                        yield ast.copy_location(ast.Constant(keyword.arg), keyword.value), keyword.value, scope
            case ast.Call() | ast.Attribute() if self.members.holder(node) is not None:
                yield from self.members.of(node, scope)
            case ast.Call():
                function, frame = callee_frame(node, scope) or (None, scope)
                for value in returned(function) if function is not None else ():
                    yield from self.pairs(value, frame, deeper)
            case ast.Name() | ast.Attribute():
                for placed in self._sources(node, scope):
                    yield from self.pairs(*placed, deeper)
                if isinstance(node, ast.Name) and scope.module.changes_in_place(node.id):
                    yield from self._filled(node.id, scope, deeper)

    def _filled(self, name: str, scope: Scope, depth: int) -> Iterator[Pair]:
        """The entries that are added to a table: `x[key] = fn`, `x.update(...)`, `x.setdefault(key, []).append(fn)`."""
        place = scope.lookup(name)
        if place is None or isinstance(place[0].node, ast.Lambda):
            return
        home = scope if written_scope(scope) is place[0] else place[0]
        yield from self._filled_by_decorators(name, place[0])
        for statement in statements([*place[0].node.body]):
            match statement:
                case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=table), attr="update"), args=[more])):
                    for frame in self.rounds(more, home) if table == name else ():
                        yield from self.pairs(more, frame, depth)
                    continue
                case ast.Assign(targets=[ast.Subscript() as entry], value=value):
                    holder, key = entry.value, entry.slice
                case ast.Expr(value=ast.Call(func=ast.Attribute(value=entry, attr="append"), args=[item])):
                    value = ast.copy_location(ast.List([item], ast.Load()), item)
                    match entry:
                        case ast.Subscript(value=holder, slice=key):
                            pass
                        case ast.Call(func=ast.Attribute(value=holder, attr="setdefault"), args=[key, *_]):
                            pass
                        case _:
                            continue
                case ast.Expr(value=ast.Call(func=ast.Attribute(value=holder, attr="setdefault"), args=[key, value])):
                    pass
                case _:
                    continue
            if isinstance(holder, ast.Name) and holder.id == name:
                pair = ast.copy_location(ast.Tuple([key, value], ast.Load()), value)
                yield from ((key, value, frame) for frame in self.rounds(key, home, pair))

    def _filled_by_decorators(self, name: str, home: Scope) -> Iterator[Pair]:
        """The entries that a decorator of the project adds to a table for what it decorates: `x[key] = fn`."""
        for node, scope in list(home.module.functions.items()) if f" {name}[" in home.module.source.text else ():
            for statement in statements(list(node.body)) if not isinstance(node, ast.Lambda) else ():
                match statement:
                    case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=table), slice=key)], value=value):
                        entry = ast.copy_location(ast.Tuple([key, value], ast.Load()), value)
                        frames = self._decorated(entry, scope) if table == name else ()
                        yield from ((key, value, frame) for _, frame in frames)

    # -- loops -------------------------------------------------------------------------------------------------------

    def rounds(self, node: ast.expr, scope: Scope, about: ast.expr | None = None) -> list[Scope]:
        """The scopes to read an expression in: one for each round of the loops around it that it depends on.

        The scope itself if there is no such loop, or if the items of the loop are not known.

        Args:
            node: The expression.
            scope: The scope that it is written in.
            about: The part of it whose names decide which loops count; by default the whole expression.
        """
        frames: list[Scope] = [scope]
        for loop in self._loops(node, about if about is not None else node, scope):
            if loop in self._active:
                return []  # a list that is made of itself
            if not self._active:
                self.functions.steps = 0
            self._active.append(loop)
            try:
                frames = list(islice((inner for frame in frames for inner in self._frames(loop, node, frame)), MANY))
            finally:
                self._active.pop()
        return frames

    def _frames(self, loop: Loop, node: ast.expr, scope: Scope) -> Iterator[Scope]:
        items = self.of(loop.iter, scope)
        if not items:
            # The items are not known, but a target that does not depend on them still is.
            yield scope
        for item in items:
            if len(self._active) == 1:
                self.functions.steps = 0
            env: Env = {}
            bind(loop.target, item, env)
            frame = Frame(scope, env)
            if isinstance(loop, ast.comprehension):
                tests = [(test, True) for test in loop.ifs]
            else:
                frame = read_again(frame, loop.body)
                tests = _guards(loop, node, scope)
            results = [(self.conditions.holds(test, frame), wanted) for test, wanted in tests]
            if any(result is not None and result is not wanted for result, wanted in results):
                continue
            # A private member under an unknown condition is rather a helper than a tool.
            unknown = any(result is None for result, _ in results)
            if not (unknown and _is_private(item[0]) and goes_through_members(loop.iter)):
                yield frame

    def _loops(self, node: ast.expr, about: ast.expr, scope: Scope) -> list[Loop]:
        """The loops around an expression whose variables a part of it depends on, the outermost first."""
        names = _names_behind(about, scope)
        text = scope.module.source.line(node.lineno)
        if " for " not in text and not any(_may_vary(name, scope) for name in names):
            return []  # the parents of all nodes cost a walk over the file
        parents = scope.module.parents
        loops: list[Loop] = []
        inner: ast.AST = node
        current = parents.get(node)
        while current is not None and not isinstance(current, (ast.FunctionDef, ast.AsyncFunctionDef)):
            around: list[Loop] = []
            if isinstance(current, (ast.For, ast.AsyncFor)):
                around = [current] if inner is not current.iter else []
            elif isinstance(current, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
                around = [*reversed(current.generators)] if not isinstance(inner, ast.comprehension) else []
            for loop in around:
                if any(isinstance(name, ast.Name) and name.id in names for name in walk([loop.target])):
                    loops.append(loop)
                    names |= _names_behind(loop.iter, scope)
            inner, current = current, parents.get(current)
        loops.reverse()
        return loops


def _guards(loop: ast.For | ast.AsyncFor, node: ast.AST, scope: Scope) -> list[tuple[ast.expr, bool]]:
    """The conditions under which a loop reaches an expression in its body, each with the result that it needs."""
    parents = scope.module.parents
    guards: list[tuple[ast.expr, bool]] = []
    current: ast.AST = node
    while current is not loop:
        above = parents[current]
        if isinstance(above, ast.If) and current is not above.test:
            guards.append((above.test, current in above.body))
        for block in ("body", "orelse", "finalbody"):
            below = getattr(above, block, None)
            if isinstance(below, list) and current in below:
                guards += [
                    (statement.test, False)
                    for statement in below[: below.index(current)]
                    if isinstance(statement, ast.If)
                    and not statement.orelse
                    and isinstance(statement.body[-1], ast.Continue)
                ]
        current = above
    return guards


def goes_through_members(node: ast.AST) -> bool:
    """Whether a loop or a function goes through all members of a module or an object."""
    nodes = walk([node])
    words = {part.id for part in nodes if isinstance(part, ast.Name)}
    words |= {part.attr for part in nodes if isinstance(part, ast.Attribute)}
    return not words.isdisjoint({"dir", "vars", "globals", "__dict__", "getmembers", "getmembers_static"})


def _is_private(item: ast.expr) -> bool:
    first = item.elts[0] if isinstance(item, ast.Tuple) and item.elts else item
    name = first.id if isinstance(first, ast.Name) else first.value if isinstance(first, ast.Constant) else ""
    return isinstance(name, str) and name.startswith("_")


def _may_vary(name: str, scope: Scope) -> bool:
    """Whether a name may be the variable of a loop or of a comprehension, which has its own names."""
    place = scope.lookup(name)
    if place is None:
        return name not in BUILTIN_NAMES
    return any(isinstance(binding.node, _LOOPS) for binding in place[1])


def _names_behind(node: ast.expr, scope: Scope) -> set[str]:
    """The names in an expression, and those in the values of the function's own names."""
    names: set[str] = set()
    stack: list[ast.AST] = [node]
    while stack:
        current = stack.pop()
        if isinstance(current, ast.Name) and current.id not in names:
            names.add(current.id)
            place = scope.lookup(current.id)
            if place is not None and place[0].node is scope.node:
                stack += [binding.value for binding in place[1] if binding.value is not None and binding.kind != "with"]
                stack += [binding.node.value for binding in place[1] if isinstance(binding.node, ast.Assign)]
                # A function at the top of a file is in no loop, so that no variable of a loop is in it.
                inner = [binding.node for binding in place[1] if binding.kind == "function"]
                stack += [part for part in inner if not scope.is_module or getattr(part, "col_offset", 0) > 0]
        stack += children(current)
    return names
