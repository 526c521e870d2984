"""The items that going through an expression gives: of lists, tables, comprehensions, modules and functions."""

from __future__ import annotations

import ast
from itertools import islice
from typing import TYPE_CHECKING, Final

from mcpcore_lint.model import Symbol
from mcpcore_lint.registrations.bindings import DEEP, bound, see
from mcpcore_lint.registrations.callers import method_called
from mcpcore_lint.registrations.frames import Frame, called_frame, written_scope
from mcpcore_lint.registrations.loops import Loops, goes_through_members
from mcpcore_lint.registrations.members import Members
from mcpcore_lint.semantics.evaluate import evaluate
from mcpcore_lint.syntax.parse import alternatives, own_nodes, statements

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore_lint.registrations.frames import Placed
    from mcpcore_lint.registrations.handlers import Targets
    from mcpcore_lint.syntax.scopes import Scope

MANY: Final = 300
"""How many items of a list are looked at."""
_PUTTING: Final = ("append", "add", "insert")
_JOINING: Final = ("extend", "update")
_SAME_ITEMS: Final = frozenset({"list", "tuple", "set", "frozenset", "sorted", "reversed", "iter"})
"""Builtins that give back the items of what they are given."""


class Items:
    """Finds them, for one file."""

    def __init__(self, targets: Targets) -> None:
        self.targets = targets
        self.members = Members(targets)
        self.loops = Loops(targets)
        self._certain = False
        """Whether items that are only put in under some condition are left out."""

    def elements(self, node: ast.expr, scope: Scope, depth: int = 0) -> list[Placed]:
        """The items that going through an expression gives, as far as they can be seen."""
        if depth > 2 * DEEP or self.targets.too_much():
            return []
        return list(islice(self._elements(node, scope, depth), MANY))

    def certain(self, node: ast.expr, scope: Scope) -> list[Placed]:
        """The items that are there whatever the conditions are under which others are put in."""
        before, self._certain = self._certain, True
        try:
            return self.elements(node, scope)
        finally:
            self._certain = before

    def _elements(self, node: ast.expr, scope: Scope, depth: int) -> Iterator[Placed]:
        deeper = depth + 1
        match node:
            case ast.List() | ast.Tuple() | ast.Set():
                for each in node.elts:
                    if isinstance(each, ast.Starred):
                        yield from self.elements(each.value, scope, deeper)
                    else:
                        yield each, scope
            case ast.Dict():
                yield from ((key, where) for key, _, where in self._pairs(node, scope, deeper))
            case ast.BinOp(op=ast.Add()):
                for each in _added(node):
                    yield from self.elements(each, scope, deeper)
            case ast.BinOp(op=ast.BitOr() | ast.Sub() | ast.BitAnd()):
                yield from self.elements(node.left, scope, deeper)
                if isinstance(node.op, ast.BitOr):
                    yield from self.elements(node.right, scope, deeper)
            case ast.IfExp() | ast.BoolOp():
                for each in alternatives(node):
                    yield from self.elements(each, scope, deeper)
            case ast.ListComp() | ast.GeneratorExp() | ast.SetComp():
                for frame in self.loops.rounds(node.elt, scope):
                    yield self._made_of(node.elt, frame)
            case ast.Call():
                yield from self._called(node, scope, deeper)
            case ast.Subscript(slice=ast.Slice()):
                yield from self.elements(node.value, scope, deeper)
            case ast.Name() | ast.Attribute() | ast.Subscript():
                yield from self._named(node, scope, deeper)

    def _named(self, node: ast.Name | ast.Attribute | ast.Subscript, scope: Scope, depth: int) -> Iterator[Placed]:
        if isinstance(scope, Frame):
            seen = see(node, scope, scope.filled)
            if seen[0] is not node:
                yield from self.elements(*seen, depth)
                return
        if isinstance(node, ast.Attribute) and node.attr == "__dict__":
            yield from ((self.members.named(name, node), where) for name, (_, where) in self.members.of(node, scope))
            return
        home = self.members.home(node, scope)
        if home is not None:
            # What is put into a list later is seen in the file that the list is of.
            yield from self.elements(*home, depth)
            return
        for each, where in bound(node, scope):
            yield from self.elements(each, where, depth)
        if isinstance(node, ast.Name):
            yield from self._unpacked(node, scope, depth)
            if scope.module.changes_in_place(node.id):
                yield from self._put_in(node.id, scope, depth)

    def _made_of(self, node: ast.expr, scope: Scope) -> Placed:
        """An item of a comprehension: `fn`, `wrap(fn) if risky else fn`, `Record.of(spec)`."""
        filled = scope.filled if isinstance(scope, Frame) else {}
        if isinstance(node, ast.IfExp):
            for each in (node.body, node.orelse):
                if isinstance(each, ast.Name) and each.id in filled:
                    return filled[each.id]
        if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
            only = node.args[0]
            if isinstance(only, ast.Name) and only.id in filled and isinstance(node.func, ast.Attribute):
                # A record that is made of another one by a class method.
                symbol = evaluate(node.func.value, scope)
                if isinstance(symbol, Symbol) and isinstance(symbol.definition, ast.ClassDef):
                    return filled[only.id]
        return see(node, scope, filled)

    def _put_in(self, name: str, scope: Scope, depth: int) -> Iterator[Placed]:
        """What is put into a list or a set once it is made: `x.append(fn)`, `x.extend([...])`, `x += [...]`."""
        place = scope.lookup(name)
        if place is None:
            return
        home = place[0]
        for call, where in home.module.calls_near(*(f"{name}.{method}(" for method in (*_PUTTING, *_JOINING))):
            func = call.func
            if not isinstance(func, ast.Attribute) or not isinstance(func.value, ast.Name) or func.value.id != name:
                continue
            match = where.lookup(name)
            if not call.args or match is None or match[0] is not written_scope(home):
                continue
            if self._certain and home.module.parents.get(home.module.parents[call]) is not home.node:
                continue
            item = call.args[-1]
            # A list that a function fills by what it is given.
            inside = scope if written_scope(scope) is where else where
            for frame in self.loops.rounds(call, inside, item):
                if func.attr in _JOINING:
                    yield from self.elements(item, frame, depth)
                elif isinstance(frame, Frame) or self.targets.behind(item, where) or not isinstance(item, ast.Name):
                    yield see(item, frame, frame.filled if isinstance(frame, Frame) else {})
        for each in statements(list(home.node.body)) if not isinstance(home.node, ast.Lambda) else ():
            if isinstance(each, ast.AugAssign) and isinstance(each.target, ast.Name) and each.target.id == name:
                yield from self.elements(each.value, home, depth)

    def _unpacked(self, node: ast.Name, scope: Scope, depth: int) -> Iterator[Placed]:
        """`tools, rest = prepare()`, where a function of the project returns several things."""
        place = scope.lookup(node.id)
        for binding in place[1] if place is not None else ():
            statement = binding.node
            if place is None or not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
                continue
            for target in statement.targets:
                names = [each.id if isinstance(each, ast.Name) else "" for each in getattr(target, "elts", ())]
                symbol = evaluate(statement.value.func, place[0]) if node.id in names else None
                function = symbol.definition if isinstance(symbol, Symbol) else None
                if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    continue
                owner = scope.module.project.module_defining(function)
                for each in own_nodes(function) if owner is not None else ():
                    if (
                        owner is not None
                        and isinstance(each, ast.Return)
                        and isinstance(each.value, ast.Tuple)
                        and len(each.value.elts) == len(names)
                    ):
                        part = each.value.elts[names.index(node.id)]
                        yield from self.elements(part, owner.scope_of(function), depth)

    # -- calls -------------------------------------------------------------------------------------------------------

    def _called(self, node: ast.Call, scope: Scope, depth: int) -> Iterator[Placed]:
        func = node.func
        if isinstance(func, ast.Attribute) and func.attr in {"values", "items", "keys"} and not node.args:
            for key, value, where in self._pairs(func.value, scope, depth):
                pair = ast.copy_location(ast.Tuple([key, value], ast.Load()), value)
                yield {"values": value, "items": pair, "keys": key}[func.attr], where
            return
        if isinstance(func, ast.Attribute) and func.attr in {"copy", "union", "difference"} and not node.args:
            yield from self.elements(func.value, scope, depth)
            return
        symbol = evaluate(func, scope)
        if not isinstance(symbol, Symbol):
            method = method_called(func, scope) if isinstance(func, ast.Attribute) else None
            # What a method finds among the members of its object are mostly those of subclasses.
            if method is not None and not goes_through_members(method[0]):
                yield from self._handed_back(method[0], node, scope, depth)
            return
        last = symbol.name.rpartition(".")[2]
        if last in _SAME_ITEMS and node.args:
            yield from self.elements(node.args[0], scope, depth)
        elif symbol.name == "builtins.filter" and len(node.args) == 2:
            for element in self.elements(node.args[1], scope, depth):
                if self.loops.filters.accepts(node.args[0], scope, element) is not False:
                    yield element
        elif symbol.name == "builtins.getattr" and len(node.args) > 1:
            for member, where in self.members.named_members(node.args[0], node.args[1], scope):
                yield from self.elements(member, where, depth)
        elif symbol.name in {"itertools.chain", "itertools.chain.from_iterable"}:
            for each in node.args:
                if last == "chain":
                    yield from self.elements(each, scope, depth)
                else:
                    for inner, where in self.elements(each, scope, depth):
                        yield from self.elements(inner, where, depth)
        elif symbol.name == "builtins.enumerate" and node.args:
            for item, where in self.elements(node.args[0], scope, depth):
                count = ast.copy_location(ast.Name("_", ast.Load()), item)
                yield ast.copy_location(ast.Tuple([count, item], ast.Load()), item), where
        elif symbol.name == "builtins.zip" and node.args:
            columns = [self.elements(each, scope, depth) for each in node.args]
            for row in zip(*columns, strict=False):
                if len({id(where) for _, where in row}) == 1:
                    items = [each for each, _ in row]
                    yield ast.copy_location(ast.Tuple(items, ast.Load()), items[0]), row[0][1]
        elif isinstance(symbol.definition, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from self._handed_back(symbol.definition, node, scope, depth)
        else:
            yield from self._of_module(symbol.name, node, scope)

    def _of_module(self, name: str, node: ast.Call, scope: Scope) -> Iterator[Placed]:
        """`dir(module)`, `inspect.getmembers(module, ...)`, `pkgutil.iter_modules(package.__path__)`."""
        if name == "builtins.dir" and node.args:
            for member, (_, where) in self.members.of(node.args[0], scope):
                yield self.members.named(member, node), where
        elif name in {"inspect.getmembers", "inspect.getmembers_static"} and node.args:
            wanted = node.args[1:] or [each.value for each in node.keywords if each.arg == "predicate"]
            for member, placed in self.members.of(node.args[0], scope):
                if wanted and self.loops.filters.accepts(wanted[0], scope, placed) is False:
                    continue
                pair = ast.Tuple([self.members.named(member, node), placed[0]], ast.Load())
                yield ast.copy_location(pair, node), placed[1]
        elif name in {"pkgutil.iter_modules", "pkgutil.walk_packages"}:
            for info in self.members.submodules(node, scope):
                yield info, scope

    def _handed_back(
        self, function: ast.FunctionDef | ast.AsyncFunctionDef, call: ast.Call, scope: Scope, depth: int
    ) -> Iterator[Placed]:
        """The items that a function of the project returns or yields: its own, or those that it is given."""
        frame = called_frame(function, call, scope)
        if frame is None or depth > DEEP:
            return
        for each in own_nodes(function):
            value = each.value if isinstance(each, (ast.Return, ast.Yield, ast.YieldFrom)) else None
            if value is not None and not isinstance(each, ast.Yield):
                yield from self.elements(value, frame, depth)
            elif isinstance(each, ast.Yield) and each.value is not None:
                for inner in self.loops.rounds(each, frame, each.value):
                    yield see(each.value, inner, inner.filled if isinstance(inner, Frame) else {})

    def _pairs(self, node: ast.expr, scope: Scope, depth: int) -> Iterator[tuple[ast.expr, ast.expr, Scope]]:
        """The keys and values of a table."""
        if depth > 2 * DEEP or self.targets.too_much():
            return
        deeper = depth + 1
        match node:
            case ast.Dict():
                for key, value in zip(node.keys, node.values, strict=True):
                    if key is None:
                        yield from self._pairs(value, scope, deeper)
                    else:
                        yield key, value, scope
            case ast.DictComp():
                for frame in self.loops.rounds(node.value, scope):
                    yield node.key, node.value, frame
            case ast.BinOp(op=ast.BitOr()):
                yield from self._pairs(node.left, scope, deeper)
                yield from self._pairs(node.right, scope, deeper)
            case ast.Call(func=ast.Name(id="dict" | "sorted"), args=arguments, keywords=keywords):
                for each in arguments:
                    yield from self._pairs(each, scope, deeper)
                for keyword in keywords:
                    if keyword.arg is not None:
                        yield ast.copy_location(ast.Constant(keyword.arg), keyword.value), keyword.value, scope
            case ast.Call(func=ast.Attribute(attr="copy", value=table), args=[]):
                yield from self._pairs(table, scope, deeper)
            case ast.Call():
                if self.members.holder(node) is not None:
                    for name, (value, where) in self.members.of(node, scope):
                        yield self.members.named(name, node), value, where
                    return
                symbol = evaluate(node.func, scope)
                function = symbol.definition if isinstance(symbol, Symbol) else None
                if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    inside = called_frame(function, node, scope)
                    for inner in own_nodes(function):
                        if isinstance(inner, ast.Return) and inner.value is not None and inside is not None:
                            yield from self._pairs(inner.value, inside, deeper)
            case ast.Attribute(attr="__dict__"):
                for name, (value, where) in self.members.of(node, scope):
                    yield self.members.named(name, node), value, where
            case ast.Name() | ast.Attribute():
                home = self.members.home(node, scope)
                if home is not None:
                    yield from self._pairs(*home, deeper)
                    return
                for each, where in bound(node, scope):
                    yield from self._pairs(each, where, deeper)
                if isinstance(node, ast.Name) and scope.module.changes_in_place(node.id):
                    yield from self._entered(node.id, scope)

    def _entered(self, name: str, scope: Scope) -> Iterator[tuple[ast.expr, ast.expr, Scope]]:
        """What is put into a table once it is made: `TABLE["x"] = fn`, where the table itself is of the same scope."""
        place = scope.lookup(name)
        home = place[0] if place is not None else scope
        if isinstance(home.node, ast.Lambda):
            return
        for each in statements(list(home.node.body)):
            match each:
                case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=table), slice=key)]) if table == name:
                    for frame in self.loops.rounds(each.value, home):
                        yield key, each.value, frame


def _added(node: ast.BinOp) -> list[ast.expr]:
    """The parts of a sum, in the order written."""
    chain: ast.expr = node
    parts: list[ast.expr] = []
    while isinstance(chain, ast.BinOp) and isinstance(chain.op, ast.Add) and len(parts) < MANY:
        parts.append(chain.right)
        chain = chain.left
    return [chain, *reversed(parts)]


__all__ = ["Items"]
