"""Whether a function looks for a failure in a result before it returns it: `if "error" in answer: raise ...`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.rules._bodies import Body, inside, mentions
from mcpcore_lint.rules.handler._failures import (
    ERROR_KEYS,
    FAILED_STATUS,
    FAILURE_KEYS,
    STATUS_KEYS,
    SUCCESS_KEYS,
    TELLING,
    plain,
)
from mcpcore_lint.syntax.parse import walk

if TYPE_CHECKING:
    from collections.abc import Mapping

_LEAVES: Final = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_LOOKS_UP: Final = frozenset({"get", "pop"})


def is_checked(name: ast.Name, body: Body) -> bool:
    """Whether a function returns a name only if it has found no failure in it.

    A test that the linter cannot read counts as one that finds failures. A test that finds a failure and returns it
    does not: `if "error" in answer: return answer`.
    """
    flags = {
        target.id: says_failed(statement.value, name.id, {})
        for statement in body.all(ast.Assign)
        if mentions(statement.value, name.id) and _asks(statement.value, name.id)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
    asked = {name.id, *flags}
    for test in body.all(ast.If):
        if not any(mentions(test.test, each) for each in asked) or not (
            _asks(test.test, name.id) or _has(test.test, flags)
        ):
            continue
        failed = says_failed(test.test, name.id, flags)
        if inside(name, test.body):
            if failed is not True:
                return True
        elif inside(name, test.orelse):
            if failed is not False:
                return True
        elif (failed is not False and isinstance(test.body[-1], _LEAVES)) or (failed and _binds(test.body, name.id)):
            return True
    return (
        any(mentions(statement.test, each) for statement in body.all(ast.Assert) for each in asked)
        or any(mentions(statement.subject, name.id) for statement in body.all(ast.Match))
        or any(_hands_over(statement.value, name.id) for statement in body.all(ast.Expr))
    )


def raises_failures(body: Body) -> bool:
    """Whether a wrapper raises where it finds a failure in what it wraps."""
    return any(
        isinstance(test.body[-1], ast.Raise)
        and any(says_failed(test.test, name.id, {}) is True for name in walk([test.test]) if isinstance(name, ast.Name))
        for test in body.all(ast.If)
    )


def says_failed(test: ast.expr, name: str, flags: Mapping[str, bool | None]) -> bool | None:
    """Whether a test holds for failures (True), for results (False), or cannot be read (None)."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _not(says_failed(operand, name, flags))
        case ast.NamedExpr(value=value):
            return says_failed(value, name, flags)
        case ast.BoolOp(values=values):
            answers = (says_failed(value, name, flags) for value in values)
            return next((answer for answer in answers if answer is not None), None)
        case ast.Name(id=flag):
            return flags.get(flag)
        case ast.Compare(left=ast.Constant(value=str(key)), ops=[ast.In() | ast.NotIn() as op], comparators=[holder]):
            if not mentions(holder, name):
                return None
            failed = plain(key) in ERROR_KEYS | FAILURE_KEYS
            return failed if isinstance(op, ast.In) else not failed
        case ast.Compare(left=left, ops=[op], comparators=[ast.Constant(value=value)]):
            equal = isinstance(op, (ast.Eq, ast.Is))
            if isinstance(value, str) and _key(left, name) in STATUS_KEYS:
                failed = value.lower() in FAILED_STATUS
                return failed if equal else not failed
            if not (value is None or isinstance(value, bool) or value == ""):
                return None
            # `ok is not True` and `ok == False` say the opposite of `ok`.
            answer = says_failed(left, name, flags)
            return answer if equal is (value is True) else _not(answer)
    taken = _key(test, name)
    if taken in ERROR_KEYS | FAILURE_KEYS:
        return True
    return False if taken in SUCCESS_KEYS else None


def _key(node: ast.expr, name: str) -> str | None:
    """The key or the attribute that an expression takes out of an answer."""
    match node:
        case ast.Subscript(value=ast.Name(id=holder), slice=ast.Constant(value=str(key))) if holder == name:
            return plain(key)
        case ast.Attribute(value=ast.Name(id=holder), attr=key) if holder == name:
            return plain(key)
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id=holder), attr=method), args=[ast.Constant(value=str(key)), *_]
        ) if holder == name and method in _LOOKS_UP:
            return plain(key)
    return None


def _not(answer: bool | None) -> bool | None:  # noqa: FBT001 - one of three answers
    return None if answer is None else not answer


def _has(test: ast.expr, flags: Mapping[str, bool | None]) -> bool:
    return any(mentions(test, flag) for flag in flags)


def _asks(test: ast.expr, name: str) -> bool:
    """Whether an expression may be about a failure in an answer, and not only about whether there is one."""
    for node in walk([test]):
        if isinstance(node, ast.NamedExpr) and node.target.id == name:
            return False  # `if error := check(a)`
        if isinstance(node, ast.Call) and mentions(node, name) and getattr(node.func, "id", "") != "len":
            return True
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return True
        if isinstance(node, ast.Attribute) and plain(node.attr) in TELLING:
            return True
    return False


def _binds(statements: list[ast.stmt], name: str) -> bool:
    return any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
        for node in walk([*statements])
    )


def _hands_over(node: ast.expr, name: str) -> bool:
    """Whether a statement gives an answer to a function that may refuse it: `raise_for_error(answer)`."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and any(isinstance(argument, ast.Name) and argument.id == name for argument in node.args)
    )
