"""What every reader of functions needs to know about the program, and how a function is found again by its key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpcore_lint.dataclasses import light

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpcore_lint.flow.effects import Key
    from mcpcore_lint.model import FunctionNode
    from mcpcore_lint.semantics.hierarchy import Hierarchy
    from mcpcore_lint.syntax.module import Module
    from mcpcore_lint.syntax.project import Project


@light
class Program:
    """The project, and what its configuration says about errors."""

    project: Project
    hierarchy: Hierarchy
    raises: Mapping[str, tuple[str, ...]]
    """From the configuration: functions of other packages to the errors that they raise."""
    thorough: bool = False
    """Whether calls into other packages are reported even if nothing is known about them. Only people ask for this."""

    def find(self, key: Key) -> tuple[FunctionNode, Module] | None:
        """The function of a key, with its file."""
        module = self.project.module_at(key.path)
        node = module.function_at(key.line, key.column) if module is not None else None
        return (node, module) if node is not None and module is not None else None
