"""Exceptions that are no failures of the tool, and errors about a tool that does not exist."""

import ast
import re
from typing import Final

from mcpcore_lint.model import ErrorSite, ToolDef
from mcpcore_lint.patterns import regex

NOT_FAILURES: Final = frozenset(
    f"builtins.{name}"
    for name in ("StopIteration", "StopAsyncIteration", "GeneratorExit", "KeyboardInterrupt", "AssertionError")
)
"""Builtin exceptions that control the program or mean a bug. The agent needs no advice about them."""

_UNKNOWN_TOOL: Final = regex(
    r"\b(?:unknown|no such|unsupported|invalid) tool\b|\btool\b.*\b(?:not found|unknown)\b", re.IGNORECASE
)


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
