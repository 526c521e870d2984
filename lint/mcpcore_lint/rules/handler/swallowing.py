"""What a handler catches and says nothing of."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import Const, Mapping, Symbol, Text, Value
from mcpcore_lint.patterns import regex
from mcpcore_lint.rules._bodies import Body, body_of, callee, mentions, text_start, unpacked
from mcpcore_lint.rules.base import Rule, RuleContext
from mcpcore_lint.rules.handler._clauses import explained, following, guarding_statement, only_passes, thought_of
from mcpcore_lint.rules.handler._emptied import Emptied, empty_value, is_all_the_work
from mcpcore_lint.rules.handler._failures import ERROR_KEYS, SUCCESS_KEYS
from mcpcore_lint.rules.handler._optional import (
    goes_another_way,
    is_aside,
    is_in_passing,
    only_looks_at_files,
    only_puts_back,
    only_reads_values,
)
from mcpcore_lint.syntax.parse import all_parameters, walk_shallow

if TYPE_CHECKING:
    from mcpcore_lint.model import CatchSite, Handler, ToolDef

_FAILED: Final = regex(
    r"\W*(?:error|failed|failure|could(?: not|n't)|cannot|can't|unable|not able|no \w+ could)\b", re.IGNORECASE
)
"""How a sentence begins that tells of a failure."""


class NoSwallowedError(Rule):
    """A broad `except` that only passes."""

    id = "no-swallowed-error"
    severity = Severity.WARNING
    family = "handler"
    summary = "a broad `except` (or `suppress`) that only passes, continues, logs or prints"
    why = (
        "The tool goes on as if nothing had happened, and the agent reads a success: a typo in the next release, an "
        "outage and a full disk all look like a good answer. A log line tells the operator, not the agent. `OSError` "
        "counts as broad: a full disk and a missing file are both one. On a server of the SDK or FastMCP a clause that "
        "logs the failure, or says in a comment why it may pass, weighs less: somebody thought of it there. A log line "
        'changes nothing where the answer is false without the guarded code, as in `return {"rows": rows}`.'
    )
    bad = "try:\n    await index(page)\nexcept Exception:\n    pass"
    good = "try:\n    await index(page)\nexcept IndexBusyError:\n    pass  # it is indexed again tonight"
    how_to_fix = (
        "Catch the narrow exception that is expected here, or let it go: the boundary answers for what nobody expected."
    )
    when_to_suppress = "Where the work really is optional and may fail in any way; say why."

    def check_handler(self, handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each broad clause whose body does nothing about the failure."""
        body = body_of(handler)
        for catch in handler.catches:
            swallowed = _swallowed(catch)
            if not swallowed or not (catch.suppress or only_passes(catch.body, body)):
                continue
            if only_puts_back(catch.try_body, body) or _told_afterwards(catch, body):
                continue
            if _told_by_the_answer(catch, body):
                continue
            if only_reads_values(catch, body) or is_aside(catch) or is_in_passing(catch, body):
                continue
            if not catch.broad and only_looks_at_files(catch):
                continue
            false = _answers_falsely(catch, body)
            if not false and goes_another_way(catch, body):
                continue
            what = "`suppress`" if catch.suppress else "the `except`"
            # To log it is no reason to answer as if there were nothing.
            settled = explained(catch, body) or (
                not false and (thought_of(catch, body) or (not catch.broad and _in_a_loop(catch, body)))
            )
            ctx.report(
                catch.span,
                f"{what} in {tool.display_name} swallows {swallowed}, so the agent reads a success",
                help="catch the narrow exception that is expected here, or let it through",
                tool=tool,
                module=handler.module,
                weight=Severity.INFO if settled and tool.flavour != "mcpcore" else None,
            )


def _swallowed(catch: CatchSite) -> str:
    """The exceptions that a broad clause catches, as words; empty for a narrow clause."""
    return "every exception" if catch.broad else "every OSError" if "builtins.OSError" in catch.types else ""


def _in_a_loop(catch: CatchSite, body: Body) -> bool:
    """Whether a clause is in a loop."""
    statement = guarding_statement(catch, body)
    loops = (ast.For, ast.AsyncFor, ast.While)
    return statement is not None and any(isinstance(node, loops) for node in body.above(statement))


