"""Exceptions that are no failures of the tool, and errors about a tool that does not exist."""

import ast
import re
from typing import Final

from mcpcore_lint.engine.syntax.parse import walk
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
    nodes = walk([*catch.try_body]) if catch is not None else []
    # What logs returns nothing to use, unlike `client.info()`.
    alone = [getattr(part.value, "value", part.value) for part in nodes if isinstance(part, ast.Expr)]
    calls = [
        part
        for part in nodes
        if isinstance(part, ast.Call) and (part not in alone or getattr(part.func, "attr", "") not in _LOGGING)
    ]
    called = [ctx.called(function, call) for call in calls]
    return (catch is not None and is_about_own_json(catch, function)) or (
        bool(called)
        and all(found and all(map(_catches_all, found)) for found in called)
        and not any(isinstance(part, _RAISING) for part in nodes)
        # A function that a clause calls may raise.
        and not any(catch is not None and guards(catch, span) for _, _, span in ctx.stopped(function))
    )


def _catches_all(function: FunctionNode) -> bool:
    """Whether a function does everything in one `try` whose clauses answer each exception."""
    *first, last = getattr(function, "body", [function])
    return (
        isinstance(last, ast.Try)
        and not last.orelse
        and not any(isinstance(part, (*_RAISING, ast.Call)) for part in walk(first))
        and any(clause.type is None or ast.unparse(clause.type) == "Exception" for clause in last.handlers)
        and not any(isinstance(part, ast.Raise) for part in walk([*last.handlers, *last.finalbody]))
    )
