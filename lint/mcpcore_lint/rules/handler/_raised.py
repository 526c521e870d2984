"""What the rules about raising share."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Final

from mcpcore_lint.model import CallValue, Text, options, string
from mcpcore_lint.patterns import regex

if TYPE_CHECKING:
    from mcpcore_lint.model import ErrorSite, ToolDef, Value

NOT_FAILURES: Final = frozenset(
    {
        "builtins.StopIteration",
        "builtins.StopAsyncIteration",
        "builtins.GeneratorExit",
        "builtins.KeyboardInterrupt",
        "builtins.AssertionError",
    }
)
"""Builtins that steer the program, or that say "this is a bug", which an agent needs no advice about."""

_UNKNOWN_TOOL: Final = regex(
    r"\b(?:unknown|no such|unsupported|invalid) tool\b|\btool\b.*\b(?:not found|unknown)\b", re.IGNORECASE
)


def about_an_unknown_tool(error: ErrorSite, tool: ToolDef) -> bool:
    """Whether a low-level handler, which serves every tool, says that there is no such tool, as the protocol asks."""
    if tool.flavour != "lowlevel":
        return False
    if error.type_name == "builtins.NotImplementedError" or _for_no_tool(error.node.lineno, tool):
        return True
    values: list[Value] = [error.message.value]
    if isinstance(error.node, ast.Call):
        for value in options(error.message.value):
            if isinstance(value, CallValue):
                values.extend(each for _, each in value.keywords)
    for value in values:
        for each in options(value):
            text = string(each) or (" ".join(p or "" for p in each.parts) if isinstance(each, Text) else "")
            if _UNKNOWN_TOOL.search(text):
                return True
    return False


def _for_no_tool(line: int, tool: ToolDef) -> bool:
    """Whether a line of a low-level handler runs for none of the tools that it serves."""
    served = [each for each in tool.serves if each.inside.node is tool.handler.node]
    return bool(served) and all(any(first <= line <= last for first, last in each.elsewhere) for each in served)
