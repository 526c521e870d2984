"""Exceptions that are no failures of the tool, and errors about a tool that does not exist."""

import ast
import re
from collections.abc import Iterable
from typing import Final

from mcpcore_lint.engine.syntax.parse import all_parameters, own_statements, walk, walk_shallow
from mcpcore_lint.model import CatchSite, ErrorSite, FunctionNode, Handler, ToolDef
from mcpcore_lint.patterns import regex
from mcpcore_lint.rule import RuleContext
from mcpcore_lint.rules._accepted import is_about_own_json
from mcpcore_lint.rules._thrown import guards

NOT_FAILURES: Final = frozenset(
    f"builtins.{name}"
    for name in ("StopIteration", "StopAsyncIteration", "GeneratorExit", "KeyboardInterrupt", "AssertionError")
)
"""Builtin exceptions that control the program or mean a bug. The agent needs no advice about them."""

_UNKNOWN_TOOL: Final = regex(
    r"\b(?:unknown|no such|unsupported|invalid) tool\b|\btool\b.*\b(?:not found|unknown)\b", re.IGNORECASE
)

_LOGGING: Final = frozenset({"debug", "info", "warning", "error", "exception"})
_DICT: Final = regex(r"(?:typing\.)?[Dd]ict\b")
_RAISING: Final = (
    *(ast.Subscript, ast.BinOp, ast.Raise, ast.Assert, ast.With, ast.AsyncWith, ast.For, ast.AsyncFor),
    *(ast.Import, ast.ImportFrom),
)
"""What may raise besides calls."""


def about_an_unknown_tool(error: ErrorSite, tool: ToolDef) -> bool:
    """Whether a low-level handler, which dispatches to every tool, says that a tool does not exist."""
    if tool.flavour != "lowlevel":
        return False
    if error.type_name == "builtins.NotImplementedError" or _UNKNOWN_TOOL.search(ast.unparse(error.node)):
        return True
    # Or its line runs for none of the tools that the handler dispatches to.
    line = error.node.lineno
    routes = [route for route in tool.serves if route.inside.node is tool.handler.node]
    return bool(routes) and all(any(first <= line <= last for first, last in route.elsewhere) for route in routes)


def is_idle(catch: CatchSite | None, function: Handler, ctx: RuleContext) -> bool:
    """Whether nothing reaches a clause: the guarded statements only log, and call functions that catch everything."""
    risks = _risks(catch.try_body, function.node) if catch is not None else []
    called = [ctx.called(function, risk) if isinstance(risk, ast.Call) else () for risk in risks]
    return (catch is not None and is_about_own_json(catch, function)) or (
        bool(called)
        and all(found and all(map(_catches_all, found)) for found in called)
        # A function that a clause calls may raise.
        and not any(catch is not None and guards(catch, span) for _, _, span in ctx.stopped(function))
    )


def _catches_all(function: FunctionNode) -> bool:
    """Whether a function does everything in one `try` whose clauses answer each exception."""
    *first, last = getattr(function, "body", [function])
    return (
        isinstance(last, ast.Try)
        and not last.orelse
        and not _risks(first, function)
        and any(clause.type is None or ast.unparse(clause.type) == "Exception" for clause in last.handlers)
        and not any(isinstance(part, ast.Raise) for part in walk([*last.handlers, *last.finalbody]))
    )


def _risks(statements: Iterable[ast.stmt], function: FunctionNode) -> list[ast.AST]:
    """What may raise in statements: calls and the like, but no line of a log, and no constant key of a dict."""
    nodes = walk_shallow([*statements])
    # What logs returns nothing to use, unlike `client.info()`.
    alone = [getattr(part.value, "value", part.value) for part in nodes if isinstance(part, ast.Expr)]
    dicts = _dicts(function)

    def is_safe(part: ast.AST) -> bool:
        match part:
            case ast.Call(func=ast.Attribute(attr=name)) if name in _LOGGING and part in alone:
                return True
            case (
                ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="get"), args=[ast.Constant(), *_])
                | ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(), ctx=ast.Store())
            ):
                return name in dicts
        return False

    return [part for part in nodes if isinstance(part, (*_RAISING, ast.Call)) and not is_safe(part)]


def _dicts(function: FunctionNode) -> set[str]:
    """The names of a function that hold a dict: as its parameters say, or since it makes them."""
    names = {
        parameter.arg
        for parameter in all_parameters(function.args)
        if parameter.annotation is not None and _DICT.match(ast.unparse(parameter.annotation))
    }
    others: set[str] = set()
    for node in own_statements(function):
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=value)
            ):
                (names if isinstance(value, ast.Dict) else others).add(name)
    return names - others
