"""The classes and functions of the project that symbols name, and callees that have no qualified name."""

import ast
from typing import Final

from mcpcore_lint.engine.syntax.module import ClassInfo, Module
from mcpcore_lint.engine.syntax.scopes import Scope
from mcpcore_lint.model import FunctionNode, Symbol
from mcpcore_lint.names import PLAIN_BUILTINS

_VALUES: Final = frozenset(
    {ast.Constant, ast.JoinedStr, ast.List, ast.Dict, ast.Set, ast.Tuple, ast.ListComp, ast.DictComp, ast.SetComp,
     ast.GeneratorExp, ast.Compare, ast.BinOp, ast.UnaryOp, ast.Await, ast.Subscript}
)  # fmt: skip
_OBJECTS: Final = _VALUES | {ast.Call}
_LOCAL: Final = frozenset({"parameter", "with", "opaque", "augmented"})
"""Kinds of bindings whose value has no qualified name."""
_ASSIGNED: Final = frozenset({"assign", "annotated"})


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


def exported_by_mcpcore(name: str) -> bool:
    """Whether `from mcpcore import *` binds a name."""
    import mcpcore

    return name in getattr(mcpcore, "__all__", ())


def is_static(node: FunctionNode) -> bool:
    """Whether a function is a static method."""
    return not isinstance(node, ast.Lambda) and any(
        last_name(decorator) == "staticmethod" for decorator in node.decorator_list
    )


def last_name(node: ast.expr) -> str:
    """The last name of a decorator or an annotation."""
    target = node.func if isinstance(node, ast.Call) else node.value if isinstance(node, ast.Subscript) else node
    return target.id if isinstance(target, ast.Name) else getattr(target, "attr", "")


def _imports(node: ast.expr | None) -> bool:
    return type(node) is ast.Call and last_name(node) == "import_module"


def is_local(func: ast.expr, scope: Scope) -> bool:
    """Whether a callee starts from a local value or a plain builtin, so that it has no qualified name.

    No finding depends on this. Without it, a cold run of `bench.lint` takes 15 percent longer.
    """
    root = func
    while not isinstance(root, ast.Name):
        match root:
            case ast.Attribute(value=inner):
                root = inner
            case ast.Call(func=inner) if root is not func:
                root = inner
            case _:
                return isinstance(root, (ast.Constant, ast.JoinedStr))
    match = scope.lookup(root.id)
    if match is None:
        return root is func and root.id in PLAIN_BUILTINS
    # The methods of an object that a call returns have no qualified name either; modules that a call imports are rare.
    values = _VALUES if root is func else _OBJECTS
    return all(
        binding.kind in _LOCAL
        or (binding.kind in _ASSIGNED and type(value := binding.value) in values and not _imports(value))
        for binding in match[1]
    )
