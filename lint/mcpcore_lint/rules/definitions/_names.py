"""Where a tool gets its name."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from mcpcore_lint.syntax.parse import walk

if TYPE_CHECKING:
    from mcpcore_lint.model import ToolDef
    from mcpcore_lint.syntax.module import Module


def name_place(tool: ToolDef) -> tuple[ast.AST, Module]:
    """The expression in the registration that names a tool, else the registration or the handler, with its file."""
    keyword = tool.decorator_keyword("name")
    if keyword is not None:
        return keyword.value, tool.module
    if isinstance(tool.registration, ast.Call) and tool.name.node is not tool.handler.node:
        if isinstance(tool.name.node, ast.expr) and tool.name.node in set(walk([tool.registration])):
            return tool.name.node, tool.module
        return tool.registration, tool.module
    return tool.handler.node, tool.handler.module
