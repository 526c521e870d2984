"""no-swallowed-error: a broad `except` clause that only passes, continues or logs."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import Const, Mapping, Symbol, Text, Value
from mcpcore_lint.patterns import regex
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._bodies import LOOPS, Body, body_of, callee, mentions, text_start, unpacked
from mcpcore_lint.rules.handler._emptied_names import EmptiedNames, is_all_work
from mcpcore_lint.rules.handler._empty_values import describe_empty
from mcpcore_lint.rules.handler._except_clauses import (
    else_block,
    following,
    guarding_statement,
    has_reason,
    is_deliberate,
    only_passes,
)
from mcpcore_lint.rules.handler._failures import ERROR_KEYS, SUCCESS_KEYS
from mcpcore_lint.rules.handler._optional_work import has_fallback, is_optional
from mcpcore_lint.syntax.parse import all_parameters, walk_shallow

if TYPE_CHECKING:
    from mcpcore_lint.model import CatchSite, Handler, ToolDef

_FAILED: Final = regex(
    r"\W*(?:error|failed|failure|could(?: not|n't)|cannot|can't|unable|not able|no \w+ could)\b", re.IGNORECASE
)
"""The beginning of a text that reports a failure."""


class NoSwallowedError(Rule):
    """A broad `except` clause that only passes."""

    id = "no-swallowed-error"
    severity = Severity.WARNING
    family = "handler"
    summary = "the agent reads a success: a broad `except` (or `suppress`) only passes, continues, logs or prints"
    why = (
        "The tool goes on after the failure, so a typo in the next release, an outage and a full disk all look like a "
        "good answer. A log line informs the operator, not the agent. `OSError` counts as broad: a full disk and a "
        "missing file are both one. On a server of the SDK or FastMCP a clause that logs the failure, or that has a "
        "comment saying why it may pass, is reported as information, because it is deliberate. But a log line changes "
        'nothing if the answer is false without the guarded code, as in `return {"rows": rows}`.'
    )
    bad = "try:\n    await index(page)\nexcept Exception:\n    pass"
    good = "try:\n    await index(page)\nexcept IndexBusyError:\n    pass  # it is indexed again tonight"
    how_to_fix = (
        "Catch the narrow exception that is expected here, or let the exception through: the boundary reports it to "
        "the client."
    )
    when_to_suppress = "If the work really is optional and may fail in any way. Say why."

    def check_handler(self, handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each broad clause whose body does nothing about the failure."""
        body = body_of(handler)
        for catch in handler.catches:
            swallowed = (
                "every exception" if catch.broad else "every OSError" if "builtins.OSError" in catch.types else ""
            )
            statement = guarding_statement(catch, body)
            if not swallowed or statement is None or not (catch.suppress or only_passes(catch.body, body)):
                continue
            if is_optional(catch, body) or _is_reported_after(catch, statement, body):
                continue
            is_false = _makes_answer_false(catch, statement, body)
            if not is_false and has_fallback(catch, body):
                continue
            in_loop = not catch.broad and body.loop_of(statement) is not None
            deliberate = has_reason(catch, body) or (not is_false and (in_loop or is_deliberate(catch, body)))
            ctx.report(
                catch.span,
                f"{'`suppress`' if catch.suppress else 'the `except`'} in {tool.display_name} swallows {swallowed}, so "
                "the agent reads a success",
                help="catch the narrow exception that is expected here, or let it through",
                tool=tool,
                module=handler.module,
                weight=Severity.INFO if deliberate and tool.flavour != "mcpcore" else None,
            )


def _makes_answer_false(catch: CatchSite, statement: ast.stmt, body: Body) -> bool:
    """Whether the answer is false if the guarded code fails.

    It is false if it shows only names that the guarded code should have filled, if it is empty and the guarded code
    would have returned something, and if the tool does nothing else and returns the same whatever happens.
    """
    if body.function_of(statement) is not body.root or body.loop_of(statement) is not None:
        return False
    if EmptiedNames(catch, body).answer_after(statement) is not None:
        return True
    answer = next((node for node in following(statement, body) if not only_passes([node], body)), None)
    if not isinstance(answer, ast.Return) or answer.value is None:
        return False
    if any(isinstance(node, ast.Return) for node in walk_shallow([*catch.try_body, *else_block(statement)])):
        return describe_empty(body.value(answer.value)) not in {None, "None", "False"}
    return is_all_work(statement, catch, body) and _claims_success(answer.value, body)


def _claims_success(answer: ast.expr, body: Body) -> bool:
    """Whether an answer consists of constants and parameters, and says something: `f"{name} is saved"`."""
    parameters = {parameter.arg for parameter in all_parameters(body.root.args)}
    claims = False
    for node in walk_shallow([answer]):
        if isinstance(node, ast.Constant):
            claims = claims or node.value is True or isinstance(node.value, str)
        if isinstance(node, ast.Call) and not callee(node, body).startswith(("json.", "builtins.str", "mcp.")):
            return False
        if isinstance(node, (ast.Subscript, ast.Attribute)) and not isinstance(body.parents.get(node), ast.Call):
            return False
        if isinstance(node, ast.Name) and node.id not in parameters and not isinstance(body.value(node), Symbol):
            return False
    return claims


def _is_reported_after(catch: CatchSite, statement: ast.stmt, body: Body) -> bool:
    """Whether the code after the `try`, or after the retry loop around it, raises or returns the failure."""
    continues = any(isinstance(node, ast.Continue) for node in walk_shallow([*catch.body]))
    answer = next(iter(following(statement, body)), None)
    if isinstance(answer, ast.Return) and answer.value is not None and not continues:
        says_failure = _says_failure(body.value(answer.value))
    else:
        says_failure = False
    if says_failure:
        return True
    stored = {
        node.id
        for node in walk_shallow([*catch.try_body])
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    for start in (statement, body.loop_of(statement)):
        after = body.after(start) if start is not None else []
        if isinstance(start, LOOPS) and start.orelse:
            after = start.orelse
        match after[:1]:
            case [ast.Raise()]:
                return True
            case [ast.Assign(value=ast.BoolOp() | ast.IfExp() as value)]:
                # `items = loaded or DEFAULTS`: the missing value is visibly replaced.
                return any(mentions(value, name) for name in stored)
            case [ast.If(test=test, body=block)] if any(mentions(test, name) for name in stored):
                return any(isinstance(node, ast.Raise) for node in walk_shallow([*block]))
    return False


def _says_failure(value: Value) -> bool:
    value = unpacked(value)
    if isinstance(value, (Const, Text)):
        return _FAILED.match(text_start(value) or "") is not None
    if not isinstance(value, Mapping):
        return False
    table = {str(key.value).lower(): item for key, item in value.items if isinstance(key, Const)}
    denied = [table[key] for key in SUCCESS_KEYS & table.keys()]
    return not table.keys().isdisjoint(ERROR_KEYS) or any(
        isinstance(item, Const) and item.value is False for item in denied
    )
