"""Entries of `handlers` in the settings that name no function of the project."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpcore_lint.registrations.named import named_functions, names_function, names_module
from mcpcore_lint.syntax.source import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcpcore_lint.records import ToolRecord
    from mcpcore_lint.settings import Settings


def unmatched_handlers(settings: Settings, root: str, tools: Iterable[ToolRecord]) -> tuple[str, ...]:
    """The entries that name no function of any file of the project; files are read for those that name no tool."""
    from mcpcore_lint.runner.discover import Walk
    from mcpcore_lint.syntax.project import Project

    project = Project(root, source_roots=settings.source_roots)
    handlers = [(project.module_name(project.absolute(each.path))[0], each.handler) for each in tools]
    left = [
        entry
        for entry in settings.handlers
        if not any(names_function(entry, module, qualname) for module, qualname in handlers)
    ]
    if not left:
        return ()
    for path in Walk(settings, root).run([root]).files:
        if not left:
            break
        matching = [entry for entry in left if names_module([entry], project.module_name(path)[0])]
        if not matching:
            continue
        try:
            module = project.read(path)
        except (OSError, SourceError):
            continue
        left = [entry for entry in left if entry not in matching or not any(named_functions(module, [entry]))]
    return tuple(left)


__all__ = ["unmatched_handlers"]
