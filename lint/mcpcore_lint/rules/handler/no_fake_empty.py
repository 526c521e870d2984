"""no-fake-empty: an `except` clause returns an empty value."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import CallValue, Const, Items, Mapping, Text, Unknown, string
from mcpcore_lint.patterns import regex
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._bodies import Body, body_of, mentions, origin, short, text_start, unpacked, where_to
from mcpcore_lint.rules.handler._failures import RELEVANT_KEYS, SUCCESS_KEYS, normalized

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcpcore_lint.model import CatchSite, Handler, ToolDef, Value

_ABSENCE: Final = regex(r"NotFound|DoesNotExist|NoResult|NoSuch|Missing|Empty|NotExist|Absent|Stop(?:Async)?Iteration")
_ABSENT: Final = frozenset(
    {"builtins.FileNotFoundError", "builtins.NotADirectoryError", "builtins.KeyError", "builtins.IndexError",
     "builtins.LookupError", "builtins.StopIteration", "builtins.StopAsyncIteration", "builtins.AttributeError",
     "builtins.ImportError", "builtins.ModuleNotFoundError", "builtins.ProcessLookupError", "asyncio.CancelledError",
     "builtins.EOFError", "builtins.KeyboardInterrupt", "builtins.GeneratorExit"}
)  # fmt: skip
"""Exceptions that mean that something does not exist, so that an empty answer is right."""
_NOTHING_FOUND: Final = regex(
    r"\s*(?:no|nothing)\b.{0,60}\b(?:found|available|results?|matches|data|items?|records?)\b", re.IGNORECASE
)
_EXPLAINING_KEYS: Final = RELEVANT_KEYS | {"details", "warning", "warnings", "note", "hint", "failures"}
"""Keys of a result that may say why it is empty."""
_CONSTANTS: Final = {
    "None": "None",
    "''": "an empty string",
    "False": "False",
    "0": "0",
    "0.0": "0.0",
    "b''": "empty bytes",
}


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
        for node, empty, catch in _empty_answers(handler, body, ctx):
            is_part = isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript)
            does = f"returns {empty} in its answer" if is_part else f"returns {empty}"
            names = [short(name) for name in catch.types if name is not None]
            caught = "any exception" if catch.bare or not names else " or ".join(names[:2])
            looks_like = "an answer" if empty in {"False", "0", "0.0"} else "nothing found"
            ctx.report(
                node,
                f"{tool.display_name} {does} after {caught}, so that a failure looks like {looks_like}",
                help=f"{where_to(tool)}; return an empty value only if the exception means that nothing exists",
                tool=tool,
                module=handler.module,
                # The rest of the answer may well be right.
                weight=Severity.INFO if is_part else None,
            )


def _empty_answers(handler: Handler, body: Body, ctx: RuleContext) -> Iterator[tuple[ast.AST, str, CatchSite]]:
    """The empty values that clauses return, or assign to a name that is returned right after the `try`."""
    nodes: list[ast.Return | ast.Assign] = [*body.all(ast.Return), *body.all(ast.Assign)]
    for node in nodes:
        catch = body.clause_of(node)
        nested = body.function_of(node) is not handler.node
        if catch is None or not _hides_failure(catch, ctx, body, nested=nested):
            continue
        if _depends_on_exception(node, catch, body):
            continue
        if isinstance(node, ast.Assign) and not _is_returned_after(node, catch, body):
            continue
        value = body.value(node.value) if node.value is not None else Const(node, handler.module, None)
        if nested and isinstance(value, Const) and value.value is None:
            continue  # a nested function returns None for "nothing", and its caller checks that
        empty = _describe_empty(value)
        if empty is not None:
            yield node, empty, catch


def _is_returned_after(node: ast.Assign, catch: CatchSite, body: Body) -> bool:
    """Whether the statement after the `try` returns what a clause assigns, or an answer around it."""
    match node.targets, body.after(body.parents[catch.node])[:1]:
        case [ast.Name(id=name)], [ast.Return(value=ast.Name(id=returned))]:
            return name == returned
        case [ast.Name(id=name)], [ast.Return(value=ast.Dict() as answer)]:
            return all(_adds_nothing(key, value, name) for key, value in zip(answer.keys, answer.values, strict=True))
        case [ast.Subscript(value=ast.Name(id=name))], [ast.Return(value=ast.Name(id=returned))]:
            return name == returned and len(catch.body) == 1
    return False


def _adds_nothing(key: ast.expr | None, value: ast.expr, name: str) -> bool:
    """Whether a field is the name, its length or another name, and cannot say why the name is empty."""
    if not isinstance(key, ast.Constant) or normalized(str(key.value)) in _EXPLAINING_KEYS:
        return False
    match value:
        case ast.Name():
            return True
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=counted)]):
            return counted == name
    return False


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


def _describe_empty(value: Value) -> str | None:
    """How a value is empty, such as "an empty list"; None if it is not empty or not known."""
    value = unpacked(value)
    if isinstance(value, Const) and repr(value.value) in _CONSTANTS:
        return _CONSTANTS[repr(value.value)]
    if isinstance(value, (Const, Text)):
        start = text_start(value) or ""
        text = start.strip()[:30] + ("..." if isinstance(value, Text) else "")
        return f'"{text}"' if _NOTHING_FOUND.match(start) else None
    if isinstance(value, Items) and value.complete:
        return None if value.items else f"an empty {value.kind}"
    if isinstance(value, Mapping) and value.complete:
        if not value.items:
            return "an empty dict"
        return "an empty result" if _has_only_empty([(string(key), item) for key, item in value.items]) else None
    if isinstance(value, CallValue) and value.complete and not value.args and _has_only_empty(value.keywords):
        name = short(value.func.name)
        return f"an empty {name}" if name[0].isupper() else None
    return None


def _has_only_empty(fields: Sequence[tuple[str | None, Value]]) -> bool:
    """Whether a result holds an empty collection, and else only empty constants, names and `success: True`."""
    collections = 0
    for name, value in fields:
        key = normalized(name or "error")
        if key in SUCCESS_KEYS and isinstance(value, Const) and value.value is True:
            continue
        if key in _EXPLAINING_KEYS:
            return False
        if isinstance(value, (Items, Mapping)):
            if value.items or not value.complete:
                return False
            collections += 1
        elif isinstance(value, Const):
            if value.value not in {None, "", 0}:
                return False
        elif not (isinstance(value, Unknown) and isinstance(value.node, (ast.Name, ast.arg))):
            return False
    return collections > 0
