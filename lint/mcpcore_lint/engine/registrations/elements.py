"""The items of lists, the entries of tables, and the rounds of the loops that go through them."""

from __future__ import annotations

import ast
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from mcpcore_lint.engine.registrations.callers import Caller, callers_of
from mcpcore_lint.engine.registrations.contents import Entry, contents_of
from mcpcore_lint.engine.registrations.environment import (
    DEEP,
    BoundName,
    Env,
    Frame,
    Placed,
    assignments_of,
    bind,
    call_frame,
    callee_frame,
    constructed,
    functions_called,
    read_again,
    substitute,
    written_scope,
)
from mcpcore_lint.engine.registrations.members import Members
from mcpcore_lint.engine.semantics.branches import JUMPS
from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.semantics.type_model import name_of
from mcpcore_lint.engine.syntax.parse import Function, alternatives, children, own_nodes, returned, walk
from mcpcore_lint.model import Choice, Const, Items, Mapping, Symbol, Unknown, is_left_out, string
from mcpcore_lint.names import BUILTIN_NAMES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from mcpcore_lint.engine.registrations.functions import Functions
    from mcpcore_lint.engine.registrations.registration_forms import Site
    from mcpcore_lint.engine.syntax.scopes import Scope

T = TypeVar("T")
Loop: TypeAlias = "ast.For | ast.AsyncFor | ast.comprehension"
Pair: TypeAlias = "tuple[ast.expr, ast.expr, Scope]"
"""A key and a value of a table, and the scope of both."""

