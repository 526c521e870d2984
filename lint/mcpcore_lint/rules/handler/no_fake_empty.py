"""no-fake-empty: an `except` clause returns an empty value."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import Const
from mcpcore_lint.patterns import regex
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._bodies import Body, body_of, mentions, origin, short, where_to
from mcpcore_lint.rules.handler._emptied_names import EmptiedNames
from mcpcore_lint.rules.handler._empty_values import describe_empty
from mcpcore_lint.rules.handler._unreachable import unreachable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore_lint.model import CatchSite, Handler, ToolDef

_ABSENCE: Final = regex(r"NotFound|DoesNotExist|NoResult|NoSuch|Missing|Empty|NotExist|Absent|Stop(?:Async)?Iteration")
_ABSENT: Final = frozenset(
    {"builtins.FileNotFoundError", "builtins.NotADirectoryError", "builtins.KeyError", "builtins.IndexError",
     "builtins.LookupError", "builtins.StopIteration", "builtins.StopAsyncIteration", "builtins.AttributeError",
     "builtins.ImportError", "builtins.ModuleNotFoundError", "builtins.ProcessLookupError", "asyncio.CancelledError",
     "builtins.EOFError", "builtins.KeyboardInterrupt", "builtins.GeneratorExit"}
)  # fmt: skip
"""Exceptions that mean that something does not exist, so that an empty answer is right."""


class NoFakeEmpty(Rule):
    """An `except` clause that returns an empty value."""

    id = "no-fake-empty"
    severity = Severity.WARNING
    family = "handler"
    summary = 'the agent reads "nothing found" where the tool failed: an `except` returns an empty or default value'
    why = (
        "An agent that reads an empty list stops looking. It tells the user that there are no such articles, when "
        "the database was down for a minute. The answer does not say that trying again would help."
    )
    bad = "except httpx.HTTPError:\n    return []"
    good = 'except httpx.HTTPError as error:\n    raise ctx.fail("upstream_down") from error'
    how_to_fix = "Raise the failure. Return the empty value only if the exception means that nothing exists."
    when_to_suppress = "If the value is an optional part of the answer, and the answer says that it is missing."

    def check_handler(self, handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each empty answer of a clause that hides a failure."""
        if not handler.catches:
            return
        body = body_of(handler)
        for node, empty, catch in (*_empty_returns(handler, body, ctx), *_emptied_answers(body, ctx)):
            names = [short(name) for name in catch.types if name is not None]
            caught = "any exception" if catch.bare or not names else " or ".join(names[:2])
            looks_like = "an answer" if empty in {"False", "0", "0.0"} else "nothing found"
            ctx.report(
                node,
                f"{tool.display_name} returns {empty} after {caught}, so that a failure looks like {looks_like}",
                help=f"{where_to(tool)}; return an empty value only if the exception means that nothing exists",
                tool=tool,
                module=handler.module,
            )


def _empty_returns(handler: Handler, body: Body, ctx: RuleContext) -> Iterator[tuple[ast.AST, str, CatchSite]]:
    """The returns of empty values in clauses."""
    for node in body.all(ast.Return):
        catch = body.clause_of(node)
        nested = body.function_of(node) is not handler.node
        if catch is None or not _hides_failure(catch, ctx, body, nested=nested):
            continue
        if _depends_on_exception(node, catch, body) or unreachable(node, body):
            continue
        value = body.value(node.value) if node.value is not None else Const(node, handler.module, None)
        if nested and isinstance(value, Const) and value.value is None:
            continue  # a nested function returns None for "nothing", and its caller checks that
        empty = describe_empty(value)
        if empty is not None:
            yield node, empty, catch


def _emptied_answers(body: Body, ctx: RuleContext) -> Iterator[tuple[ast.AST, str, CatchSite]]:
    """The assignments of empty values in clauses that become the answer: `except Exception: rows = []`."""
    for clause, catch in body.catches.items():
        statement = body.parents.get(clause)
        if not isinstance(clause, ast.ExceptHandler) or not isinstance(statement, ast.stmt):
            continue
        if catch.function is not body.root or not _hides_failure(catch, ctx, body, nested=False):
            continue
        for node in clause.body:
            if not isinstance(node, ast.Assign) or len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
                continue
            empty = describe_empty(body.value(node.value))
            answer = EmptiedNames(catch, body).answer_after(statement) if empty is not None else None
            if answer is not None:
                yield node, answer or empty or "", catch
                break


def _hides_failure(catch: CatchSite, ctx: RuleContext, body: Body, *, nested: bool) -> bool:
    """Whether a clause catches failures, rather than the absence of something."""
    if catch.broad:
        return True
    for name in catch.types:
        if name is None or name in _ABSENT or _ABSENCE.search(short(name)):
            continue
        if origin(name, ctx, body.module.name) in {"unknown", "framework"}:
            continue
        if not (nested and name in {"builtins.ValueError", "builtins.TypeError"}):
            return True
    return False


def _depends_on_exception(node: ast.AST, catch: CatchSite, body: Body) -> bool:
    """Whether the clause looks at the exception before it returns: a 404 is not a failure."""
    if catch.name is None:
        return False
    for parent in body.above(node):
        if parent is catch.node:
            break
        test = parent.test if isinstance(parent, ast.If) else parent.subject if isinstance(parent, ast.Match) else None
        if test is not None and mentions(test, catch.name):
            return True
    return False
