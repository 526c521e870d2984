"""Explains why a run saw no tools although its files import an MCP library."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from mcpcore_lint.patterns import regex
from mcpcore_lint.records import in_test_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpcore_lint.runner.groups import Group
    from mcpcore_lint.runner.results import Result

_MOST_FILES: Final = 300
"""How many files are searched for an import."""
_IMPORT: Final = regex(rb"(?m)^[ \t]*(?:from|import)[ \t]+(mcpcore|fastmcp|mcp)(?![\w-])")


def why_no_tools(result: Result, groups: Sequence[Group]) -> str:
    """The reason and the next step; empty if there are tools, or if none are expected."""
    if result.registered or not result.files:
        return ""
    if any(diagnostic.rule == "tool-registration-unresolved" for diagnostic in result.diagnostics):
        return "no tools were seen, since the registrations cannot be resolved; name the functions under `handlers`"
    paths = [
        path
        for group in groups
        if group.walk is not None
        for path in group.walk.files
        if not in_test_file(os.path.relpath(path, group.config.root).replace(os.sep, "/"))
    ]
    for path in paths[:_MOST_FILES]:
        try:
            with open(path, "rb") as file:
                match = _IMPORT.search(file.read())
        except OSError:
            continue
        if match is None:
            continue
        start = f"no tools were seen: {result.place(result.shown(path))} imports {match[1].decode()}"
        if any(group.config.settings.handlers for group in groups):
            return f"{start}, and `handlers` matches nothing here"
        action = "lint the folder with the code that registers them" if len(paths) == 1 else "check how they register"
        return (
            f"{start}, but no function is registered; if it has tools, {action}, "
            "or name them under `handlers` in [tool.mcpcore.lint]"
        )
    return ""