_LOOPS: Final = (ast.For, ast.AsyncFor, ast.comprehension)
MANY: Final = 600
"""How many items of a list, or rounds of a loop, are followed."""
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
        self._reading: list[ast.AST] = []
        """The functions whose callers are being read."""

    # -- lists -------------------------------------------------------------------------------------------------------

    def of(self, node: ast.expr, scope: Scope, depth: int = 0) -> list[Placed]:
        """The items of an iterable, as far as they are known."""
        if depth > 2 * DEEP or self.functions.too_many_steps():
            return []
        return self._first(self._items(node, scope, depth + 1))

    def _first(self, items: Iterable[T]) -> list[T]:
        """The first of many; it notes if others are left out."""
        known = list(islice(items, MANY + 1))
        self.functions.is_cut |= len(known) > MANY
        return known[:MANY]

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
                yield from (substitute(node.elt, frame) for frame in self.rounds(node.elt, scope))
            case ast.Call():
                yield from self._returned(node, scope, depth)
            case ast.Await(value=value) | ast.NamedExpr(value=value) | ast.Subscript(value=value, slice=ast.Slice()):
                yield from self.of(value, scope, depth)
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
        else:
            yield from self._put(node, scope, depth)

    def _sources(self, node: ast.expr, scope: Scope) -> list[Placed]:
        """Where the value of a name comes from: a loop or an argument, another file, or the assignments here."""
        seen = substitute(node, scope)
        if seen[0] is not node:
            return [seen]
        return self.members.home(node, scope) or assignments_of(node, scope) or self.given(node, scope)

    # -- what is put into a collection -------------------------------------------------------------------------------

    def _put(self, node: ast.expr, scope: Scope, depth: int) -> Iterator[Placed]:
        """The items that are put into a collection after it was made, or its keys if it is a table."""
        for entry, frame in self._entries(node, scope):
            if entry.several:
                yield from self.of(entry.value, frame, depth)
            else:
                yield substitute(entry.value if entry.key is None else entry.key, frame)

    def _entries(self, node: ast.expr, scope: Scope) -> Iterator[tuple[Entry, Scope]]:
        """What is put into a collection: once for each round of the loops around, and for each call of the function."""
        steps = self.functions.steps
        for entry in contents_of(node, scope):
            both = [part for part in (entry.key, entry.value) if part is not None]
            about = ast.copy_location(ast.Tuple(both, ast.Load()), entry.value)
            for frame in self.contexts(about, entry.scope):
                self.functions.steps = steps
                yield from ((entry, inner) for inner in self.rounds(entry.at, frame, about))

    def contexts(self, about: ast.expr, scope: Scope) -> list[Scope]:
        """The scopes to read an expression in: one for each call of the function whose arguments it depends on.

        The scope itself if it depends on no argument, or if no call is known.
        """
        owner = _open_parameter(about, scope)
        frames = self._called(owner, callers_of(owner) or []) if owner is not None else []
        if owner is not None and written_scope(scope) is not owner:
            frames = [Frame(scope, frame.filled) for frame in frames]
        return [*frames] or [scope]

    def unread_callers(self, scope: Scope) -> list[Frame]:
        """The scopes of a function for its calls, except those that are read as registrations themselves."""
        home = written_scope(scope)
        memo, key = home.module.memo, ("unread callers", home.node)
        if key not in memo:
            callers = (caller for caller in callers_of(home) or () if not self.functions.reads(*caller[1:]))
            frames = self._called(home, [*callers])
            if self._reading:
                return frames  # some callers may be left out, since they are being read
            memo[key] = frames
        known: list[Frame] = memo[key]
        return known

    def given(self, node: ast.expr, scope: Scope) -> list[Placed]:
        """What the calls of a function pass for a parameter, when parameters are read backward."""
        place = scope.lookup(node.id) if self.functions.backward and isinstance(node, ast.Name) else None
        if place is None or place[1][0].kind != "parameter" or not isinstance(node, ast.Name):
            return []
        return [frame.filled[node.id] for frame in self.unread_callers(place[0]) if node.id in frame.filled]

    def origins(self, node: ast.Name, scope: Scope) -> Iterator[Placed]:
        """The expressions that the value of a name comes from: of loops, of calls, and of assignments."""
        place = scope.lookup(node.id)
        for binding in place[1] if place is not None else ():
            if isinstance(binding.node, _LOOPS) and place is not None:
                # The items may come from the arguments of a call.
                inside = isinstance(scope, Frame) and written_scope(scope) is place[0]
                yield binding.node.iter, scope if inside else place[0]
            elif binding.kind == "parameter" and place is not None:
                frames = self.unread_callers(place[0])
                yield from (frame.filled[node.id] for frame in frames if node.id in frame.filled)
            elif binding.kind in {"opaque", "with"} and place is not None:
                value = binding.value or getattr(binding.node, "value", None)
                yield from [(value, place[0])] if isinstance(value, ast.expr) else []
        yield from assignments_of(node, scope)

    def called_from(self, site: Site) -> list[Scope]:
        """The scopes to read a registration in, for the calls of its function that are not read themselves."""
        owner = _open_parameter(site.target, site.scope)
        if owner is None:
            return [site.scope]
        own = written_scope(site.scope) is owner
        frames = [frame if own else Frame(site.scope, frame.filled) for frame in self.unread_callers(owner)]
        return [inner for frame in frames for inner in self.rounds(site.call, frame, site.target)]

    def _called(self, owner: Scope, callers: list[Caller]) -> list[Frame]:
        """The scopes of a function for some of its calls, once for each round of the loops around them."""
        frames: list[Frame] = []
        if len(self._reading) > DEEP // 2 or owner.node in self._reading:
            return frames
        self._reading.append(owner.node)
        try:
            for called, call, where in callers:
                if self.functions.is_exhausted():
                    break
                parts = [*call.args, *(keyword.value for keyword in call.keywords)]
                arguments = ast.copy_location(ast.Tuple(parts, ast.Load()), call)
                around = (
                    inner for outer in self.contexts(arguments, where) for inner in self.rounds(call, outer, arguments)
                )
                for inner in around:
                    again = called._replace(around=inner) if called.around is where else called
                    frames.append(call_frame(again, call, inner))
        finally:
            self._reading.pop()
        return self._first(frames)

    def _returned(self, node: ast.Call, scope: Scope, depth: int) -> Iterator[Placed]:
        """The items of what a call returns."""
        func = node.func
        if isinstance(func, ast.Attribute) and func.attr in _VIEWS and not node.args:
            for key, value, where in self.pairs(func.value, scope, depth):
                pair = ast.copy_location(ast.Tuple([key, value], ast.Load()), value)
                yield {"values": value, "items": pair, "keys": key}[func.attr], where
            return
        called = [*functions_called(func, scope)]
        name = name_of(func, scope)
        last = name.rpartition(".")[2]
        if called:
            for callee in called if depth <= DEEP else ():
                # The members of an object are mostly those of the subclasses.
                if name or not goes_through_members(callee.function):
                    yield from self._yielded(callee.function, call_frame(callee, node, scope), depth)
        elif last in _SAME_ITEMS and node.args:
            yield from self.of(node.args[0], scope, depth)
        elif isinstance(func, ast.Attribute) and func.attr == "copy" and not node.args:
            yield from self.of(func.value, scope, depth)
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
                yield from (substitute(node.value, inner) for inner in self.rounds(node, frame, node.value))

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
                yield from ((node.key, node.value, frame) for frame in self.rounds(node.value, scope))
            case (
                ast.Call(func=ast.Attribute(value=copied, attr="copy"), args=[])
                | ast.Call(func=ast.Attribute(attr="copy" | "deepcopy"), args=[copied])
                | ast.Call(func=ast.Name(id="copy" | "deepcopy"), args=[copied])
                | ast.Await(value=copied)
            ):
                yield from self.pairs(copied, scope, deeper)
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
                for entry, frame in self._entries(node, scope):
                    if entry.key is not None:
                        yield entry.key, entry.value, frame
                    elif entry.several:
                        yield from self.pairs(entry.value, frame, deeper)

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
        if self.functions.is_exhausted():
            return frames
        for loop in self._loops(node, about if about is not None else node, scope):
            if loop in self._active:
                return []  # a list that is made of itself
            if not self._active:
                self.functions.steps = 0
            self._active.append(loop)
            try:
                frames = self._first(inner for frame in frames for inner in self._frames(loop, node, frame))
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
                tests = guards_of(loop, node, scope)
            reaches = self.conditions.reach(tests, frame)
            # A private member under an unknown condition is rather a helper than a tool.
            if reaches is not False and not (
                reaches is None and is_private(item[0]) and goes_through_members(loop.iter)
            ):
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


