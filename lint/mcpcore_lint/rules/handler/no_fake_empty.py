"""no-fake-empty: an `except` clause returns an empty value."""

import ast
import re
from collections.abc import Iterator, Sequence
from typing import Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.engine.syntax.parse import mentions, walk
from mcpcore_lint.model import (
    CallValue,
    CatchSite,
    Const,
    FunctionNode,
    Handler,
    Items,
    Mapping,
    Text,
    ToolDef,
    Unknown,
    Value,
    string,
)
from mcpcore_lint.patterns import SUCCESS_KEYS, regex
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._bodies import Body, body_of, origin, short, text_start, unpacked, where_to
from mcpcore_lint.rules.handler._failures import RELEVANT_KEYS, normalized
from mcpcore_lint.rules.handler._returned_failures import helpers_of, yields

_ABSENCE: Final = regex(
    r"NotFound|DoesNotExist|NoResult|NoSuch|Missing|Empty|NotExist|Absent|NotADirectory|Lookup|Stop(?:Async)?Iteration"
    r"|^(?:Key|Index|Attribute|Import|EOF)Error$|^(?:CancelledError|KeyboardInterrupt|GeneratorExit)$"
)
"""Exceptions that mean that something does not exist, so that an empty answer is right."""
_NOTHING_FOUND: Final = regex(
    r"\s*(?:no|nothing)\b.{0,60}\b(?:found|available|results?|matches|data|items?|records?)\b", re.IGNORECASE
)
_NO_CONTENT: Final = 204
_EXPLAINING_KEYS: Final = RELEVANT_KEYS | {"details", "warning", "warnings", "note", "hint", "failures"}
"""Keys of a result that may say why it is empty."""
_NAMES: Final = {"''": "an empty string", "b''": "empty bytes"}
"""Empty constants that messages do not show as they are."""


