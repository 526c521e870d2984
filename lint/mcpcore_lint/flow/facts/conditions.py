"""What conditions on an error that was caught let through: its class, its code, its reason, whether by `if` or `match`.

What is asked of the error and cannot be read lets nothing through for certain. What is asked of anything else, as the
number of an attempt, may be so or not: then everything may come through.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from mcpcore_lint.flow.effects import NOTHING, Chain, Guard
from mcpcore_lint.model import CallValue, CodeValue, Const, Items, Mapping, Value, options, string
from mcpcore_lint.semantics.branches import ends
from mcpcore_lint.semantics.evaluate import CODES, evaluate
from mcpcore_lint.semantics.subclasses import CODED_ERROR
from mcpcore_lint.syntax.parse import walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mcpcore_lint.flow.bodies.builder import HandlerBuilder
    from mcpcore_lint.syntax.scopes import Scope

_DOUBT: Final = Guard(doubt=True)
_MAX_DEEP: Final = 40
"""How many conditions within one another, and cases beside one another, are read."""
_SETS: Final = frozenset({"builtins.frozenset", "builtins.set", "builtins.tuple", "builtins.list"})


class _Subject(NamedTuple):
    """What a condition asks about."""

    word: Literal["code", "reason"]
    form: str = ""
    """Of a code: its `name` or its `value`, if not the member itself."""


class Asking:
    """Reads the conditions of one function on one error."""

    def __init__(
        self,
        builder: HandlerBuilder,
        scope: Scope,
        errors: Iterable[str],
        kinds: Iterable[str] = (),
        parts: Iterable[str] = (),
    ) -> None:
        """Begin.

        Args:
            builder: What is read of the function.
            scope: The names of the function.
            errors: The names of the error.
            kinds: The names of its class.
            parts: Names of what comes with it: its traceback, or all that is told of it.
        """
        self.builder = builder
        self.scope = scope
        self.errors = frozenset(errors)
        self.kinds = frozenset(kinds)
        self.told = self.errors | self.kinds | frozenset(parts)

    def before(self, node: ast.AST, stop: ast.AST) -> Chain:
        """What is asked round a statement and before it, within a clause or a function."""
        found: list[Guard] = []
        current, parents = node, self.builder.parents
        while current is not stop:
            parent = parents.get(current)
            if parent is None:
                return ()
            if isinstance(parent, ast.If) and current is not parent.test:
                found.extend(self.where(parent.test, wanted=current in parent.body))
            elif isinstance(parent, ast.Match) and isinstance(current, ast.match_case):
                found.extend(self._case(parent, parent.cases.index(current)))
            if isinstance(current, ast.stmt):
                blocks = (getattr(parent, name, None) or () for name in ("body", "orelse", "finalbody"))
                block: Sequence[ast.stmt] = next((each for each in blocks if current in each), ())
                found.extend(self.behind(block[: block.index(current)] if block else ()))
            current = parent
        return tuple(found)

    def behind(self, block: Sequence[ast.stmt], depth: int = 0) -> Chain:
        """What gets to the end of some statements."""
        return tuple(guard for each in block for guard in self._past(each, depth))

    def _past(self, statement: ast.stmt, depth: int) -> Chain:
        if depth > _MAX_DEEP:
            return (_DOUBT,) if isinstance(statement, ast.If) and self._mentions(statement.test) else ()
        if isinstance(statement, (ast.With, ast.AsyncWith)):
            return self.behind(statement.body, depth + 1)
        if isinstance(statement, ast.If):
            ways = [(statement.body, True), (statement.orelse, False)]
            onward = [(holds, self.behind(block, depth + 1)) for block, holds in ways if not ends(block)]
            if len(onward) > 1 and not any(inner for _, inner in onward):
                return ()
            return _either([(*self.where(statement.test, wanted=holds), *inner) for holds, inner in onward])
        if isinstance(statement, ast.Match):
            goes_on = [index for index, case in enumerate(statement.cases) if not ends(case.body)]
            if len(goes_on) == len(statement.cases) and not any(
                self.behind(each.body, depth + 1) for each in statement.cases
            ):
                return ()
            none = self._case(statement, len(statement.cases))
            matched = [
                (*self._case(statement, index), *self.behind(statement.cases[index].body, depth + 1))
                for index in goes_on
            ]
            return _either([*matched, none])
        return ()

    def _case(self, node: ast.Match, index: int) -> Chain:
        """What comes to one case of a `match`; with the number of cases, what comes to none."""
        if len(node.cases) > _MAX_DEEP:
            return (_DOUBT,) if self._mentions(node.subject) else ()
        found: list[Guard] = []
        for each in node.cases[:index]:
            without = self._pattern(each.pattern, node.subject, wanted=False)
            found.extend(_either([without, self.where(each.guard, wanted=False)]) if each.guard else without)
        if index < len(node.cases):
            case = node.cases[index]
            found.extend(self._pattern(case.pattern, node.subject, wanted=True))
            found.extend(self.where(case.guard, wanted=True) if case.guard else ())
        return tuple(found)

    # -- conditions ----------------------------------------------------------------------------------------------

    def where(self, test: ast.expr, *, wanted: bool, depth: int = 0) -> Chain:
        """What comes to where a condition holds, or does not."""
        while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            test, wanted = test.operand, not wanted
        if isinstance(test, ast.BoolOp) and depth < _MAX_DEEP:
            parts = [self.where(each, wanted=wanted, depth=depth + 1) for each in test.values]
            if isinstance(test.op, ast.And) is wanted:
                return tuple(guard for each in parts for guard in each)
            return _either(parts)
        found = self._read(test, wanted=wanted)
        if found is None and isinstance(test, (ast.Name, ast.NamedExpr)) and depth < _MAX_DEEP:
            values = [test.value] if isinstance(test, ast.NamedExpr) else self._values(test)
            if len(values) == 1:
                return self.where(values[0], wanted=wanted, depth=depth + 1)
        if found is None:
            return (_DOUBT,) if self._mentions(test) else ()
        return found

    def _read(self, test: ast.expr, *, wanted: bool) -> Chain | None:
        if isinstance(test, ast.Name) and test.id in self.told:
            return () if wanted else (NOTHING,)
        if isinstance(test, ast.Call):
            asked = self._asked_class(test)
            return None if asked is None else self._of_class(asked, wanted=wanted)
        subject = self._subject(test)
        if subject is not None:
            coded = Guard(only=(CODED_ERROR,)) if wanted else Guard(but=(CODED_ERROR,))
            return (coded if subject.word == "code" else _compared("reason", ("",), same=not wanted),)
        if not isinstance(test, ast.Compare) or len(test.ops) != 1:
            return None
        operator, sides = test.ops[0], (test.left, test.comparators[0])
        if not isinstance(operator, (ast.Eq, ast.Is, ast.In, ast.NotEq, ast.IsNot, ast.NotIn)):
            return None
        wanted = isinstance(operator, (ast.Eq, ast.Is, ast.In)) is wanted
        several = isinstance(operator, (ast.In, ast.NotIn))
        for asked, other in (sides, sides[::-1]):
            if isinstance(asked, ast.Name) and asked.id in self.told and not several and _is_none(other):
                return (NOTHING,) if wanted else ()
            if self._is_class(asked) and not several:
                # That it is of a class is not yet that it is of no class below.
                return (Guard(only=self.builder.types_of(other, self.scope)), _DOUBT) if wanted else (_DOUBT,)
            subject = self._subject(asked)
            if subject is None or (several and asked is not test.left):
                continue
            value = evaluate(other, self.scope)
            values = _members(value) if several else options(value)
            texts = _texts(values, subject) if values else None
            return (_compared(subject.word, texts, same=wanted),) if texts else None
        return None

    def _asked_class(self, test: ast.Call) -> ast.expr | None:
        """The classes in `isinstance(error, ...)`, or in `issubclass(kind, ...)`."""
        if not isinstance(test.func, ast.Name) or len(test.args) != 2 or not isinstance(test.args[0], ast.Name):
            return None
        names = {"isinstance": self.errors, "issubclass": self.kinds}.get(test.func.id, ())
        return test.args[1] if test.args[0].id in names else None

    def _of_class(self, classes: ast.expr, *, wanted: bool) -> Chain:
        types = self.builder.types_of(classes, self.scope)
        found = Guard(only=types) if wanted else Guard(but=types)
        return (found, _DOUBT) if None in types else (found,)

    def _is_class(self, node: ast.expr) -> bool:
        """Whether an expression is the class of the error: `type(error)`, or a name of it."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "type":
            return len(node.args) == 1 and isinstance(node.args[0], ast.Name) and node.args[0].id in self.errors
        return isinstance(node, ast.Name) and node.id in self.kinds

    def _subject(self, node: ast.expr, depth: int = 0) -> _Subject | None:
        """What of the error an expression is, where it is its code or its reason."""
        if isinstance(node, ast.NamedExpr):
            node = node.value
        word: object = None
        owner: ast.expr | None = None
        if isinstance(node, ast.Attribute):
            word, owner = node.attr, node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "getattr":
            named = node.args[1] if len(node.args) in {2, 3} else None
            word, owner = (named.value, node.args[0]) if isinstance(named, ast.Constant) else (None, None)
        if isinstance(owner, ast.Name) and owner.id in self.errors:
            if word == "code":
                return _Subject("code")
            return _Subject("reason") if word == "reason" else None
        if word in {"name", "value"} and owner is not None:
            inner = self._subject(owner, depth)
            return _Subject("code", str(word)) if inner == _Subject("code") else None
        if isinstance(node, ast.Name) and depth < _MAX_DEEP:
            found = {self._subject(each, depth + 1) for each in self._values(node)}
            return found.pop() if len(found) == 1 else None
        return None

    def _values(self, node: ast.Name) -> list[ast.expr]:
        """All that a name is set to in the function; nothing where that is not plain to see."""
        found = self.scope.lookup(node.id) if node.id not in self.told else None
        if found is None or found[0] is not self.scope:
            return []
        values = [each.value for each in found[1] if each.kind in {"assign", "annotated"} and each.value is not None]
        return values if len(values) == len(found[1]) else []

    def _mentions(self, test: ast.expr) -> bool:
        """Whether an expression has to do with the error, itself or by a name that is made of it."""
        waiting, seen = [test], set[str]()
        while waiting:
            for each in walk([waiting.pop()]):
                if isinstance(each, ast.Name) and each.id not in seen:
                    seen.add(each.id)
                    if each.id in self.told:
                        return True
                    bound = self.scope.lookup(each.id)
                    if bound is not None and bound[0] is self.scope:
                        waiting.extend(one.value for one in bound[1] if one.value is not None)
        return False

    def _pattern(self, pattern: ast.pattern, subject: ast.expr, *, wanted: bool) -> Chain:
        """What matches a pattern, or does not."""
        if isinstance(pattern, ast.MatchAs):
            if pattern.pattern is None:
                return () if wanted else (NOTHING,)
            return self._pattern(pattern.pattern, subject, wanted=wanted)
        if isinstance(pattern, ast.MatchOr):
            parts = [self._pattern(each, subject, wanted=wanted) for each in pattern.patterns]
            return _either(parts) if wanted else tuple(guard for each in parts for guard in each)
        if isinstance(pattern, ast.MatchClass) and isinstance(subject, ast.Name) and subject.id in self.errors:
            parts = [self._of_class(pattern.cls, wanted=wanted), *[(_DOUBT,)] * bool(pattern.patterns)]
            for word, inner in zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True):
                asked = ast.Attribute(subject, word, ast.Load())
                parts.append(self._pattern(inner, asked, wanted=wanted))
            return tuple(guard for each in parts for guard in each) if wanted else _either(parts)
        asked_of = self._subject(subject)
        values: tuple[Value, ...] = ()
        if isinstance(pattern, ast.MatchValue):
            values = options(evaluate(pattern.value, self.scope))
        elif isinstance(pattern, ast.MatchSingleton):
            values = (Const(pattern, None, pattern.value),)
        texts = _texts(values, asked_of) if asked_of is not None and values else None
        if asked_of is not None and texts:
            return (_compared(asked_of.word, texts, same=wanted),)
        return (_DOUBT,) if self._mentions(subject) else ()


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _compared(word: Literal["code", "reason"], texts: tuple[str, ...], *, same: bool) -> Guard:
    return Guard(asks=word, these=texts) if same else Guard(asks=word, others=texts)


