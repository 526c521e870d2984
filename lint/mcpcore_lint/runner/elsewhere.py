"""Finds the tools of a file that other files register, for files that are linted without their project."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Final

from mcpcore_lint.patterns import regex
from mcpcore_lint.syntax.nearby import nearby
from mcpcore_lint.syntax.prefilter import speaks_of_mcp
from mcpcore_lint.syntax.source import SourceError

if TYPE_CHECKING:
    from mcpcore_lint.model import ToolDef
    from mcpcore_lint.runner.checker import Checker
    from mcpcore_lint.syntax.module import Module

_BY_NAME: Final = (b"iter_modules", b"walk_packages", b"import_module")
"""Calls that load modules without an import statement."""
_REGISTERS: Final = regex(
    rb"add_tool\b|\.tool\s*\(\s*[\w.]+\s*[,)]|\.tool\s*\([^()]*(?:\([^()]*\)[^()]*)*\)\s*\("
    rb"|from_function\b|\btools\s*=(?!=)|call_tool\b|\bregister\w*\("
)
"""Registrations other than by a decorator, which can name functions of another file."""


def registered_elsewhere(checker: Checker, module: Module) -> tuple[Module, list[ToolDef]] | None:
    """The file that registers functions of a module, and these tools; None if no file does."""
    if not any(isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) for node in module.tree.body):
        return None
    stem = re.escape(module.name.rpartition(".")[2].encode())
    named = re.compile(
        rb"\bimport\b[^\n]*\b%b\b|\bfrom\s+[\w.]*\b%b\b|[\"'][\w.]*\b%b[\"']|^\s+%b,?\s*$" % ((stem,) * 4), re.MULTILINE
    )
    for path in nearby(module.absolute, checker.project.root):
        try:
            with open(path, "rb") as file:
                raw = file.read()
        except OSError:
            continue
        if not speaks_of_mcp(raw) or not _REGISTERS.search(raw):
            continue
        if not named.search(raw) and not any(call in raw for call in _BY_NAME):
            continue
        try:
            other = checker.project.read(path)
        except (OSError, SourceError):
            continue
        tools = [tool for tool in checker.find_tools(other) if tool.handler.module is module]
        if tools:
            return other, tools
    return None
