"""How much a handler catches: what is not a failure of the tool must pass."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import Symbol
from mcpcore_lint.names import BUILTIN_EXCEPTIONS
from mcpcore_lint.rules._bodies import Body, body_of, mentions, where_to
from mcpcore_lint.rules.base import Rule, RuleContext
from mcpcore_lint.rules.handler._clauses import following, guarding_statement
from mcpcore_lint.rules.handler._optional import root_name
from mcpcore_lint.semantics.evaluate import evaluate
from mcpcore_lint.syntax.parse import walk_shallow

if TYPE_CHECKING:
    from mcpcore_lint.model import CatchSite, Handler, ToolDef

CANCELLED: Final = frozenset({"asyncio.CancelledError", "trio.Cancelled", "anyio.get_cancelled_exc_class"})

_PAST_EXCEPTION: Final = frozenset(
    {"BaseException", "BaseExceptionGroup", "GeneratorExit", "KeyboardInterrupt", "SystemExit"}
)
"""Builtin exceptions that are no `Exception`."""


class NoBaseExceptionCatch(Rule):
    """A clause that swallows cancellation."""

    id = "no-base-exception-catch"
    severity = Severity.ERROR
    family = "handler"
    summary = "`except BaseException` or a bare `except` that does not raise it again: it swallows cancellation"
    why = (
        "Cancelling a call raises inside the handler. A clause that catches it and goes on keeps the cancelled call "
        "running, and holds up the shutdown of the server; raising something else in its place does the same. In a "
        "function that is not `async` nothing is cancelled: there KeyboardInterrupt and SystemExit are swallowed, and "
        "the server does not end when it is told to."
    )
    bad = "except:\n    return []"
    good = "except Exception as error:\n    raise internal_error() from error"
    how_to_fix = (
        "Catch `Exception` or less. Where something must be undone in any case, undo it and `raise`, or use `finally`."
    )
    when_to_suppress = "In code that runs handlers for others, and passes what it caught on by hand."

    def check_handler(self, handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each clause that catches everything and does not pass it on."""
        body = body_of(handler)
        for catch in handler.catches:
            if not catch.catches_base:
                continue
            if not catch.suppress and (
                _ends_in_raise(list(catch.body), catch.name)
                or _lets_cancellation_go(catch)
                or _handed_on(catch)
                or _raised_later(catch, body)
                or _caught_before(catch, body)
            ):
                continue
            what = (
                "a bare `except`"
                if catch.bare
                else "`suppress(BaseException)`"
                if catch.suppress
                else "`except BaseException`"
            )
            ctx.report(
                catch.span,
                f"{what} in {tool.display_name} swallows "
                + (
                    "cancellation"
                    if isinstance(catch.function, ast.AsyncFunctionDef)
                    else "KeyboardInterrupt and SystemExit"
                ),
                help="catch Exception or less, or end the clause with `raise`; " + where_to(tool, what="internal_error")
                if not catch.suppress
                else "suppress the narrow exceptions that are expected here",
                tool=tool,
                module=handler.module,
            )


def _raises_again(node: ast.stmt, name: str | None) -> bool:
    if not isinstance(node, ast.Raise):
        return False
    exc = node.exc
    if exc is None:
        return True
    while isinstance(exc, ast.Call) and isinstance(exc.func, ast.Attribute) and exc.func.attr == "with_traceback":
        exc = exc.func.value
    return isinstance(exc, ast.Name) and exc.id == name


