"""Whether a function looks for a failure in a result before it returns it: `if "error" in answer: raise ...`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.rules._bodies import Body, inside, mentions
from mcpcore_lint.rules.handler._failures import (
    ERROR_KEYS,
    FAILED_STATUS,
    FAILURE_KEYS,
    MARKING_KEYS,
    STATUS_KEYS,
    SUCCESS_KEYS,
    normalized,
)
from mcpcore_lint.syntax.parse import walk

if TYPE_CHECKING:
    from collections.abc import Mapping

_LEAVING: Final = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_LOOKUPS: Final = frozenset({"get", "pop"})


def is_checked(name: ast.Name, body: Body) -> bool:
    """Whether a function returns a name only if it has found no failure in it.

    A test that the linter cannot read counts as one that finds failures. A test that finds a failure and returns it
    does not: `if "error" in answer: return answer`.
    """
    flags = {
        target.id: means_failure(statement.value, name.id, {})
        for statement in body.all(ast.Assign)
        if mentions(statement.value, name.id) and _looks_for_failure(statement.value, name.id)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
    for node in body.all(ast.If):
        test_flags = any(mentions(node.test, flag) for flag in flags)
        if not test_flags and not (mentions(node.test, name.id) and _looks_for_failure(node.test, name.id)):
            continue
        failed = means_failure(node.test, name.id, flags)
        if inside(name, node.body):
            if failed is not True:
                return True
        elif inside(name, node.orelse):
            if failed is not False:
                return True
        elif (failed is not False and isinstance(node.body[-1], _LEAVING)) or (failed and _binds(node.body, name.id)):
            return True
    return (
        any(mentions(node.test, variable) for node in body.all(ast.Assert) for variable in (name.id, *flags))
        or any(mentions(node.subject, name.id) for node in body.all(ast.Match))
        or any(_hands_over(node.value, name.id) for node in body.all(ast.Expr))
    )


def raises_failures(body: Body) -> bool:
    """Whether a wrapper raises if it finds a failure in the result of the function that it wraps."""
    return any(
        isinstance(node.body[-1], ast.Raise)
        and any(
            means_failure(node.test, name.id, {}) is True for name in walk([node.test]) if isinstance(name, ast.Name)
        )
        for node in body.all(ast.If)
    )


def means_failure(test: ast.expr, name: str, flags: Mapping[str, bool | None]) -> bool | None:
    """Whether a test holds for failures (True) or for results (False); None if the linter cannot read it."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _opposite(means_failure(operand, name, flags))
        case ast.NamedExpr(value=value):
            return means_failure(value, name, flags)
        case ast.BoolOp(values=values):
            meanings = (means_failure(value, name, flags) for value in values)
            return next((meaning for meaning in meanings if meaning is not None), None)
        case ast.Name(id=flag):
            return flags.get(flag)
        case ast.Compare(left=ast.Constant(value=str(key)), ops=[ast.In() | ast.NotIn() as op], comparators=[table]):
            if not mentions(table, name):
                return None
            return (normalized(key) in ERROR_KEYS | FAILURE_KEYS) is isinstance(op, ast.In)
        case ast.Compare(left=left, ops=[op], comparators=[ast.Constant(value=value)]):
            equal = isinstance(op, (ast.Eq, ast.Is))
            if isinstance(value, str) and _key(left, name) in STATUS_KEYS:
                return (value.lower() in FAILED_STATUS) is equal
            if not (value is None or isinstance(value, bool) or value == ""):
                return None
            # `ok is not True` and `ok == False` mean the opposite of `ok`.
            meaning = means_failure(left, name, flags)
            return meaning if equal is (value is True) else _opposite(meaning)
    read = _key(test, name)
    return True if read in ERROR_KEYS | FAILURE_KEYS else False if read in SUCCESS_KEYS else None


def _key(node: ast.expr, name: str) -> str | None:
    """The key or the attribute that an expression reads from a name."""
    match node:
        case (
            ast.Subscript(value=ast.Name(id=table), slice=ast.Constant(value=str(key)))
            | ast.Attribute(value=ast.Name(id=table), attr=key)
        ) if table == name:
            return normalized(key)
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id=table), attr=method), args=[ast.Constant(value=str(key)), *_]
        ) if table == name and method in _LOOKUPS:
            return normalized(key)
    return None


def _opposite(meaning: bool | None) -> bool | None:  # noqa: FBT001 - True, False or unknown
    return None if meaning is None else not meaning


def _looks_for_failure(test: ast.expr, name: str) -> bool:
    """Whether an expression may look for a failure in an answer, rather than test whether the answer is empty."""
    for node in walk([test]):
        if isinstance(node, ast.NamedExpr) and node.target.id == name:
            return False  # `if error := check(a)`
        if isinstance(node, ast.Call) and mentions(node, name) and getattr(node.func, "id", "") != "len":
            return True
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return True
        if isinstance(node, ast.Attribute) and normalized(node.attr) in MARKING_KEYS:
            return True
    return False


def _binds(statements: list[ast.stmt], name: str) -> bool:
    return any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
        for node in walk([*statements])
    )


def _hands_over(node: ast.expr, name: str) -> bool:
    """Whether a statement passes an answer to a function that may reject it: `raise_for_error(answer)`."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and any(isinstance(argument, ast.Name) and argument.id == name for argument in node.args)
    )
