"""Reaching definitions: the assignments of a function that can be in force where one of its names is used."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final, TypeAlias

from mcpcore_lint.engine.syntax.parse import walk_shallow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpcore_lint.engine.syntax.scopes import Binding, Scope

State: TypeAlias = dict[str, int]
"""For each name, the bindings that may be in force, as the bits of a number."""

MAX_BINDINGS: Final = 200
"""A name with more bindings is left alone: only generated code has one."""
_OPAQUE: Final = frozenset({"opaque", "augmented", "parameter", "with"})
"""Ways of binding a name without a value that is known."""
_ENDS: Final = (ast.Return, ast.Raise, ast.Break, ast.Continue)


def is_followed(bindings: list[Binding]) -> bool:
    """Whether it matters which of some bindings reach a use: a loop variable means nothing in any of them."""
    return 1 < len(bindings) <= MAX_BINDINGS and any(
        binding.kind not in _OPAQUE or isinstance(binding.node, ast.ExceptHandler) for binding in bindings
    )


class Reaching:
    """The bindings that reach each use of the names that a function binds more than once.

    The function is read once, from top to bottom. An assignment replaces the earlier ones; branches are joined. The
    body of a loop may have run before, and a `try` may end anywhere: there, every binding inside counts.
    """

    def __init__(self, scope: Scope) -> None:
        self._bound: dict[ast.AST, list[tuple[str, int, Binding]]] = {}
        self._uses: dict[ast.AST, int] = {}
        self._subsets: dict[tuple[str, int], list[Binding]] = {}
        node = scope.node
        if isinstance(node, (ast.Module, ast.Lambda)):
            return
        # The names that functions inside it set by `nonlocal`.
        inner = ast.walk(node) if scope.module.source.has("nonlocal") else ()
        shared = {name for part in inner if isinstance(part, ast.Nonlocal) for name in part.names}
        state: State = {}
        for name, bindings in scope.bindings.items():
            if not is_followed(bindings) or name in shared or name in scope.globals:
                continue
            state[name] = 0
            for index, binding in enumerate(bindings):
                self._bound.setdefault(binding.node, []).append((name, 1 << index, binding))
                if binding.kind == "parameter":
                    state[name] = 1 << index
        if state:
            self._block(node.body, state)

    def at(self, use: ast.Name, bindings: list[Binding]) -> list[Binding]:
        """Those of a name's bindings that can be in force at a use of it; all where that is not known."""
        mask = self._uses.get(use, 0)
        if not mask or mask == (1 << len(bindings)) - 1:
            return bindings
        subset = self._subsets.get((use.id, mask))
        if subset is None:
            subset = [binding for index, binding in enumerate(bindings) if mask >> index & 1]
            self._subsets[use.id, mask] = subset
        return subset

    # -- statements: each takes the state before and gives the one after, None where nothing comes after -------------

    def _block(self, block: Sequence[ast.stmt], state: State | None) -> State | None:
        for statement in block:
            if state is None:
                return None
            state = self._statement(statement, state)
        return state

    def _statement(self, node: ast.stmt, state: State) -> State | None:
        match node:
            case ast.If():
                return self._if(node, state)
            case ast.Try() | ast.TryStar():
                return self._try(node, state)
            case ast.Match():
                return self._match(node, state)
            case ast.For() | ast.AsyncFor() | ast.While():
                head = node.test if isinstance(node, ast.While) else node.iter
                state = self._with_all_in([node], self._read([head], state))
                if isinstance(node, ast.While):
                    self._block(node.body, self._read([head], state))
                else:
                    self._block(node.body, self._bind(node, state))
                # `break` skips the `else`, so that what was there before it counts, too.
                return _joined([state, self._block(node.orelse, state)])
            case ast.With() | ast.AsyncWith():
                before = self._bind(node, self._read(node.items, state))
                after = self._block(node.body, before)
                # A context manager that swallows exceptions says so by its name.
                swallows = any("suppress" in ast.dump(item.context_expr) for item in node.items)
                return _joined([after, self._with_all_in(node.body, before)]) if swallows else after
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                return self._bind(node, state)
        state = self._read([node], state)
        return None if isinstance(node, _ENDS) else self._bind(node, state)

    def _if(self, node: ast.If, state: State) -> State | None:
        ends: list[State | None] = []
        # A chain of `elif` is as deep as it is long: it is followed without recursion.
        while True:
            state = self._read([node.test], state)
            ends.append(self._block(node.body, state))
            if len(node.orelse) != 1 or not isinstance(node.orelse[0], ast.If):
                return _joined([*ends, self._block(node.orelse, state)])
            node = node.orelse[0]

    def _try(self, node: ast.Try | ast.TryStar, state: State) -> State | None:
        ends = [self._block(node.orelse, self._block(node.body, state))]
        caught = self._with_all_in(node.body, state)
        ends += [self._block(clause.body, self._bind(clause, caught)) for clause in node.handlers]
        # The `finally` runs after a part of any of the others, as well as after the whole.
        self._block(node.finalbody, self._with_all_in([*node.body, *node.handlers, *node.orelse], state))
        return self._block(node.finalbody, _joined(ends))

    def _match(self, node: ast.Match, state: State) -> State | None:
        state = self._read([node.subject], state)
        ends: list[State | None] = [state]
        for case in node.cases:
            # A pattern binds names even where it does not match in the end.
            state = self._with_all_in([case.pattern], state)
            ends.append(self._block(case.body, self._read([case.guard], state) if case.guard else state))
            if case.guard is None and isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None:
                ends[0] = None
        return _joined(ends)

    # -- names -----------------------------------------------------------------------------------------------------

    def _read(self, nodes: Sequence[ast.AST], state: State) -> State:
        """Note the uses in some expressions; the state after them, which `:=` may have changed."""
        inner = walk_shallow([*nodes])
        state = self._with_any_of([node for node in inner if isinstance(node, ast.NamedExpr)], state)
        for node in inner:
            if isinstance(node, ast.Name) and node.id in state:
                self._uses[node] = self._uses.get(node, 0) | state[node.id]
        return state

    def _bind(self, node: ast.AST, state: State) -> State:
        """The state after a statement that binds names."""
        bound = self._bound.get(node)
        after = dict(state) if bound else state
        for name, bit, binding in bound or ():
            # `x += 1` builds on the earlier value; `x: int` without a value binds nothing.
            if binding.kind == "augmented":
                after[name] |= bit
            elif binding.kind != "annotated" or binding.value is not None:
                after[name] = bit if after[name] == state[name] else after[name] | bit
        return after

    def _with_all_in(self, nodes: Sequence[ast.AST], state: State) -> State:
        """The state where any part of some statements or patterns may have run."""
        return self._with_any_of(walk_shallow([*nodes]), state)

    def _with_any_of(self, nodes: Sequence[ast.AST], state: State) -> State:
        """The state where each of some nodes may have bound its names, or may not."""
        for node in nodes:
            for name, bit, binding in self._bound.get(node, ()):
                if binding.kind != "annotated" or binding.value is not None:
                    state = {**state, name: state[name] | bit}
        return state


def _joined(states: list[State | None]) -> State | None:
    """The state behind several ways; None where none of them goes on."""
    reached = [state for state in states if state is not None]
    if not reached:
        return None
    joined = dict(reached[0])
    for state in reached[1:]:
        for name, mask in state.items():
            joined[name] |= mask
    return joined
