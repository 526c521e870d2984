"""The branches of a function that run only for some values of a name: `if name == "x"` and `match name`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final, NamedTuple

from mcpcore_lint.dataclasses import light
from mcpcore_lint.model import FunctionNode, Items, Value, options, string
from mcpcore_lint.semantics.evaluate import evaluate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mcpcore_lint.syntax.scopes import Scope


_COMPOUND: Final = (ast.With, ast.AsyncWith, ast.Try, ast.TryStar, ast.For, ast.AsyncFor, ast.While)


@light
class Branch:
    """Statements that run only for some names, or for all except some."""

    names: tuple[Value, ...]
    """The names; empty if they are unknown."""
    body: list[ast.stmt]
    but: frozenset[str] = frozenset()
    """Names for which the statements do not run."""

    def runs_for(self, name: str | None) -> bool:
        """Whether the statements may run for a name."""
        if name in self.but:
            return False
        return not self.names or name is None or name in {string(value) for value in self.names}


class _Condition(NamedTuple):
    """The names that a condition allows."""

    names: tuple[Value, ...] = ()
    """The possible names if the condition is true; empty if it allows others."""
    others: tuple[Value, ...] = ()
    """The possible names if the condition is false; empty if it allows others."""
    exact: bool = True
    """Whether the opposite case excludes all of these names."""


class Branches:
    """Finds the branches of functions. `is_name` says whether an expression is the name."""

    def __init__(self, is_name: Callable[[ast.expr], bool], scope: Scope) -> None:
        self.is_name = is_name
        self.scope = scope
        self._found: list[Branch] = []

    def of(self, node: FunctionNode) -> list[Branch]:
        """The branches of a function in source order, including those that run for every name."""
        self._found = []
        if not isinstance(node, ast.Lambda):
            self._block(node.body, (), frozenset())
        return self._found

    def _block(self, body: list[ast.stmt], names: tuple[Value, ...], gone: frozenset[str]) -> frozenset[str]:
        """Read some statements; return the names for which their end is not reached."""
        own: list[ast.stmt] = []

        def flush() -> None:
            if own:
                self._found.append(Branch(names, [*own], gone))
                own.clear()

        for statement in body:
            condition = self._condition(statement.test) if isinstance(statement, ast.If) else _Condition()
            if isinstance(statement, ast.If) and (condition.names or condition.others):
                flush()
                gone |= self._chain(statement, names, gone)
                if ends(statement.body) and len(condition.others) == 1:
                    # After `if name != "x": raise ...`, the code runs only for "x".
                    names = condition.others
            elif isinstance(statement, ast.Match) and self.is_name(statement.subject):
                flush()
                seen: frozenset[str] = frozenset()
                for case in statement.cases:
                    matched = tuple(self._patterns(case.pattern))
                    ended = self._block(case.body, matched or names, gone if matched else gone | seen)
                    if case.guard is None:
                        seen |= _texts(matched)
                        gone |= ended & _texts(matched)
            elif not names and isinstance(statement, _COMPOUND):
                flush()
                gone |= self._compound(statement, names, gone)
            else:
                own.append(statement)
        flush()
        return gone | _texts(names) if ends(body) else gone

    def _chain(self, node: ast.If, names: tuple[Value, ...], gone: frozenset[str]) -> frozenset[str]:
        """Read an `if` with its `elif` branches, of which there may be very many."""
        chain: list[tuple[_Condition, frozenset[str]]] = []
        left_over: list[ast.stmt] = [node]
        before = gone
        while len(left_over) == 1 and isinstance(left_over[0], ast.If):
            current = left_over[0]
            condition = self._condition(current.test)
            if not (condition.names or condition.others):
                break
            ended = self._block(current.body, condition.names or names, before | _texts(condition.others))
            chain.append((condition, ended))
            names = condition.others or names
            before |= _texts(condition.names) if condition.exact else frozenset()
            left_over = current.orelse
        ended = self._block(left_over, names, before)
        for condition, ended_inside in reversed(chain):
            here, there = _texts(condition.names), _texts(condition.others)
            # If only one side runs for a name, that side decides whether the name reaches the end.
            one_way = (ended_inside & here) | (ended - here) if here else (ended & there) | (ended_inside - there)
            ended = gone | (one_way if condition.exact else ended_inside & ended)
        return ended

    def _compound(self, node: ast.stmt, names: tuple[Value, ...], gone: frozenset[str]) -> frozenset[str]:
        if isinstance(node, (ast.With, ast.AsyncWith)):
            return self._block(node.body, names, gone)
        inside = self._block(getattr(node, "body", []), names, gone)
        for clause in getattr(node, "handlers", []):
            self._block(clause.body, names, gone)
        after = self._block(getattr(node, "orelse", []), names, inside)
        self._block(getattr(node, "finalbody", []), names, gone)
        # After a clause catches an exception, the code below it runs.
        return (
            after
            if isinstance(node, (ast.Try, ast.TryStar)) and all(ends(clause.body) for clause in node.handlers)
            else gone
        )

    def _condition(self, test: ast.expr) -> _Condition:
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            inner = self._condition(test.operand)
            return _Condition(inner.others, inner.names, inner.exact)
        if isinstance(test, ast.BoolOp):
            parts = [self._condition(operand) for operand in test.values]
            if isinstance(test.op, ast.And):
                return _Condition(next((part.names for part in parts if part.names), ()), exact=False)
            if all(part.names for part in parts):
                exact = all(part.exact for part in parts)
                return _Condition(tuple(name for part in parts for name in part.names), exact=exact)
            return _Condition()
        if not isinstance(test, ast.Compare) or len(test.ops) != 1:
            return _Condition()
        left, operator, right = test.left, test.ops[0], test.comparators[0]
        if isinstance(operator, (ast.Eq, ast.Is, ast.NotEq, ast.IsNot)):
            value = right if self.is_name(left) else left if self.is_name(right) else None
            names = self._names([evaluate(value, self.scope)]) if value is not None else ()
            return _Condition(names) if isinstance(operator, (ast.Eq, ast.Is)) else _Condition((), names)
        if isinstance(operator, (ast.In, ast.NotIn)) and self.is_name(left):
            container = evaluate(right, self.scope)
            items: Iterable[Value] = ()
            if isinstance(container, Items) and container.complete:
                items = container.items
            names = self._names(items)
            return _Condition(names) if isinstance(operator, ast.In) else _Condition((), names)
        return _Condition()

    @staticmethod
    def _names(values: Iterable[Value]) -> tuple[Value, ...]:
        """The values with their options flattened, if all of them are strings."""
        names = [option for value in values for option in options(value)]
        return tuple(names) if all(string(name) is not None for name in names) else ()

    def _patterns(self, pattern: ast.pattern) -> Iterable[Value]:
        if isinstance(pattern, ast.MatchValue):
            return self._names([evaluate(pattern.value, self.scope)])
        if isinstance(pattern, ast.MatchOr):
            alternatives = [self._patterns(alternative) for alternative in pattern.patterns]
            return [name for names in alternatives for name in names] if all(alternatives) else ()
        if isinstance(pattern, ast.MatchAs) and pattern.pattern is not None:
            return self._patterns(pattern.pattern)
        return ()


def _texts(values: Iterable[Value]) -> frozenset[str]:
    return frozenset(text for value in values if (text := string(value)) is not None)


def ends(body: list[ast.stmt]) -> bool:
    """Whether the code after some statements is unreachable."""
    if not body:
        return False
    last = body[-1]
    while isinstance(last, ast.If):  # an `elif` chain may be very long
        if not last.orelse or not ends(last.body):
            return False
        last = last.orelse[-1]
    if isinstance(last, (ast.Return, ast.Raise, ast.Continue, ast.Break)):
        return True
    if isinstance(last, (ast.With, ast.AsyncWith)):
        return ends(last.body)
    if isinstance(last, (ast.Try, ast.TryStar)):
        return ends(last.finalbody) or (
            ends([*last.body, *last.orelse][-1:]) and all(ends(clause.body) for clause in last.handlers)
        )
    if isinstance(last, ast.Match):
        return all(ends(case.body) for case in last.cases) and any(
            isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None and case.guard is None
            for case in last.cases
        )
    return False


__all__ = ["Branch", "Branches", "ends"]
