"""The project and its settings, as all readers of functions share them."""

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
    """The project, with the settings that concern errors."""

    project: Project
    hierarchy: Hierarchy
    raises: Mapping[str, tuple[str, ...]]
    """Functions of other packages with the errors that they raise, from the configuration."""
    thorough: bool = False
    """Whether calls into unknown packages are reported too, as `--explain-calls` does."""

    def find(self, key: Key) -> tuple[FunctionNode, Module] | None:
        """Return the function of a key, with its file."""
        module = self.project.module_at(key.path)
        node = module.function_at(key.line, key.column) if module is not None else None
        return (node, module) if node is not None and module is not None else None
