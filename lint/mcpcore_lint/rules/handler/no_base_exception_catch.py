"""no-base-exception-catch: `except BaseException` or a bare `except` that does not re-raise."""

import ast
from typing import Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.engine.syntax.parse import walk_shallow
from mcpcore_lint.model import CatchSite, Handler, ToolDef
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._bodies import Body, body_of, where_to

_AWAITS: Final = (ast.Await, ast.AsyncFor, ast.AsyncWith)


class NoBaseExceptionCatch(Rule):
    """A clause that swallows cancellation.

    Summary: the client cannot cancel the call: `except BaseException` or a bare `except` does not re-raise
    Why: Cancelling a call raises an exception inside the handler. A clause that catches it and goes on keeps the
        cancelled call running and delays the shutdown of the server. So does a clause that raises something else. A
        function that is not `async` cannot be cancelled, but there the clause swallows KeyboardInterrupt and
        SystemExit, and the server ignores the request to stop.
    How to fix: Catch `Exception` or less. If you have to undo something in any case, undo it and `raise`, or use
        `finally`.
    When to suppress: In code that runs other people's handlers and passes their exceptions on itself.

    Bad:
        except:
            return []
    Good:
        except Exception as error:
            raise internal_error() from error
    """

    severity = Severity.ERROR

    def check_handler(self, handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each clause that catches everything and does not re-raise it."""
        body = body_of(handler)
        for catch in handler.catches:
            # Which includes cancellation.
            if "builtins.BaseException" not in catch.types or (not catch.suppress and _passes_on(catch, body)):
                continue
            kind = "a bare `except`" if catch.bare else "`except BaseException`"
            step = "catch Exception or less, or end the clause with `raise`; " + where_to(tool, what="internal_error")
            if catch.suppress:
                kind, step = "`suppress(BaseException)`", "suppress the narrow exceptions that are expected here"
            # Cancellation is raised where the function awaits something.
            awaits = any(isinstance(part, _AWAITS) for part in walk_shallow([*catch.try_body]))
            ctx.report(
                catch.span,
                f"{kind} in {tool.display_name} swallows "
                + ("cancellation" if awaits else "KeyboardInterrupt and SystemExit"),
                help=step,
                tool=tool,
                module=handler.module,
            )


def _passes_on(catch: CatchSite, body: Body) -> bool:
    """Whether a clause, or one before it that catches cancellation, re-raises the exception, perhaps in some cases."""
    statement = body.parents.get(catch.node)
    clauses = statement.handlers if isinstance(statement, (ast.Try, ast.TryStar)) else []
    return any(
        _reraises(clause) or (not isinstance(clause.body[-1], ast.Raise) and body.raises(clause.body))
        for clause in clauses
        if clause is catch.node or (clause.type is not None and "ancelled" in ast.unparse(clause.type))
    )


def _reraises(clause: ast.ExceptHandler) -> bool:
    """Whether a clause contains `raise`, or `raise error` with the caught exception."""
    return any(
        isinstance(node, ast.Raise) and (node.exc is None or getattr(node.exc, "id", "") == clause.name)
        for node in walk_shallow([*clause.body])
    )
