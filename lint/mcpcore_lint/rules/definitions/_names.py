"""Where a tool gets its name."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from mcpcore_lint.syntax.parse import walk

if TYPE_CHECKING:
    from mcpcore_lint.model import ToolDef
    from mcpcore_lint.syntax.module import Module


def name_place(tool: ToolDef) -> tuple[ast.AST, Module]:
    """Where a tool's name is given: in the registration, else the handler's own."""
    keyword = tool.decorator_keyword("name")
    if keyword is not None:
        return keyword.value, tool.module
    if isinstance(tool.registration, ast.Call) and tool.name.node is not tool.handler.node:
        inside = set(walk([tool.registration]))
        if tool.name.node in inside and isinstance(tool.name.node, ast.expr):
            return tool.name.node, tool.module
        return tool.registration, tool.module
    return tool.handler.node, tool.handler.module
