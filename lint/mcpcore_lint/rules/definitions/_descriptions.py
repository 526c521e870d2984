"""The description of a tool or parameter: whether it says anything, and whether code sets it at run time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpcore_lint.model import Const

if TYPE_CHECKING:
    from mcpcore_lint.model import ToolDef, Value


def sets_docstring(tool: ToolDef) -> bool:
    """Whether the file of a tool sets docstrings."""
    return any(module.source.has(".__doc__ =") for module in (tool.handler.module, tool.module))


def says_nothing(value: Value) -> bool:
    """Whether a description is None or blank."""
    return isinstance(value, Const) and (
        value.value is None or (isinstance(value.value, str) and not value.value.strip())
    )