def guards_of(around: ast.AST, node: ast.AST, scope: Scope) -> list[tuple[ast.expr, bool]]:
    """The conditions under which a loop or a function reaches an expression in it, each with the result it needs."""
    parents = scope.module.parents
    guards: list[tuple[ast.expr, bool]] = []
    current: ast.AST = node
    while current is not around:
        above = parents[current]
        if isinstance(above, (ast.If, ast.IfExp)) and current is not above.test:
            taken = above.body if isinstance(above.body, list) else [above.body]
            guards.append((above.test, current in taken))
        for block in ("body", "orelse", "finalbody"):
            below = getattr(above, block, None)
            if isinstance(below, list) and current in below:
                guards += [
                    (statement.test, False)
                    for statement in below[: below.index(current)]
                    if isinstance(statement, ast.If) and not statement.orelse and isinstance(statement.body[-1], JUMPS)
                ]
        current = above
    return guards


def _open_parameter(node: ast.expr, scope: Scope) -> Scope | None:
    """The innermost function of whose parameters an expression depends, if the scope does not fill them in."""
    owner: Scope | None = None
    seen: set[str] = set()
    stack: list[ast.AST] = [node]
    while stack:
        current = stack.pop()
        stack += children(current)
        place = scope.lookup(current.id) if isinstance(current, ast.Name) and current.id not in seen else None
        if place is None or isinstance(place[0], BoundName) or not isinstance(current, ast.Name):
            continue
        seen.add(current.id)
        for binding in place[1] if not place[0].is_module else ():
            if binding.kind == "parameter" and current.id not in {"self", "cls"}:
                owner = place[0] if owner is None or len(place[0].qualname) > len(owner.qualname) else owner
            stack += [binding.value] if binding.value is not None else []
            stack += [binding.node.iter] if isinstance(binding.node, _LOOPS) else []
    return owner


def goes_through_members(node: ast.AST) -> bool:
    """Whether a loop or a function goes through all members of a module or an object."""
    nodes = walk([node])
    words = {part.id for part in nodes if isinstance(part, ast.Name)}
    words |= {part.attr for part in nodes if isinstance(part, ast.Attribute)}
    return not words.isdisjoint({"dir", "vars", "globals", "__dict__", "getmembers", "getmembers_static"})


def is_private(item: ast.expr) -> bool:
    """Whether the name of a member, alone or in front of the member, begins with an underscore."""
    first = item.elts[0] if isinstance(item, ast.Tuple) and item.elts else item
    name = first.id if isinstance(first, ast.Name) else first.value if isinstance(first, ast.Constant) else ""
    return isinstance(name, str) and name.startswith("_")


