"""The branches of a function that run only for some values of a name: `if name == "x"` and `match name`."""

import ast
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from mcpcore_lint.dataclasses import light
from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.syntax.parse import walk_shallow
from mcpcore_lint.engine.syntax.scopes import Scope
from mcpcore_lint.model import FunctionNode, Items, Value, options, string

JUMPS: Final = (ast.Return, ast.Raise, ast.Continue, ast.Break)
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
    """What a condition says about the name."""

    names: tuple[Value, ...] = ()
    """The names that it compares the name with; empty if it is about something else."""
    negated: bool = False
    """Whether it holds for all other names."""
    exact: bool = True
    """Whether it holds for all of these names."""


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
        """Read some statements; return the names for which their end is not reached.

        Args:
            body: The statements.
            names: The names for which they run; empty if they are unknown.
            gone: Names for which they do not run.
        """
        own: list[ast.stmt] = []
        for statement in body:
            cases = self._cases(statement)
            if not cases and (names or not self._is_compound(statement)):
                own.append(statement)
                continue
            self._add(own, names, gone)
            own = []
            if not cases:
                gone |= self._compound(statement, gone)
                continue
            seen, rest = gone, names
            for condition, inner in cases:
                texts = _texts(condition.names)
                if condition.negated:
                    gone |= self._block(inner, rest, seen | texts) - seen - texts
                    rest = condition.names
                    continue
                ended = self._block(inner, condition.names or rest, seen)
                gone |= ended & texts if texts else ended - seen
                seen |= texts if condition.exact else frozenset()
            condition, inner = cases[0]
            if condition.negated and ends(inner) and len(condition.names) == 1:
                # After `if name != "x": raise ...`, the code runs only for "x".
                names = condition.names
        self._add(own, names, gone)
        return gone | _texts(names) if ends(body) else gone

    def _add(self, own: list[ast.stmt], names: tuple[Value, ...], gone: frozenset[str]) -> None:
        if own:
            self._found.append(Branch(names, own, gone))

    def _cases(self, node: ast.stmt) -> list[tuple[_Condition, list[ast.stmt]]]:
        """The bodies of an `if` with its `elif` branches, or of a `match`; none if they do not depend on the name."""
        cases: list[tuple[_Condition, list[ast.stmt]]] = []
        if isinstance(node, ast.Match) and self.is_name(node.subject):
            return [
                (_Condition(tuple(self._patterns(case.pattern)), exact=not case.guard), case.body)
                for case in node.cases
            ]
        left_over: list[ast.stmt] = [node]
        while len(left_over) == 1 and isinstance(current := left_over[0], ast.If):
            condition = self._condition(current.test)
            if not condition.names:
                break
            cases.append((condition, current.body))
            left_over = current.orelse
        return [*cases, (_Condition(), left_over)] if cases and left_over != [node] else cases

    def _is_compound(self, node: ast.stmt) -> bool:
        """Whether branches may be inside a statement."""
        if not isinstance(node, ast.If):
            return isinstance(node, _COMPOUND)
        return any(isinstance(part, (ast.If, ast.Match)) and self._cases(part) for part in walk_shallow([node]))

    def _compound(self, node: ast.stmt, gone: frozenset[str]) -> frozenset[str]:
        if isinstance(node, ast.If):
            ended = self._block(node.body, (), gone)
            return (ended & self._block(node.orelse, (), gone)) | gone
        clauses = getattr(node, "handlers", [])
        for inner in (*(clause.body for clause in clauses), getattr(node, "finalbody", [])):
            self._block(inner, (), gone)
        inside = self._block(getattr(node, "orelse", []), (), self._block(getattr(node, "body", []), (), gone))
        # A loop may not run, and after a clause catches an exception, the code below it runs.
        runs = isinstance(node, (ast.With, ast.AsyncWith, ast.Try, ast.TryStar))
        return inside if runs and all(ends(clause.body) for clause in clauses) else gone

    def _condition(self, test: ast.expr) -> _Condition:
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                inner = self._condition(operand)
                return inner._replace(negated=not inner.negated) if inner.exact else _Condition()
            case ast.BoolOp(op=ast.And(), values=values):
                parts = [part for part in map(self._condition, values) if part.names and not part.negated]
                return parts[0]._replace(exact=False) if parts else _Condition()
            case ast.BoolOp(values=values):
                parts = [self._condition(value) for value in values]
                known = all(part.names and part.exact and not part.negated for part in parts)
                return _Condition(tuple(name for part in parts for name in part.names)) if known else _Condition()
            case ast.Compare(
                left=left, ops=[ast.Eq() | ast.Is() | ast.NotEq() | ast.IsNot() as op], comparators=[right]
            ):
                value = right if self.is_name(left) else left if self.is_name(right) else None
                names = self._names([evaluate(value, self.scope)]) if value is not None else ()
                return _Condition(names, negated=isinstance(op, (ast.NotEq, ast.IsNot)))
            case ast.Compare(left=left, ops=[ast.In() | ast.NotIn() as op], comparators=[right]) if self.is_name(left):
                container = evaluate(right, self.scope)
                items = container.items if isinstance(container, Items) and container.complete else ()
                return _Condition(self._names(items), negated=isinstance(op, ast.NotIn))
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


def ends(body: list[ast.stmt], stops: Callable[[ast.stmt], bool] = lambda node: isinstance(node, JUMPS)) -> bool:
    """Whether the code after some statements is unreachable. `stops` says so of a simple statement."""
    last = body[-1] if body else None
    while isinstance(last, ast.If):  # an `elif` chain may be very long
        if not last.orelse or not ends(last.body, stops):
            return False
        last = last.orelse[-1]
    match last:
        case ast.With() | ast.AsyncWith():
            # A context manager that swallows exceptions says so by its name.
            swallows = any("suppress" in ast.unparse(item.context_expr) for item in last.items)
            return not swallows and ends(last.body, stops)
        case ast.Try() | ast.TryStar():
            inside = ends(last.orelse or last.body, stops) and all(ends(clause.body, stops) for clause in last.handlers)
            return inside or ends(last.finalbody, stops)
        case ast.Match(cases=cases):
            total = any(
                isinstance(case.pattern, ast.MatchAs) and not (case.pattern.pattern or case.guard) for case in cases
            )
            return total and all(ends(case.body, stops) for case in cases)
    return last is not None and stops(last)
