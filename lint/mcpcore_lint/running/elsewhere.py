"""The tools of a file that other files register: looked for where the file is linted by itself."""

from __future__ import annotations

import ast
import os
import re
from typing import TYPE_CHECKING, Final

from mcpcore_lint.patterns import regex
from mcpcore_lint.reading.source import SourceError
from mcpcore_lint.running.marks import speaks_of_mcp

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore_lint.model import ToolDef
    from mcpcore_lint.reading.module import Module
    from mcpcore_lint.running.judge import Judge

MANY: Final = 400
"""How many files are read at most: an editor waits for the answer."""
_BY_NAME: Final = (b"iter_modules", b"walk_packages", b"import_module")
"""Calls that load a module without an import of its name."""
_REGISTERS: Final = regex(
    rb"add_tool\b|\.tool\s*\(\s*[\w.]+\s*[,)]|\.tool\s*\([^()]*(?:\([^()]*\)[^()]*)*\)\s*\("
    rb"|from_function\b|\btools\s*=(?!=)|call_tool\b|\bregister\w*\("
)
"""Registrations of functions that another file may define: not those by a decorator."""
_SKIPPED: Final = frozenset({"__pycache__", "node_modules", "site-packages", "venv", "build", "dist", "tests", "test"})


def registered_elsewhere(judge: Judge, module: Module) -> tuple[Module, list[ToolDef]] | None:
    """The file that registers functions of another file, and these tools."""
    if not any(isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) for each in module.tree.body):
        return None
    stem = re.escape(module.name.rpartition(".")[2].encode())
    named = re.compile(
        rb"\bimport\b[^\n]*\b%b\b|\bfrom\s+[\w.]*\b%b\b|[\"'][\w.]*\b%b[\"']|^\s+%b,?\s*$" % ((stem,) * 4), re.MULTILINE
    )
    for path in _near(module.absolute, judge.project.root):
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


def _near(absolute: str, root: str) -> Iterator[str]:
    """The Python files round a file: those of its folder and of the folders above, then all of its package."""
    seen = {absolute}
    folder, top = os.path.dirname(absolute), ""
    while True:
        for name in _listed(folder):
            path = os.path.join(folder, name)
            if name.endswith(".py") and path not in seen:
                seen.add(path)
                yield path
        package = os.path.isfile(os.path.join(folder, "__init__.py"))
        if package:
            top = folder
        above = os.path.dirname(folder)
        # Without a pyproject.toml the root is the folder of the file, and its package may start above.
        inside = folder != root and folder.startswith(root)
        if not (package or inside) or above == folder or len(seen) > MANY:
            break
        folder = above
    for inner, folders, names in os.walk(top) if top else ():
        folders[:] = sorted(each for each in folders if each not in _SKIPPED and not each.startswith("."))
        for name in sorted(names):
            path = os.path.join(inner, name)
            if name.endswith(".py") and path not in seen:
                seen.add(path)
                yield path
        if len(seen) > MANY:
            return


def _listed(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


__all__ = ["registered_elsewhere"]
