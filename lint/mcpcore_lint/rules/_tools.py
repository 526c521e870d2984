"""Facts about a tool that rules of several families need."""

import ast

from mcpcore_lint.engine.syntax.parse import walk
from mcpcore_lint.model import ToolDef
from mcpcore_lint.records import in_test_file


def in_test(tool: ToolDef) -> bool:
    """Whether a tool exists only in a test, so that no model ever sees it."""
    outer_names = tool.handler.qualname.split(".")[:-1]
    return in_test_file(tool.module.path, tool.module.source.text) or any(
        name.startswith(("test_", "Test")) for name in outer_names
    )


def binds_arguments(tool: ToolDef) -> bool:
    """Whether a registration may supply parameters itself: `add_tool(partial(fetch, store))`."""
    return tool.module.source.has("partial") and any(
        (node.attr if isinstance(node, ast.Attribute) else node.id) == "partial"
        for node in walk([tool.registration])
        if isinstance(node, (ast.Name, ast.Attribute))
    )
