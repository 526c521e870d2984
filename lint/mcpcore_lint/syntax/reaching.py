"""Reaching definitions: the assignments of a function that can be in force where one of its names is used."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final, TypeAlias

from mcpcore_lint.syntax.parse import walk_shallow

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mcpcore_lint.syntax.scopes import Binding, Scope

State: TypeAlias = dict[str, int]
"""For each name, the bindings that may be in force, as the bits of a number."""

MAX_BINDINGS: Final = 200
"""A name with more bindings is left alone: only generated code has one."""
_OPAQUE: Final = frozenset({"opaque", "augmented", "parameter", "with"})
"""Ways of binding a name without a value that is known."""
_LOOPS: Final = (ast.For, ast.AsyncFor, ast.While)
_ENDS: Final = (ast.Return, ast.Raise, ast.Break, ast.Continue)
_DEFINITIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def is_followed(bindings: list[Binding]) -> bool:
    """Whether it matters which of some bindings reach a use: a loop variable means nothing in any of them."""
    return 1 < len(bindings) <= MAX_BINDINGS and any(binding.kind not in _OPAQUE for binding in bindings)


class Reaching:
    """The bindings that reach each use of the names that a function binds more than once.

    The function is read once, from top to bottom. An assignment replaces the earlier ones; branches are joined. The
    body of a loop may have run before, and a `try` may end anywhere: there, every binding inside counts.
    """

    def __init__(self, scope: Scope) -> None:
        self._bindings: dict[str, list[Binding]] = {}
        self._bound: dict[ast.AST, list[tuple[str, int, Binding]]] = {}
        self._uses: dict[ast.AST, int] = {}
        self._subsets: dict[tuple[str, int], list[Binding]] = {}
        node = scope.node
        if isinstance(node, (ast.Module, ast.Lambda)):
            return
        shared = _set_elsewhere(node) if scope.module.source.has("nonlocal") else ()
        state: State = {}
        for name, bindings in scope.bindings.items():
            if not is_followed(bindings) or name in shared or name in scope.globals:
                continue
            self._bindings[name] = bindings
            state[name] = 0
            for index, binding in enumerate(bindings):
                self._bound.setdefault(binding.node, []).append((name, 1 << index, binding))
                if binding.kind == "parameter":
                    state[name] = 1 << index
        if state:
            self._block(node.body, state)

    def at(self, use: ast.Name, bindings: list[Binding]) -> list[Binding]:
        """Those of a name's bindings that can be in force at a use of it; all where that is not known."""
        return self._subset(use.id, self._uses.get(use, 0), bindings)

    def _subset(self, name: str, mask: int, bindings: list[Binding]) -> list[Binding]:
        if not mask or mask == (1 << len(bindings)) - 1:
            return bindings
        subset = self._subsets.get((name, mask))
        if subset is None:
            subset = [binding for index, binding in enumerate(bindings) if mask >> index & 1]
            self._subsets[name, mask] = subset
        return subset

    # -- statements: each takes the state before and gives the one after, None where nothing comes after -------------

    def _block(self, block: Sequence[ast.stmt], state: State | None) -> State | None:
        for statement in block:
            if state is None:
                return None
            state = self._statement(statement, state)
        return state

    def _statement(self, node: ast.stmt, state: State) -> State | None:
        if isinstance(node, ast.If):
            return self._if(node, state)
        if isinstance(node, _LOOPS):
            return self._loop(node, state)
        if isinstance(node, (ast.Try, ast.TryStar)):
            return self._try(node, state)
        if isinstance(node, (ast.With, ast.AsyncWith)):
            return self._with(node, state)
        if isinstance(node, ast.Match):
            return self._match(node, state)
        if not isinstance(node, _DEFINITIONS):
            state = self._read([node], state)
        return None if isinstance(node, _ENDS) else self._bind(node, state)

    def _if(self, node: ast.If, state: State) -> State | None:
        ends: list[State | None] = []
        # A chain of `elif` is as deep as it is long: it is followed without recursion.
        while True:
            state = self._read([node.test], state)
            ends.append(self._block(node.body, state))
            if len(node.orelse) != 1 or not isinstance(node.orelse[0], ast.If):
                ends.append(self._block(node.orelse, state))
                return _joined(ends)
            node = node.orelse[0]

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, state: State) -> State:
        if isinstance(node, ast.While):
            state = self._read([node.test], self._with_all_in([node], state))
            self._block(node.body, state)
        else:
            state = self._with_all_in([node], self._read([node.iter], state))
            self._block(node.body, self._bind(node, self._read([node.target], state)))
        # `break` skips the `else`, so that what was there before it counts, too.
        return _joined([state, self._block(node.orelse, state)]) or state

    def _try(self, node: ast.Try | ast.TryStar, state: State) -> State | None:
        ends = [self._block(node.orelse, self._block(node.body, state))]
        caught = self._with_all_in(node.body, state)
        for clause in node.handlers:
            if clause.type is not None:
                self._read([clause.type], caught)
            ends.append(self._block(clause.body, self._bind(clause, caught)))
        if not node.finalbody:
            return _joined(ends)
        # The `finally` runs after a part of any of the others, as well as after the whole.
        self._block(node.finalbody, self._with_all_in([*node.body, *node.handlers, *node.orelse], state))
        return self._block(node.finalbody, _joined(ends))

    def _with(self, node: ast.With | ast.AsyncWith, state: State) -> State | None:
        before = state
        for item in node.items:
            before = self._read([item.context_expr], before)
            if item.optional_vars is not None:
                before = self._read([item.optional_vars], before)
        before = self._bind(node, before)
        after = self._block(node.body, before)
        # A context manager that swallows exceptions says so by its name.
        if any("suppress" in ast.dump(item.context_expr) for item in node.items):
            return _joined([after, self._with_all_in(node.body, before)])
        return after

    def _match(self, node: ast.Match, state: State) -> State | None:
        state = self._read([node.subject], state)
        ends: list[State | None] = [state]
        for case in node.cases:
            # A pattern binds names even where it does not match in the end.
            state = self._with_all_in([case.pattern], state)
            inside = self._read([case.guard], state) if case.guard is not None else state
            ends.append(self._block(case.body, inside))
            if case.guard is None and isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None:
                ends[0] = None
        return _joined(ends)

    # -- names -----------------------------------------------------------------------------------------------------

    def _read(self, nodes: list[ast.AST], state: State) -> State:
        """Note the uses in some expressions; the state after them, which `:=` may have changed."""
        inner = walk_shallow(nodes)
        hidden: set[str] = set()
        for node in inner:
            if isinstance(node, ast.NamedExpr):
                state = self._add(node, state)
            elif isinstance(node, ast.comprehension):
                hidden.update(each.id for each in ast.walk(node.target) if isinstance(each, ast.Name))
        for node in inner:
            if isinstance(node, ast.Name) and node.id in state and node.id not in hidden:
                self._uses[node] = self._uses.get(node, 0) | state[node.id]
        return state

    def _bind(self, node: ast.AST, state: State) -> State:
        """The state after a statement that binds names."""
        bound = self._bound.get(node)
        if not bound:
            return state
        after = dict(state)
        for name, bit, binding in bound:
            # `x += 1` builds on the earlier value; `x: int` without a value binds nothing.
            if binding.kind == "augmented":
                after[name] = state[name] | bit
            elif binding.kind != "annotated" or binding.value is not None:
                after[name] = bit if after[name] == state[name] else after[name] | bit
        return after

    def _add(self, node: ast.AST, state: State) -> State:
        """The state where a node may have bound its names, or may not."""
        bound = self._bound.get(node)
        if not bound:
            return state
        after = dict(state)
        for name, bit, binding in bound:
            if binding.kind != "annotated" or binding.value is not None:
                after[name] |= bit
        return after

    def _with_all_in(self, nodes: Iterable[ast.AST], state: State) -> State:
        """The state where any part of some statements or patterns may have run."""
        after = dict(state)
        for node in walk_shallow([*nodes]):
            for name, bit, _ in self._bound.get(node, ()):
                after[name] |= bit
        return after


def _joined(states: list[State | None]) -> State | None:
    """The state behind several ways; None where none of them goes on."""
    reached = [state for state in states if state is not None]
    if len(reached) < 2:
        return reached[0] if reached else None
    first, *others = reached
    joined = dict(first)
    for state in others:
        if state is not first:
            for name, mask in state.items():
                joined[name] |= mask
    return joined


def _set_elsewhere(node: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """The names that functions inside a function set by `nonlocal`."""
    return {name for inner in ast.walk(node) if isinstance(inner, ast.Nonlocal) for name in inner.names}
