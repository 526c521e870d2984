"""The modules of a folder of the project that a server imports by their names: `for file in folder.glob("*.py")`."""

from __future__ import annotations

import ast
import os
from typing import TYPE_CHECKING, Final

from mcpcore_lint.engine.registrations.environment import DEEP, Placed, assignments_of, substitute, written_scope
from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.syntax.parse import children
from mcpcore_lint.model import Symbol, Text, string

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore_lint.engine.registrations.functions import Functions
    from mcpcore_lint.engine.syntax.module import Module
    from mcpcore_lint.engine.syntax.scopes import Scope

_LOADS: Final = frozenset(
    {"importlib.import_module", "builtins.__import__", "importlib.util.module_from_spec", "importlib.util.find_spec"}
)
_SAME: Final = frozenset({"Path", "PurePath", "abspath", "realpath", "str", "fspath", "resolve", "absolute", "list"})
"""Functions and methods that return the path that they get."""
_DEEPER: Final = frozenset({"walk_packages", "walk", "rglob"})
"""Functions that go through the folders in a folder as well."""
_STEPS: Final = 60


def imported_modules(call: ast.Call, scope: Scope, functions: Functions) -> list[Module]:
    """The modules that a call imports whose name or path is only known at run time: all those of the folder."""
    symbol = evaluate(call.func, scope)
    if not isinstance(symbol, Symbol) or symbol.name not in _LOADS or not call.args:
        return []
    module, folder, is_deep = written_scope(scope).module, _of_package(call, scope), False
    queue: list[Placed] = [(argument, scope) for argument in call.args] if folder is None else []
    seen: set[ast.expr] = set()
    for node, where in queue:
        if node in seen or len(seen) > _STEPS:
            continue
        seen.add(node)
        is_deep |= isinstance(node, ast.Call) and getattr(node.func, "attr", "") in _DEEPER
        folder = _folder(node, where)
        if folder is not None and os.path.isdir(folder):
            break
        folder = None
        queue += _parts(node, where, functions)
    found = module.project.modules_with(module, lambda text: "def " in text) if folder is not None else None
    return [
        part
        for part in found or ()
        if folder is not None and not part.is_package and part is not module
        if os.path.dirname(part.absolute) == folder or (is_deep and part.absolute.startswith(folder + os.sep))
    ]


def _of_package(call: ast.Call, scope: Scope) -> str | None:
    """The folder of the package in `import_module(f"acme.tools.{name}")` and `import_module(f".{name}", __name__)`."""
    value = evaluate(*substitute(call.args[0], scope))
    start = (value.parts[0] or "") if isinstance(value, Text) and value.parts else ""
    here = written_scope(scope).module
    name = start.rpartition(".")[0]
    if start == ".":
        packages = [*call.args[1:2], *(keyword.value for keyword in call.keywords)]
        package = packages[0] if packages else None
        name = string(evaluate(package, scope)) or "" if package is not None else ""
        if getattr(package, "id", "") in {"__name__", "__package__"}:
            return os.path.dirname(here.absolute)
    home = here.project.module_of(here, name, 0) if name else None
    return os.path.dirname(home.absolute) if home is not None and home.is_package else None


def _parts(node: ast.expr, scope: Scope, functions: Functions) -> Iterator[Placed]:
    """The expressions that an expression is made of: its parts, and the values of its names."""
    seen = substitute(node, scope)
    if seen[0] is not node:
        yield seen
    elif isinstance(node, ast.Name):
        yield from functions.elements.origins(node, scope)
    else:
        for part in children(node):
            inner = part.iter if isinstance(part, ast.comprehension) else part
            inner = inner.value if isinstance(inner, ast.keyword) else inner
            if isinstance(inner, ast.expr):
                yield inner, scope


def _folder(node: ast.expr, scope: Scope, depth: int = 0) -> str | None:
    """The path that an expression is, if it starts at a file or a package of the project."""
    if depth > DEEP:
        return None
    node, scope = substitute(node, scope)

    def inner(part: ast.expr) -> str | None:
        return _folder(part, scope, depth + 1)

    def joined(whole: ast.expr, *parts: ast.expr) -> str | None:
        start, texts = inner(whole), [string(evaluate(part, scope)) for part in parts]
        return None if start is None or None in texts else os.path.normpath(os.path.join(start, *filter(None, texts)))

    match node:
        case ast.Name(id="__file__"):
            return scope.module.absolute
        case ast.Name(id="__path__"):
            return os.path.dirname(scope.module.absolute)
        case ast.Attribute(value=value, attr="__path__" | "__file__"):
            symbol = evaluate(value, scope)
            tree = symbol.definition if isinstance(symbol, Symbol) else None
            owner = scope.module.project.module_by_name(symbol.name, tree) if isinstance(tree, ast.Module) else None  # type: ignore[attr-defined]
            path = owner.absolute if owner is not None else None
            return os.path.dirname(path) if path is not None and node.attr == "__path__" else path
        case ast.Attribute(value=value, attr="parent") | ast.Call(func=ast.Attribute(attr="dirname"), args=[value]):
            path = inner(value)
            return os.path.dirname(path) if path is not None else None
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return joined(left, right)
        case ast.Call(func=ast.Attribute(attr="join"), args=[whole, *parts]):
            return joined(whole, *parts)
        case ast.Call(func=ast.Attribute(value=whole, attr="joinpath"), args=parts):
            return joined(whole, *parts)
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[value]) if name in _SAME:
            return inner(value)
        case ast.Call(func=ast.Attribute(value=value, attr=name), args=[]) if name in _SAME:
            return inner(value)
        case ast.Subscript(value=value, slice=ast.Constant()):
            return inner(value)
        case ast.Name():
            values = assignments_of(node, scope)
            return _folder(*values[0], depth + 1) if len(values) == 1 else None
    return None
