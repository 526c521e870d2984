"""The parts of a function that run for some texts alone: comparisons of a name with them, and `match`."""

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
    """Statements that run for some names alone, or for all but some."""

    names: tuple[Value, ...]
    """The names; none where it is not known which they are."""
    body: list[ast.stmt]
    but: frozenset[str] = frozenset()
    """Names for which they do not run."""

    def runs_for(self, name: str | None) -> bool:
        """Whether the statements may run for a name."""
        if name in self.but:
            return False
        return not self.names or name is None or name in {string(each) for each in self.names}


class _Told(NamedTuple):
    """What a condition tells of the name."""

    names: tuple[Value, ...] = ()
    """One of these, where it holds."""
    others: tuple[Value, ...] = ()
    """One of these, where it does not."""
    exact: bool = True
    """Whether the name is none of these on the other side."""


class Branches:
    """Finds them; `is_name` tells which expressions are compared with the texts."""

    def __init__(self, is_name: Callable[[ast.expr], bool], scope: Scope) -> None:
        self.is_name = is_name
        self.scope = scope
        self._found: list[Branch] = []

    def of(self, node: FunctionNode) -> list[Branch]:
        """The branches of a function, in the order of the source; what runs for every name is among them."""
        self._found = []
        if not isinstance(node, ast.Lambda):
            self._block(node.body, (), frozenset())
        return self._found

    def _block(self, body: list[ast.stmt], names: tuple[Value, ...], gone: frozenset[str]) -> frozenset[str]:
        """Read some statements; the names for which their end is not reached."""
        own: list[ast.stmt] = []

        def flush() -> None:
            if own:
                self._found.append(Branch(names, [*own], gone))
                own.clear()

        for each in body:
            told = self._told(each.test) if isinstance(each, ast.If) else _Told()
            if isinstance(each, ast.If) and (told.names or told.others):
                flush()
                gone |= self._chain(each, names, gone)
                if ends(each.body) and len(told.others) == 1:
                    # `if name != "x": raise ...`: what follows is for that name alone.
                    names = told.others
            elif isinstance(each, ast.Match) and self.is_name(each.subject):
                flush()
                seen: frozenset[str] = frozenset()
                for case in each.cases:
                    these = tuple(self._patterns(case.pattern))
                    ended = self._block(case.body, these or names, gone if these else gone | seen)
                    if case.guard is None:
                        seen |= _texts(these)
                        gone |= ended & _texts(these)
            elif not names and isinstance(each, _COMPOUND):
                flush()
                gone |= self._compound(each, names, gone)
            else:
                own.append(each)
        flush()
        return gone | _texts(names) if ends(body) else gone

    def _chain(self, node: ast.If, names: tuple[Value, ...], gone: frozenset[str]) -> frozenset[str]:
        """Read an `if` with its `elif` branches, which may be very many."""
        chain: list[tuple[_Told, frozenset[str]]] = []
        left_over: list[ast.stmt] = [node]
        before = gone
        while len(left_over) == 1 and isinstance(left_over[0], ast.If):
            current = left_over[0]
            told = self._told(current.test)
            if not (told.names or told.others):
                break
            chain.append((told, self._block(current.body, told.names or names, before | _texts(told.others))))
            names = told.others or names
            before |= _texts(told.names) if told.exact else frozenset()
            left_over = current.orelse
        ended = self._block(left_over, names, before)
        for told, left in reversed(chain):
            here, there = _texts(told.names), _texts(told.others)
            # A name that one side alone runs for has ended where it did there.
            one_way = (left & here) | (ended - here) if here else (ended & there) | (left - there)
            ended = gone | (one_way if told.exact else left & ended)
        return ended

    def _compound(self, node: ast.stmt, names: tuple[Value, ...], gone: frozenset[str]) -> frozenset[str]:
        if isinstance(node, (ast.With, ast.AsyncWith)):
            return self._block(node.body, names, gone)
        inside = self._block(getattr(node, "body", []), names, gone)
        for clause in getattr(node, "handlers", []):
            self._block(clause.body, names, gone)
        after = self._block(getattr(node, "orelse", []), names, inside)
        self._block(getattr(node, "finalbody", []), names, gone)
        # What a clause catches goes on behind it.
        return (
            after
            if isinstance(node, (ast.Try, ast.TryStar)) and all(ends(each.body) for each in node.handlers)
            else gone
        )

    def _told(self, test: ast.expr) -> _Told:
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            told = self._told(test.operand)
            return _Told(told.others, told.names, told.exact)
        if isinstance(test, ast.BoolOp):
            parts = [self._told(each) for each in test.values]
            if isinstance(test.op, ast.And):
                return _Told(next((each.names for each in parts if each.names), ()), exact=False)
            if all(each.names for each in parts):
                exact = all(each.exact for each in parts)
                return _Told(tuple(name for each in parts for name in each.names), exact=exact)
            return _Told()
        if not isinstance(test, ast.Compare) or len(test.ops) != 1:
            return _Told()
        left, operator, right = test.left, test.ops[0], test.comparators[0]
        if isinstance(operator, (ast.Eq, ast.Is, ast.NotEq, ast.IsNot)):
            value = right if self.is_name(left) else left if self.is_name(right) else None
            found = self._names([evaluate(value, self.scope)]) if value is not None else ()
            return _Told(found) if isinstance(operator, (ast.Eq, ast.Is)) else _Told((), found)
        if isinstance(operator, (ast.In, ast.NotIn)) and self.is_name(left):
            several = evaluate(right, self.scope)
            items: Iterable[Value] = ()
            if isinstance(several, Items) and several.complete:
                items = several.items
            found = self._names(items)
            return _Told(found) if isinstance(operator, ast.In) else _Told((), found)
        return _Told()

    @staticmethod
    def _names(values: Iterable[Value]) -> tuple[Value, ...]:
        """The values where all of them are texts, else none."""
        found = [each for value in values for each in options(value)]
        return tuple(found) if all(string(each) is not None for each in found) else ()

    def _patterns(self, pattern: ast.pattern) -> Iterable[Value]:
        if isinstance(pattern, ast.MatchValue):
            return self._names([evaluate(pattern.value, self.scope)])
        if isinstance(pattern, ast.MatchOr):
            found = [self._patterns(each) for each in pattern.patterns]
            return [name for each in found for name in each] if all(found) else ()
        if isinstance(pattern, ast.MatchAs) and pattern.pattern is not None:
            return self._patterns(pattern.pattern)
        return ()


def _texts(values: Iterable[Value]) -> frozenset[str]:
    return frozenset(text for each in values if (text := string(each)) is not None)


def ends(body: list[ast.stmt]) -> bool:
    """Whether nothing goes on behind some statements."""
    if not body:
        return False
    last = body[-1]
    while isinstance(last, ast.If):  # a chain of them may be very long
        if not last.orelse or not ends(last.body):
            return False
        last = last.orelse[-1]
    if isinstance(last, (ast.Return, ast.Raise, ast.Continue, ast.Break)):
        return True
    if isinstance(last, (ast.With, ast.AsyncWith)):
        return ends(last.body)
    if isinstance(last, (ast.Try, ast.TryStar)):
        return ends(last.finalbody) or (
            ends([*last.body, *last.orelse][-1:]) and all(ends(each.body) for each in last.handlers)
        )
    if isinstance(last, ast.Match):
        return all(ends(each.body) for each in last.cases) and any(
            isinstance(each.pattern, ast.MatchAs) and each.pattern.pattern is None and each.guard is None
            for each in last.cases
        )
    return False


__all__ = ["Branch", "Branches", "ends"]
