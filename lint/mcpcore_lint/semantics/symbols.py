"""The project's own classes and functions behind the names that mean them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcpcore_lint.model import FunctionNode, Symbol
    from mcpcore_lint.syntax.module import ClassInfo, Module
    from mcpcore_lint.syntax.scopes import Binding, Scope


def qualified(module: Module, node: ast.AST) -> str:
    """The qualified name of a function or class of the project."""
    if isinstance(node, ast.ClassDef):
        info = module.classes.get(node)
        return f"{module.name}.{info.qualname if info else node.name}"
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        scope = module.functions.get(node)
        return f"{module.name}.{scope.qualname if scope else node.name}"
    return module.name


def class_info(symbol: Symbol) -> ClassInfo | None:
    """The project's class that a symbol names."""
    if symbol.module is None or not isinstance(symbol.definition, ast.ClassDef):
        return None
    return symbol.module.project.class_info(symbol.definition)


def class_round(scope: Scope) -> ClassInfo | None:
    """The class that a scope is in a method of."""
    current: Scope | None = scope
    while current is not None:
        if current.owner is not None:
            return current.module.classes.get(current.owner)
        current = current.parent
    return None


def enum_like(symbol: Symbol) -> bool:
    """Whether a class of the project is an Enum."""
    definition = symbol.definition
    if not isinstance(definition, ast.ClassDef):
        return False
    names = {"Enum", "StrEnum", "IntEnum", "Flag", "ReprEnum"}
    return any(
        (isinstance(base, ast.Name) and base.id in names) or (isinstance(base, ast.Attribute) and base.attr in names)
        for base in definition.bases
    )


def rebound(module: Module, name: str) -> list[tuple[Scope, Binding]]:
    """The ways in which functions bind a name of the module, by a `global` statement."""
    found: dict[str, list[tuple[Scope, Binding]]] | None = module.memo.get("rebound")
    if found is None:
        found = {}
        seen: set[FunctionNode] = set()
        # To ask a function for its names may make known those that are nested in it.
        while "global " in module.source.text and (more := [each for each in module.functions if each not in seen]):
            seen.update(more)
            for scope in [module.functions[each] for each in more]:
                bindings = scope.bindings
                for each in scope.globals:
                    found.setdefault(each, []).extend((scope, binding) for binding in bindings.get(each, ()))
        module.memo["rebound"] = found
    return found.get(name, [])
