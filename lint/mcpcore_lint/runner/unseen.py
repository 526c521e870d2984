"""Why a run saw no tools, although the files that it read have to do with MCP."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from mcpcore_lint.patterns import regex
from mcpcore_lint.records import in_test_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpcore_lint.runner.runner import Group, Result

MANY: Final = 300
"""How many files are looked into for an import."""
_IMPORT: Final = regex(rb"(?m)^[ \t]*(?:from|import)[ \t]+(mcpcore|fastmcp|mcp)(?![\w-])")


def why_no_tools(result: Result, groups: Sequence[Group]) -> str:
    """A sentence with the reason and the next step; empty where tools were seen, or none are to be expected."""
    if result.registered or not result.files:
        return ""
    if any(each.rule == "tool-registration-unresolved" for each in result.diagnostics):
        return "no tools were seen, since what is registered cannot be resolved; name the functions under `handlers`"
    paths = [
        path
        for group in groups
        if group.walk is not None
        for path in group.walk.files
        if not in_test_file(os.path.relpath(path, group.config.root).replace(os.sep, "/"))
    ]
    for path in paths[:MANY]:
        try:
            with open(path, "rb") as file:
                match = _IMPORT.search(file.read())
        except OSError:
            continue
        if match is None:
            continue
        shown = result.place(result.shown(path))
        if any(group.config.settings.handlers for group in groups):
            return f"no tools were seen: {shown} imports {match[1].decode()}, and `handlers` names nothing here"
        where = "lint the folder with the code that registers them" if len(paths) == 1 else "check how they register"
        return (
            f"no tools were seen: {shown} imports {match[1].decode()}, but no function is registered; if it has tools, "
            f"{where}, or name them under `handlers` in [tool.mcpcore.lint]"
        )
    return ""


__all__ = ["why_no_tools"]