def starts_with_loop(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression may be a part of the variable of a loop: `tool.run`."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return isinstance(node, ast.Name) and _may_vary(node.id, scope)


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


# -- whether a loop reaches a registration for an item, as far as the item's name, kind and place show it --------------

_FUNCTIONS: Final = frozenset({"inspect.isfunction", "inspect.isroutine", "inspect.ismethod", "builtins.callable"})
_COROUTINES: Final = frozenset({"inspect.iscoroutinefunction", "asyncio.iscoroutinefunction"})


class Conditions:
    """Decides conditions: True, False, or None if that is not known."""

    def __init__(self, functions: Functions, text: Callable[[ast.expr, Scope], str | None]) -> None:
        self.functions = functions
        self.text = text

    def reach(self, tests: list[tuple[ast.expr, bool]], scope: Scope) -> bool | None:
        """Whether conditions have the results that an expression needs."""
        results = [None if (result := self.holds(test, scope)) is None else result is wanted for test, wanted in tests]
        return False if False in results else None if None in results else True

    def holds(self, test: ast.expr, scope: Scope) -> bool | None:
        """Whether a condition holds in a scope."""
        if isinstance(scope, Frame) and isinstance(test, (ast.Name, ast.Attribute, ast.Subscript)):
            part, where = substitute(test, scope)
            value = evaluate(part, where) if part is not test else None
            if isinstance(value, (Items, Mapping)):
                return bool(value.items) or (False if value.complete else None)
            return bool(value.value) if isinstance(value, Const) else None
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                inner = self.holds(operand, scope)
                return None if inner is None else not inner
            case ast.BoolOp(op=operator, values=values):
                stops = isinstance(operator, ast.Or)
                results = [self.holds(value, scope) for value in values]
                return stops if stops in results else None if None in results else not stops
            case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq() as operator], comparators=[right]):
                text, other = self.text(left, scope), self.text(right, scope)
                return None if text is None or other is None else (text == other) is isinstance(operator, ast.Eq)
            case ast.Compare(
                left=left, ops=[ast.Is() | ast.IsNot() as operator], comparators=[ast.Constant(value=None)]
            ):
                value = evaluate(*substitute(left, scope))
                known = isinstance(scope, Frame) and not isinstance(value, (Unknown, Choice))
                return is_left_out(value) is isinstance(operator, ast.Is) if known else None
            case ast.Compare(left=left, ops=[ast.In() | ast.NotIn() as operator], comparators=[right]):
                # To find the texts of a collection may take a walk through all callers.
                texts = self._texts(right, scope) if (text := self.text(left, scope)) is not None else None
                return None if text is None or texts is None else (text in texts) is isinstance(operator, ast.In)
            case ast.Call(func=ast.Attribute(value=whole, attr="startswith" | "endswith" as method), args=[affix]):
                texts = self._texts(affix, scope) if (text := self.text(whole, scope)) is not None else None
                return None if text is None or texts is None else bool(getattr(text, method)(texts))
            case (
                ast.Call(func=ast.Name(id="hasattr"), args=[item, ast.Constant(value=str(name))])
                | ast.Call(
                    func=ast.Name(id="getattr"),
                    args=[item, ast.Constant(value=str(name)), ast.Constant(value=None | False)],
                )
            ):
                return False if self._lacks(item, name, scope) else None
            case ast.Call(func=func, args=[item]):
                return self.accepts(func, scope, (item, scope))
        return None

    def accepts(self, predicate: ast.expr, scope: Scope, item: Placed) -> bool | None:
        """Whether a predicate is true of an item: a lambda, a function that returns one, or a function of `inspect`."""
        predicate, scope = constructed(predicate, scope)
        if isinstance(predicate, ast.Lambda):
            names = [parameter.arg for parameter in predicate.args.args]
            return self.holds(predicate.body, Frame(scope, {names[0]: item})) if len(names) == 1 else None
        callee = evaluate(predicate, scope)
        if isinstance(callee, Symbol) and isinstance(callee.definition, ast.FunctionDef):
            return self._answers(callee.definition, scope, item)
        if not isinstance(callee, Symbol) or callee.name not in _FUNCTIONS | _COROUTINES:
            return None
        functions = self.functions.behind(*item)
        if not functions:
            return None
        return callee.name in _FUNCTIONS or isinstance(functions[0].node, ast.AsyncFunctionDef)

    def _answers(self, function: ast.FunctionDef, scope: Scope, item: Placed) -> bool | None:
        """What a function of the project returns for an item, if its only `return` is its end."""
        owner = scope.module.project.module_defining(function)
        inside = owner.scope_of(function) if owner is not None else None
        parameters, values = function.args.args, returned(function)
        if inside is None or len(parameters) != 1 or [getattr(function.body[-1], "value", None)] != values:
            return None
        others = (binding.value for binding in inside.bindings[parameters[0].arg] if binding.kind != "parameter")
        # What has `__wrapped__` has been decorated.
        unwraps = all(isinstance(value, ast.Attribute) and value.attr == "__wrapped__" for value in others)
        return self.holds(values[0], Frame(inside, {parameters[0].arg: item})) if unwraps else None

    def _lacks(self, item: ast.expr, name: str, scope: Scope) -> bool:
        """Whether an item is a function without decorators, to which its file gives no such attribute."""
        here, steps, self.functions.steps = written_scope(scope).module, self.functions.steps, 0
        functions = self.functions.behind(item, scope)
        self.functions.steps = steps
        return bool(functions) and not any(
            function.wrappers
            or getattr(function.node, "decorator_list", True)
            or function.module.source.has(f"{string(function.name)}.{name} = " if function.module is here else name)
            or hasattr(returned, name)  # each function has it
            for function in functions
        )

    def _texts(self, node: ast.expr, scope: Scope) -> tuple[str, ...] | None:
        """The texts of a collection, or the one text; None if some are not known."""
        value = evaluate(node, scope)
        if isinstance(value, Items) and value.complete:
            texts = [string(item) for item in value.items]
        else:
            texts = [string(value)]
            if texts == [None]:
                texts = [self.text(*item) for item in self.functions.elements.of(node, scope)]
        return tuple(text for text in texts if text is not None) if texts and None not in texts else None
