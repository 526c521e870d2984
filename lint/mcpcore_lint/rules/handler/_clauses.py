"""Questions about an `except` clause: does it only pass or log, and which statements follow it?"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Final

from mcpcore_lint.patterns import regex
from mcpcore_lint.rules._bodies import Body, callee
from mcpcore_lint.syntax.parse import walk_shallow

if TYPE_CHECKING:
    from mcpcore_lint.model import CatchSite

LOG_METHODS: Final = frozenset(
    {"debug", "info", "warning", "warn", "error", "exception", "critical", "fatal", "log", "notice", "trace", "print"}
)
_LOGGER: Final = regex(r"log|console|^(?:ctx|context)$", re.IGNORECASE)
LOG_CALLS: Final = frozenset(
    {"print", "builtins.print", "warnings.warn", "traceback.print_exc", "traceback.print_exception", "sys.stderr.write",
     "sys.stdout.write", "pprint.pprint", "sentry_sdk.capture_exception"}
)  # fmt: skip
PROGRESS: Final = frozenset({"report_progress", "send_progress_notification", "send_log_message", "log"})
_REASON: Final = regex(
    r"#\s*(?!noqa|type:|pylint:|pragma:|mcpcore:|nosec|todo|fixme|here\b)\w+(?:\W+\w+)+", re.IGNORECASE
)
"""A comment of two or more words that is not a directive such as `noqa`."""


def is_logging(node: ast.expr, body: Body) -> bool:
    """Whether an expression only tells a log, a console or the client's log of something."""
    if isinstance(node, ast.Await):
        node = node.value
    if not isinstance(node, ast.Call):
        return False
    func = node.func
    if isinstance(func, ast.Attribute):
        if func.attr in LOG_METHODS and _LOGGER.search(last_name(func.value)):
            return True
        if func.attr in PROGRESS:
            return True
    return callee(node, body) in LOG_CALLS


def only_passes(statements: tuple[ast.stmt, ...] | list[ast.stmt], body: Body) -> bool:
    """Whether some statements do nothing but pass, continue, log or print."""
    for each in statements:
        match each:
            case ast.Pass() | ast.Continue():
                continue
            case ast.Expr(value=ast.Constant()):
                continue
            case ast.Expr(value=value) if is_logging(value, body):
                continue
            case ast.If():
                if only_passes(each.body, body) and only_passes(each.orelse, body):
                    continue
        return False
    return True


def thought_of(catch: CatchSite, body: Body) -> bool:
    """Whether somebody settled that the work goes on: it is logged, or a comment says why."""
    logs = (node for node in walk_shallow([*catch.body]) if isinstance(node, ast.Expr) and is_logging(node.value, body))
    return any(logs) or explained(catch, body)


def explained(catch: CatchSite, body: Body) -> bool:
    """Whether a comment in a clause says why it does what it does."""
    if not catch.body:
        return False
    source = body.module.source
    lines = range(catch.span.line, (catch.body[-1].end_lineno or catch.body[-1].lineno) + 1)
    return any(_REASON.search(source.line(number)) for number in lines)


def last_name(node: ast.expr) -> str:
    """The name that an expression of attributes and calls ends with."""
    while isinstance(node, ast.Call):
        node = node.func
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def guarding_statement(catch: CatchSite, body: Body) -> ast.AST | None:
    """The `try` or `with` that a clause belongs to."""
    return body.parents.get(catch.node) if isinstance(catch.node, ast.ExceptHandler) else catch.node


def following(statement: ast.AST, body: Body) -> list[ast.stmt]:
    """What is done behind a statement: in its own block, and behind the blocks round that one."""
    found: list[ast.stmt] = []
    current: ast.AST | None = statement
    while current is not None and current is not body.root:
        if isinstance(current, ast.stmt):
            found += body.after(current)
        current = body.parents.get(current)
        if isinstance(current, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            break
    return found