def _either(ways: list[Chain]) -> Chain:
    """What comes by one way or by another."""
    open_ = list(dict.fromkeys(each for each in ways if NOTHING not in each))
    if () in open_:
        return ()
    if len(open_) > 1:
        return (Guard(either=tuple(open_)),)
    return open_[0] if open_ else (NOTHING,)


def _members(value: Value) -> tuple[Value, ...]:
    """What a sequence, a set or a table has in it; nothing where that cannot be seen."""
    if isinstance(value, CallValue) and value.func.name in _SETS and len(value.args) == 1 and not value.keywords:
        value = value.args[0]
    if isinstance(value, Items) and value.complete:
        return tuple(one for each in value.items for one in options(each))
    if isinstance(value, Mapping) and value.complete:
        return tuple(one for each, _ in value.items for one in options(each))
    return ()


def _texts(values: Iterable[Value], subject: _Subject) -> tuple[str, ...] | None:
    """What codes or reasons some values are, a reason of None as an empty text; None where that cannot be told."""
    found: list[str] = []
    for each in values:
        text: str | None = None
        if subject.word == "reason":
            text = "" if isinstance(each, Const) and each.value is None else string(each)
        elif subject.form == "name":
            text = string(each)
        elif isinstance(each, CodeValue):
            text = each.name
        elif isinstance(each, Const) and isinstance(each.value, int):
            text = CODES.name_of(each.value)
        if text is None:
            return None
        found.append(text)
    return tuple(found)


__all__ = ["Asking"]
