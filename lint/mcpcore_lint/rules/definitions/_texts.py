"""Where a tool gets its name and its description."""

import ast

from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.parse import walk
from mcpcore_lint.model import Const, Missing, ToolDef, Value


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


def sets_docstring(tool: ToolDef) -> bool:
    """Whether the file of a tool sets docstrings."""
    return any(module.source.has(".__doc__ =") for module in (tool.handler.module, tool.module))


def says_nothing(value: Value) -> bool:
    """Whether a description is missing, None or blank."""
    return isinstance(value, Missing) or (isinstance(value, Const) and not str(value.value or "").strip())
