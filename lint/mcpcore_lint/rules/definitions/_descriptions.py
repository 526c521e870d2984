"""The description of a tool or parameter: whether it says anything, and whether code sets it at run time."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.model import Const
from mcpcore_lint.patterns import regex

if TYPE_CHECKING:
    from mcpcore_lint.model import ToolDef, Value

_SETS_DOCSTRING: Final = regex(r"\.__doc__\s*=(?!=)")


def sets_docstring(tool: ToolDef) -> bool:
    """Whether code sets the docstring of a handler, by the handler's name or on whatever it registers."""
    home = tool.handler.module.source
    if home.has(".__doc__") and f"{tool.handler.name}.__doc__" in home.text:
        return True
    node = tool.handler.node
    decorated = not isinstance(node, ast.Lambda) and tool.registration in node.decorator_list
    source = tool.module.source
    return not decorated and source.has(".__doc__") and _SETS_DOCSTRING.search(source.text) is not None


def says_nothing(value: Value) -> bool:
    """Whether a description is None or blank."""
    return isinstance(value, Const) and (
        value.value is None or (isinstance(value.value, str) and not value.value.strip())
    )
