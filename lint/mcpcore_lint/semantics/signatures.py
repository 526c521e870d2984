"""The decorators and annotations of functions: static methods, and methods that return their receiver."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcpcore_lint.model import FunctionNode


def is_static(node: FunctionNode) -> bool:
    """Whether a function is a static method."""
    return not isinstance(node, ast.Lambda) and any(
        last_name(decorator) == "staticmethod" for decorator in node.decorator_list
    )


def last_name(node: ast.expr) -> str:
    """The last name of a decorator or an annotation."""
    target = node.func if isinstance(node, ast.Call) else node.value if isinstance(node, ast.Subscript) else node
    return target.id if isinstance(target, ast.Name) else getattr(target, "attr", "")


def returns_receiver(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a method returns its receiver, or an instance of its class: `def make(cls: type[T]) -> T`."""
    first = next(iter((*node.args.posonlyargs, *node.args.args)), None)
    annotation = first.annotation if first is not None else None
    if isinstance(annotation, ast.Subscript):
        annotation = annotation.slice if last_name(annotation) in {"type", "Type"} else None
    if isinstance(annotation, ast.Name) and isinstance(node.returns, ast.Name):
        return annotation.id == node.returns.id
    return False
