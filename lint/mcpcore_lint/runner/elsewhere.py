"""The tools of a file that other files register: looked for where the file is linted by itself."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Final

from mcpcore_lint.patterns import regex
from mcpcore_lint.runner.prefilter import speaks_of_mcp
from mcpcore_lint.syntax.nearby import nearby
from mcpcore_lint.syntax.source import SourceError

if TYPE_CHECKING:
    from mcpcore_lint.model import ToolDef
    from mcpcore_lint.runner.checker import Judge
    from mcpcore_lint.syntax.module import Module

_BY_NAME: Final = (b"iter_modules", b"walk_packages", b"import_module")
"""Calls that load a module without an import of its name."""
_REGISTERS: Final = regex(
    rb"add_tool\b|\.tool\s*\(\s*[\w.]+\s*[,)]|\.tool\s*\([^()]*(?:\([^()]*\)[^()]*)*\)\s*\("
    rb"|from_function\b|\btools\s*=(?!=)|call_tool\b|\bregister\w*\("
)
"""Registrations of functions that another file may define: not those by a decorator."""


def registered_elsewhere(judge: Judge, module: Module) -> tuple[Module, list[ToolDef]] | None:
    """The file that registers functions of another file, and these tools."""
    if not any(isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) for each in module.tree.body):
        return None
    stem = re.escape(module.name.rpartition(".")[2].encode())
    named = re.compile(
        rb"\bimport\b[^\n]*\b%b\b|\bfrom\s+[\w.]*\b%b\b|[\"'][\w.]*\b%b[\"']|^\s+%b,?\s*$" % ((stem,) * 4), re.MULTILINE
    )
    for path in nearby(module.absolute, judge.project.root):
        try:
            with open(path, "rb") as file:
                raw = file.read()
        except OSError:
            continue
        if not speaks_of_mcp(raw) or not _REGISTERS.search(raw) or not (named.search(raw) or _loads_by_name(raw)):
            continue
        try:
            other = judge.project.read(path)
        except (OSError, SourceError):
            continue
        tools = [tool for tool in judge.find_tools(other) if tool.handler.module is module]
        if tools:
            return other, tools
    return None


def _loads_by_name(raw: bytes) -> bool:
    return any(each in raw for each in _BY_NAME)


__all__ = ["registered_elsewhere"]