class NoFakeEmpty(Rule):
    """An `except` clause that returns an empty value.

    Summary: the agent reads "nothing found" where the tool failed: an `except` returns an empty or default value
    Why: An agent that reads an empty list stops looking. It tells the user that no such articles exist, although the
        database was only down for a minute. The answer does not say that trying again would help. An empty value from a
        function of the project counts too, if a tool returns it unchecked.
    How to fix: Raise the failure. Return the empty value only if the exception means that nothing exists.
    When to suppress: If the value is an optional part of the answer, and the answer says that it is missing.

    Bad:
        except httpx.HTTPError:
            return []
    Good:
        except httpx.HTTPError as error:
            raise ctx.fail("upstream_down") from error
    """

    severity = Severity.WARNING

    def check_handler(self, handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each empty answer of a clause that hides a failure, also in a helper whose result is the answer."""
        helpers = helpers_of(handler, ctx)
        nested = {helper.node for helper, _ in helpers if helper.node in body_of(handler).parents}
        for node, catch, empty in _empty_answers(handler, ctx, answering=nested):
            ctx.report(
                node,
                f"{tool.display_name} returns {empty} after {_caught_by(catch)}, so that a failure looks like "
                f"{_looks(empty)}",
                help=f"{where_to(tool)}; return an empty value only if the exception means that nothing exists",
                tool=tool,
                module=handler.module,
            )
        for helper, answer in helpers:
            for node, catch, empty in _empty_answers(helper, ctx) if helper.node not in nested else ():
                ctx.report(
                    node,
                    f"{helper.name}() returns {empty} after {_caught_by(catch)}, and the client gets that, so that a "
                    f"failure looks like {_looks(empty)}",
                    help=f"{where_to(tool)}; return an empty value only if the exception means that nothing exists",
                    tool=tool,
                    module=helper.module,
                    related=[ctx.related(answer, f"{tool.display_name} returns it", handler.module)],
                    shared=True,
                )


def _caught_by(catch: CatchSite) -> str:
    names = [short(name) for name in catch.types if name is not None]
    return "any exception" if catch.bare or not names else " or ".join(names[:2])


def _looks(empty: str) -> str:
    return "an answer" if empty in {"False", "0", "0.0"} else "nothing found"


def _empty_answers(
    function: Handler, ctx: RuleContext, *, answering: set[FunctionNode] | None = None
) -> Iterator[tuple[ast.Return, CatchSite, str]]:
    """The empty answers of the clauses of a function that hide a failure: the statement, the clause, what is empty.

    A handler has functions nested in it that are `answering`: it returns their results as they are.
    """
    body, is_helper = body_of(function), answering is None
    for node in body.all(ast.Return):
        nested = body.function_of(node) is not body.root
        catch = body.clause_of(node) if not (nested and is_helper) else None
        # A function that others call returns an empty value for a text that is no number or date.
        empty = _empty_answer(node, catch, body, ctx, lenient=nested or is_helper) if catch is not None else None
        # A nested function returns None for "nothing" or False for "no", and its caller checks that.
        checked = nested and empty in {"None", "False"} and body.function_of(node) not in (answering or ())
        if catch and empty is not None and not checked:
            yield node, catch, empty


def _empty_answer(node: ast.Return, catch: CatchSite, body: Body, ctx: RuleContext, *, lenient: bool) -> str | None:
    """The empty value that a clause returns."""
    # `return` in a generator ends its items, and answers nothing.
    ends = node.value is None and yields(body.function_of(node))
    if ends or not _hides_failure(catch, ctx, body, lenient=lenient) or _depends_on_exception(node, catch, body):
        return None
    return describe_empty(body.value(node.value)) if node.value is not None else "None"


def _hides_failure(catch: CatchSite, ctx: RuleContext, body: Body, *, lenient: bool) -> bool:
    """Whether a clause catches failures, rather than the absence of something."""
    expected = {"builtins.ValueError", "builtins.TypeError"} if lenient else set()
    return catch.broad or any(
        name not in expected
        and not _ABSENCE.search(short(name))
        # An exception of unknown origin may well mean that nothing was found.
        and origin(name, ctx, body.module.name) not in {"unknown", "framework"}
        for name in catch.types
        if name is not None
    )


def _depends_on_exception(node: ast.AST, catch: CatchSite, body: Body) -> bool:
    """Whether the clause looks at the exception before it returns, as a 404 is not a failure, or at another attempt.

    Or a test has found that the answer may have no content, which HTTP says with 204.
    """
    for test, holds in body.tests(node) if body.module.source.has(str(_NO_CONTENT)) else ():
        parts = walk([test])
        operators = [operator for part in parts for operator in getattr(part, "ops", [getattr(part, "op", None)])]
        denies = any(isinstance(operator, (ast.NotEq, ast.NotIn, ast.Not)) for operator in operators)
        if holds is not denies and any(getattr(part, "value", None) == _NO_CONTENT for part in parts):
            return True
    branches = (parent for parent in body.above(node) if isinstance(parent, (ast.If, ast.Match)))
    tests = (branch.test if isinstance(branch, ast.If) else branch.subject for branch in branches)
    made = {part.id for part in walk([*catch.body]) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
    return any(mentions(test, name) for test in tests for name in (catch.name, *made) if name is not None)


def describe_empty(value: Value) -> str | None:
    """How a value is empty, such as "an empty list"; None if it is not empty or not known."""
    value = unpacked(value)
    match value:
        case Const() if not value.value:
            return _NAMES.get(repr(value.value), repr(value.value))
        case Const() | Text():
            start = text_start(value) or ""
            text = start.strip()[:30] + ("..." if isinstance(value, Text) else "")
            return f'"{text}"' if _NOTHING_FOUND.match(start) else None
        case Items(complete=True):
            return None if value.items else f"an empty {value.kind}"
        case Mapping(items=(), complete=True):
            return "an empty dict"
        case Mapping(complete=True) if _has_only_empty([(string(key), item) for key, item in value.items]):
            return "an empty result"
        case CallValue(complete=True, args=()) if _has_only_empty(value.keywords):
            name = short(value.func.name)
            # A function may put more into its result than its arguments.
            return f"an empty {name}" if name[0].isupper() else None
    return None


def _has_only_empty(fields: Sequence[tuple[str | None, Value]]) -> bool:
    """Whether a result holds an empty collection, and else only empty constants, names and `success: True`."""
    collections = 0
    for name, value in fields:
        key = normalized(name or "error")
        match value:
            case Const(value=True) if key in SUCCESS_KEYS:
                pass
            case _ if key in _EXPLAINING_KEYS:
                return False
            case Items(items=(), complete=True) | Mapping(items=(), complete=True):
                collections += 1
            case Const() if not value.value:
                pass
            case Unknown(node=ast.Name() | ast.arg()):
                pass
            case _:
                return False
    return collections > 0
