"""no-base-exception-catch: `except BaseException` or a bare `except` that does not re-raise."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._bodies import Body, body_of, mentions, where_to
from mcpcore_lint.rules.handler._except_clauses import following, guarding_statement, root_name
from mcpcore_lint.syntax.parse import walk_shallow

if TYPE_CHECKING:
    from mcpcore_lint.model import CatchSite, Handler, ToolDef


class NoBaseExceptionCatch(Rule):
    """A clause that swallows cancellation."""

    id = "no-base-exception-catch"
    severity = Severity.ERROR
    family = "handler"
    summary = "the client cannot cancel the call: `except BaseException` or a bare `except` does not re-raise"
    why = (
        "Cancelling a call raises an exception inside the handler. A clause that catches it and goes on keeps the "
        "cancelled call running and delays the shutdown of the server. So does a clause that raises something else. A "
        "function that is not `async` cannot be cancelled, but there the clause swallows KeyboardInterrupt and "
        "SystemExit, and the server ignores the request to stop."
    )
    bad = "except:\n    return []"
    good = "except Exception as error:\n    raise internal_error() from error"
    how_to_fix = (
        "Catch `Exception` or less. If something must be undone in any case, undo it and `raise`, or use `finally`."
    )
    when_to_suppress = "In code that runs handlers for others and passes their exceptions on itself."

    def check_handler(self, handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each clause that catches everything and does not re-raise it."""
        body = body_of(handler)
        for catch in handler.catches:
            if not catch.catches_base or (not catch.suppress and _passes_on(catch, body)):
                continue
            kind = "a bare `except`" if catch.bare else "`except BaseException`"
            step = "catch Exception or less, or end the clause with `raise`; " + where_to(tool, what="internal_error")
            if catch.suppress:
                kind, step = "`suppress(BaseException)`", "suppress the narrow exceptions that are expected here"
            is_async = isinstance(catch.function, ast.AsyncFunctionDef)
            ctx.report(
                catch.span,
                f"{kind} in {tool.display_name} swallows "
                + ("cancellation" if is_async else "KeyboardInterrupt and SystemExit"),
                help=step,
                tool=tool,
                module=handler.module,
            )


def _passes_on(catch: CatchSite, body: Body) -> bool:
    """Whether a clause re-raises the exception, at least for cancellation, or hands it to somebody who does."""
    return (
        _always_reraises(catch.body, catch.name)
        or _reraises_by_class(catch)
        or _is_stored_in_future(catch)
        or _is_raised_later(catch, body)
        or _is_caught_before(catch, body)
    )


def _is_reraise(statement: ast.AST, name: str | None) -> bool:
    """Whether it is `raise`, `raise error` or `raise error.with_traceback(...)`."""
    if not isinstance(statement, ast.Raise):
        return False
    raised = statement.exc
    if isinstance(raised, ast.Call) and isinstance(raised.func, ast.Attribute) and raised.func.attr == "with_traceback":
        raised = raised.func.value
    return raised is None or (isinstance(raised, ast.Name) and raised.id == name)


def _always_reraises(statements: tuple[ast.stmt, ...] | list[ast.stmt], name: str | None) -> bool:
    """Whether every path through some statements re-raises the caught exception."""
    for statement in statements:
        if _is_reraise(statement, name):
            return True
        match statement:
            case ast.Return() | ast.Raise() | ast.Continue() | ast.Break():
                return False
            case ast.If():
                if _always_reraises(statement.body, name) and _always_reraises(statement.orelse, name):
                    return True
                if any(
                    isinstance(node, (ast.Return, ast.Raise)) and not _is_reraise(node, name)
                    for node in walk_shallow([statement])
                ):
                    return False
            case ast.Try():
                body_reraises = _always_reraises(statement.body, name) and not statement.handlers
                if body_reraises or _always_reraises(statement.finalbody, name):
                    return True
            case ast.With() | ast.AsyncWith():
                if _always_reraises(statement.body, name):
                    return True
    return False


def _reraises_by_class(catch: CatchSite) -> bool:
    """Whether the clause looks at the exception and re-raises it in some cases, such as cancellation."""
    if catch.name is None:
        return False
    for node in walk_shallow([*catch.body]):
        test = node.test if isinstance(node, ast.If) else node.subject if isinstance(node, ast.Match) else None
        looks_at_it = test is not None and mentions(test, catch.name)
        if looks_at_it and any(_is_reraise(inner, catch.name) for inner in walk_shallow([node])):
            return True
    return False


def _is_stored_in_future(catch: CatchSite) -> bool:
    """Whether the exception is put into a future, where its reader gets it."""
    return any(
        isinstance(node, ast.Attribute) and node.attr in {"set_exception", "throw"}
        for node in walk_shallow([*catch.body])
    )


def _is_raised_later(catch: CatchSite, body: Body) -> bool:
    """Whether the clause stores the exception, and a statement after the `try` raises it."""
    variables: set[str] = set()
    for node in walk_shallow([*catch.body]):
        match node:
            case ast.Assign(targets=[target], value=ast.Name(id=name)) if name == catch.name:
                variables.add(root_name(target))
            case ast.Call(func=ast.Attribute(attr="append", value=ast.Name(id=items)), args=[ast.Name(id=name)]):
                if name == catch.name:
                    variables.add(items)
    statement = guarding_statement(catch, body)
    if not variables or statement is None:
        return False
    return any(
        isinstance(node, ast.Raise) and node.exc is not None and any(mentions(node.exc, name) for name in variables)
        for node in walk_shallow([*following(statement, body)])
    )


def _is_caught_before(catch: CatchSite, body: Body) -> bool:
    """Whether an earlier clause of the same `try` catches cancellation and re-raises it."""
    parent = body.parents.get(catch.node)
    if not isinstance(parent, (ast.Try, ast.TryStar)):
        return False
    earlier = parent.handlers[: parent.handlers.index(catch.node)] if catch.node in parent.handlers else []
    return any(
        clause.type is not None
        and ("ancelled" in ast.unparse(clause.type) or "get_cancelled" in ast.unparse(clause.type))
        and _always_reraises(clause.body, clause.name)
        for clause in earlier
    )