def _ends_in_raise(statements: list[ast.stmt], name: str | None) -> bool:
    """Whether every way through some statements raises the caught exception again."""
    for each in statements:
        if _raises_again(each, name):
            return True
        match each:
            case ast.Return() | ast.Raise() | ast.Continue() | ast.Break():
                return False
            case ast.If() if any(isinstance(one, (ast.Return, ast.Raise)) for one in walk_shallow([each])):
                kept = _ends_in_raise(each.body, name)
                other = _ends_in_raise(each.orelse, name)
                if kept and other:
                    return True
                leaves = any(
                    isinstance(one, ast.Return) or (isinstance(one, ast.Raise) and not _raises_again(one, name))
                    for one in walk_shallow([each])
                )
                if leaves:
                    return False
            case ast.Try():
                if _ends_in_raise(each.finalbody, name) or (_ends_in_raise(each.body, name) and not each.handlers):
                    return True
            case ast.With() | ast.AsyncWith():
                if _ends_in_raise(each.body, name):
                    return True
    return False


def _lets_cancellation_go(catch: CatchSite) -> bool:
    """Whether the clause looks at what it caught, and raises it again by its class."""
    for each in walk_shallow([*catch.body]):
        if not isinstance(each, (ast.If, ast.Match)):
            continue
        test = each.test if isinstance(each, ast.If) else each.subject
        looks = catch.name is not None and mentions(test, catch.name)
        if looks and isinstance(each, ast.If) and not each.orelse and _asks_for_less(test, catch):
            continue
        if looks and any(isinstance(one, ast.stmt) and _raises_again(one, catch.name) for one in walk_shallow([each])):
            return True
    return False


def _asks_for_less(test: ast.expr, catch: CatchSite) -> bool:
    """Whether a condition is `isinstance(exc, KeyError)`, which cancellation and the end of the program are not."""
    if not (
        isinstance(test, ast.Call)
        and isinstance(test.func, ast.Name)
        and test.func.id == "isinstance"
        and len(test.args) == 2
        and isinstance(test.args[0], ast.Name)
        and test.args[0].id == catch.name
    ):
        return False
    asked = test.args[1].elts if isinstance(test.args[1], ast.Tuple) else [test.args[1]]
    values = [evaluate(each, catch.module.scope_of(catch.function)) for each in asked]
    return bool(values) and all(
        isinstance(each, Symbol)
        and each.name.startswith("builtins.")
        and each.name.removeprefix("builtins.") in BUILTIN_EXCEPTIONS - _PAST_EXCEPTION
        for each in values
    )


def _handed_on(catch: CatchSite) -> bool:
    """Whether the exception is put into a future, from where its reader gets it."""
    return any(
        isinstance(each, ast.Attribute) and each.attr in {"set_exception", "throw"}
        for each in walk_shallow([*catch.body])
    )


def _raised_later(catch: CatchSite, body: Body) -> bool:
    """Whether the clause keeps the exception, and a statement behind the `try` raises it."""
    kept: set[str] = set()
    for node in walk_shallow([*catch.body]):
        match node:
            case ast.Assign(targets=[target], value=ast.Name(id=name)) if name == catch.name:
                kept.add(root_name(target))
            case ast.Call(func=ast.Attribute(attr="append", value=ast.Name(id=kept_in)), args=[ast.Name(id=name)]):
                if name == catch.name:
                    kept.add(kept_in)
    statement = guarding_statement(catch, body)
    if not kept or statement is None:
        return False
    behind = walk_shallow([*following(statement, body)])
    raised = [node.exc for node in behind if isinstance(node, ast.Raise) and node.exc is not None]
    return any(mentions(node, name) for node in raised for name in kept)


def _caught_before(catch: CatchSite, body: Body) -> bool:
    """Whether an earlier clause of the same `try` takes cancellation and raises it again."""
    parent = body.parents.get(catch.node)
    if not isinstance(parent, (ast.Try, ast.TryStar)):
        return False
    for clause in parent.handlers:
        if clause is catch.node:
            return False
        earlier = body.catches.get(clause)
        if earlier is None or not _ends_in_raise(clause.body, clause.name):
            continue
        spelled = ast.unparse(clause.type) if clause.type is not None else ""
        if (
            any(each in CANCELLED for each in earlier.types if each)
            or "ancelled" in spelled
            or "get_cancelled" in spelled
        ):
            return True
    return False