def _answers_falsely(catch: CatchSite, body: Body) -> bool:
    """Whether the answer is false where the guarded code fails.

    It is where it shows nothing but what that code would have filled, where it is empty and that code would have
    returned something, and where the tool does nothing else and answers the same whatever happens.
    """
    statement = guarding_statement(catch, body)
    if not isinstance(statement, ast.stmt) or body.function_of(statement) is not body.root or _in_a_loop(catch, body):
        return False
    if Emptied(catch, body).answered_behind(statement) is not None:
        return True
    after = (node for node in following(statement, body) if not only_passes([node], body))
    answer = next(after, None)
    if not isinstance(answer, ast.Return) or answer.value is None:
        return False
    otherwise = statement.orelse if isinstance(statement, (ast.Try, ast.TryStar)) else []
    if any(isinstance(node, ast.Return) for node in walk_shallow([*catch.try_body, *otherwise])):
        return empty_value(body.value(answer.value)) not in {None, "None", "False"}
    return is_all_the_work(statement, catch, body) and _claims(answer.value, body)


def _claims(answer: ast.expr, body: Body) -> bool:
    """Whether an answer claims something, and is made of constants and of the parameters: `f"{name} is saved"`."""
    parameters = {each.arg for each in all_parameters(body.root.args)}
    claim = False
    for node in walk_shallow([answer]):
        if isinstance(node, ast.Constant):
            claim = claim or node.value is True or isinstance(node.value, str)
        if isinstance(node, ast.Call) and not callee(node, body).startswith(("json.", "builtins.str", "mcp.")):
            return False
        if isinstance(node, (ast.Subscript, ast.Attribute)) and not isinstance(body.parents.get(node), ast.Call):
            return False
        if isinstance(node, ast.Name) and node.id not in parameters and not isinstance(body.value(node), Symbol):
            return False
    return claim


def _told_afterwards(catch: CatchSite, body: Body) -> bool:
    """Whether the failure is raised, or its value replaced, right behind the `try` or behind the retry loop."""
    node: ast.AST = catch.node
    statement = body.parents.get(node) if isinstance(node, ast.ExceptHandler) else node
    if statement is None:
        return False
    guarded = {
        each.id
        for each in walk_shallow([*catch.try_body])
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    }
    loop = next((each for each in body.above(statement) if isinstance(each, (ast.For, ast.AsyncFor, ast.While))), None)
    for start in (statement, loop):
        if start is None:
            continue
        after = body.after(start)
        if isinstance(start, (ast.For, ast.AsyncFor, ast.While)) and start.orelse:
            after = start.orelse
        if not after:
            continue
        first = after[0]
        if isinstance(first, ast.Raise):
            return True
        if isinstance(first, ast.Assign) and isinstance(first.value, (ast.BoolOp, ast.IfExp)):
            # `items = loaded or DEFAULTS`: the missing value is visibly replaced.
            return any(mentions(first.value, each) for each in guarded)
        if isinstance(first, ast.If) and any(mentions(first.test, each) for each in guarded):
            return any(isinstance(each, ast.Raise) for each in walk_shallow([*first.body]))
    return False


def _told_by_the_answer(catch: CatchSite, body: Body) -> bool:
    """Whether what comes next is an answer that says that it failed: `return "Could not find it."`."""
    statement = guarding_statement(catch, body)
    if statement is None or any(isinstance(each, ast.Continue) for each in walk_shallow([*catch.body])):
        return False
    first = next(iter(following(statement, body)), None)
    return isinstance(first, ast.Return) and first.value is not None and _says_failure(body.value(first.value))


def _says_failure(value: Value) -> bool:
    value = unpacked(value)
    if isinstance(value, (Const, Text)):
        return _FAILED.match(text_start(value) or "") is not None
    if isinstance(value, Mapping):
        table = {str(key.value).lower(): each for key, each in value.items if isinstance(key, Const)}
        denied = (table.get(key) for key in SUCCESS_KEYS)
        return not table.keys().isdisjoint(ERROR_KEYS) or any(
            isinstance(each, Const) and each.value is False for each in denied
        )
    return False
