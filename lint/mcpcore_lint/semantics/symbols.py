"""The classes and functions of the project that symbols name."""

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
    """The class around a scope, if the scope is in a method."""
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
    """The bindings of a module-level name in functions with a `global` statement."""
    by_name: dict[str, list[tuple[Scope, Binding]]] | None = module.memo.get("rebound")
    if by_name is None:
        by_name = {}
        seen: set[FunctionNode] = set()
        # Reading the names of a function may register functions that are nested in it.
        while "global " in module.source.text and (
            more := [function for function in module.functions if function not in seen]
        ):
            seen.update(more)
            for scope in [module.functions[function] for function in more]:
                bindings = scope.bindings
                for bound_name in scope.globals:
                    by_name.setdefault(bound_name, []).extend(
                        (scope, binding) for binding in bindings.get(bound_name, ())
                    )
        module.memo["rebound"] = by_name
    return by_name.get(name, [])


def exported_by_mcpcore(name: str) -> bool:
    """Whether `from mcpcore import *` binds a name."""
    import mcpcore

    return name in getattr(mcpcore, "__all__", ())
