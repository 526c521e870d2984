"""Which tools exist only in tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpcore_lint.records import in_test_file

if TYPE_CHECKING:
    from mcpcore_lint.model import ToolDef


def in_test(tool: ToolDef) -> bool:
    """Whether a tool is made for a test, where no model reads what is said about it."""
    outside = tool.handler.qualname.split(".")[:-1]
    return in_test_file(tool.module.path) or any(each.startswith(("test_", "Test")) for each in outside)
