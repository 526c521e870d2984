"""Questions about an `except` clause: does it only pass or log, and which statements follow it?"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Final

from mcpcore_lint.patterns import regex
from mcpcore_lint.rules._bodies import FUNCTIONS, Body, callee
from mcpcore_lint.syntax.parse import walk_shallow

if TYPE_CHECKING:
    from mcpcore_lint.model import CatchSite

_LOG_METHODS: Final = frozenset(
    {"debug", "info", "warning", "warn", "error", "exception", "critical", "fatal", "log", "notice", "trace", "print"}
)
_LOGGER: Final = regex(r"log|console|^(?:ctx|context)$", re.IGNORECASE)
_LOG_CALLS: Final = frozenset(
    {"print", "builtins.print", "warnings.warn", "traceback.print_exc", "traceback.print_exception", "sys.stderr.write",
     "sys.stdout.write", "pprint.pprint", "sentry_sdk.capture_exception"}
)  # fmt: skip
_PROGRESS: Final = frozenset({"report_progress", "send_progress_notification", "send_log_message", "log"})
_REASON: Final = regex(
    r"#\s*(?!noqa|type:|pylint:|pragma:|mcpcore:|nosec|todo|fixme|here\b)\w+(?:\W+\w+)+", re.IGNORECASE
)
"""A comment of two or more words that is not a directive such as `noqa`."""


def is_logging(node: ast.expr, body: Body) -> bool:
    """Whether an expression only writes to a log, to a console or to the client's log."""
    if isinstance(node, ast.Await):
        node = node.value
    if not isinstance(node, ast.Call):
        return False
    func = node.func
    if isinstance(func, ast.Attribute) and (
        func.attr in _PROGRESS or (func.attr in _LOG_METHODS and _LOGGER.search(last_name(func.value)))
    ):
        return True
    return callee(node, body) in _LOG_CALLS


def only_passes(statements: tuple[ast.stmt, ...] | list[ast.stmt], body: Body) -> bool:
    """Whether some statements do nothing but pass, continue, log or print."""
    for statement in statements:
        match statement:
            case ast.Pass() | ast.Continue() | ast.Expr(value=ast.Constant()):
                pass
            case ast.Expr(value=value) if is_logging(value, body):
                pass
            case ast.If() if only_passes([*statement.body, *statement.orelse], body):
                pass
            case _:
                return False
    return True


def is_deliberate(catch: CatchSite, body: Body) -> bool:
    """Whether the author decided to go on: the clause logs the failure, or a comment says why."""
    logs = (node for node in walk_shallow([*catch.body]) if isinstance(node, ast.Expr) and is_logging(node.value, body))
    return any(logs) or has_reason(catch, body)


def has_reason(catch: CatchSite, body: Body) -> bool:
    """Whether a comment in a clause says why it does what it does."""
    if not catch.body:
        return False
    source = body.module.source
    lines = range(catch.span.line, (catch.body[-1].end_lineno or catch.body[-1].lineno) + 1)
    return any(_REASON.search(source.line(number)) for number in lines)


def last_name(node: ast.expr) -> str:
    """The last name in an expression of attributes and calls."""
    while isinstance(node, ast.Call):
        node = node.func
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def root_name(node: ast.expr) -> str:
    """The first name in an expression of attributes, items and calls."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def guarding_statement(catch: CatchSite, body: Body) -> ast.stmt | None:
    """The `try` of a clause, or the `with` of a `suppress`."""
    node = body.parents.get(catch.node) if isinstance(catch.node, ast.ExceptHandler) else catch.node
    return body.statement_of(node) if node is not None else None


def else_block(statement: ast.stmt) -> list[ast.stmt]:
    """The `else` block of a `try`."""
    return statement.orelse if isinstance(statement, (ast.Try, ast.TryStar)) else []


def following(statement: ast.stmt, body: Body) -> list[ast.stmt]:
    """The statements after a statement in its function, starting with its own block."""
    statements: list[ast.stmt] = []
    node: ast.AST | None = statement
    while node is not None and node is not body.root and not isinstance(node, FUNCTIONS):
        if isinstance(node, ast.stmt):
            statements += body.after(node)
        node = body.parents.get(node)
    return statements
