"""Names of tools: in settings, `handlers = ["acme.tools.*:handle_*"]`, and in code, `external_tools=["search_web"]`."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Final

from mcpcore_lint.engine.registrations.registration_forms import flavour_in
from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.parse import Function
from mcpcore_lint.engine.syntax.scopes import Scope
from mcpcore_lint.model import CallValue, Const, Items, ToolDef, Unknown, is_left_out, options, string
from mcpcore_lint.patterns import regex

if TYPE_CHECKING:
    from mcpcore_lint.engine.registrations.build import Builder
    from mcpcore_lint.records import ToolFlavour

_DEPENDENCY: Final = regex(r"[\"'\s](mcpcore|fastmcp|mcp)(?![\w.-])")


def names_module(entries: Iterable[str], module: str) -> bool:
    """Whether some entry is about a module."""
    from fnmatch import fnmatchcase

    return any(fnmatchcase(module, entry.partition(":")[0]) for entry in entries)


def names_function(entry: str, module: str, qualname: str) -> bool:
    """Whether an entry names a function: by its module, and by its name or as `Class.method`.

    A pattern that does not begin with an underscore leaves out what is private.
    """
    from fnmatch import fnmatchcase

    modules, _, functions = entry.partition(":")
    if functions.count(".") != qualname.count(".") or not fnmatchcase(module, modules):
        return False
    private = qualname.rpartition(".")[2].startswith("_")
    return fnmatchcase(qualname, functions) and (not private or functions.rpartition(".")[2].startswith("_"))


def named_functions(module: Module, entries: Iterable[str]) -> Iterator[Function]:
    """The functions of a file that some entry names, in source order."""
    matching = [entry for entry in entries if names_module([entry], module.name)]
    if not matching:
        return
    methods = {id(node) for info in module.classes.values() for node in info.methods.values()}
    for node, scope in list(module.functions.items()):
        if isinstance(node, ast.Lambda) or scope.parent is None:
            continue
        if not scope.parent.is_module and id(node) not in methods:
            continue
        if any(names_function(entry, module.name, scope.qualname) for entry in matching):
            yield node


def named_tools(builder: Builder, entries: Iterable[str], known: Iterable[ToolDef], root: str) -> list[ToolDef]:
    """The tools of a file that only the settings name."""
    registered = {tool.handler.node for tool in known}
    return [_tool(node, builder, root) for node in named_functions(builder.module, entries) if node not in registered]


def _tool(node: Function, builder: Builder, root: str) -> ToolDef:
    module = builder.module
    handler = builder.handler(node, module)
    unknown = Unknown(node, module, "it is registered where the linter does not see it")
    # There is no registration, so findings about it are reported at the word `def`.
    word = ast.Name(node.name, lineno=node.lineno, end_lineno=node.lineno, col_offset=node.col_offset)
    word.end_col_offset = node.col_offset + len("def")
    description = unknown if handler.docstring is None else Const(node, module, handler.docstring)
    name = Const(node, module, node.name)
    return ToolDef("tool", _flavour(module, root), name, handler, module, word, None, description, None, unknown)


def _flavour(module: Module, root: str) -> ToolFlavour:
    """Whose tools the functions of a file are: by what the file imports, else by what the project depends on."""
    text = module.source.text
    if "mcpcore" in text:
        return "mcpcore"
    if "mcp." in text or "import mcp" in text or "fastmcp" in text:
        return flavour_in(text) or "sdk"
    return _of_project(root)


@cache
def _of_project(root: str) -> ToolFlavour:
    try:
        with open(os.path.join(root, "pyproject.toml"), encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:
        return "sdk"
    packages = set(_DEPENDENCY.findall(text))
    return "mcpcore" if "mcpcore" in packages else "fastmcp" if "fastmcp" in packages else "sdk"


OPTION: Final = "external_tools"


def external_tools(module: Module) -> tuple[str | None, ...]:
    """The names that a file gives as `external_tools=`; None for each that cannot be known."""
    if not module.source.has(OPTION):
        return ()
    calls = module.calls_near(OPTION, decorators=True)
    values = [(keyword.value, scope) for call, scope in calls for keyword in call.keywords if keyword.arg == OPTION]
    return tuple(dict.fromkeys(name for node, scope in values for name in _named(node, scope)))


def _named(node: ast.expr, scope: Scope) -> Iterator[str | None]:
    for value in options(evaluate(node, scope)):
        if isinstance(value, CallValue) and value.func.name == "builtins.frozenset" and len(value.args) == 1:
            value = value.args[0]  # noqa: PLW2901
        if isinstance(value, Items):
            yield from (string(name) for item in value.items for name in options(item))
        if not is_left_out(value) and not (isinstance(value, Items) and value.complete):
            yield None
