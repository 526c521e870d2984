"""The source spelling of calls and functions."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from mcpcore_lint.engine.syntax.module import ClassInfo

MAX_PARTS: Final = 20
"""A callee is spelled with at most this many parts."""


def spelled(node: ast.expr | None) -> str:
    """Return a callee as it is written, reduced to its names."""
    text = ""
    for _ in range(MAX_PARTS):
        match node:
            case ast.Attribute(value=node, attr=name):
                text = f".{name}{text}"
            case ast.Call(func=node):
                text = f"(){text}"
            case ast.Subscript(value=node):
                text = f"[]{text}"
            case ast.Await(value=node):
                pass
            case ast.Name(id=name):
                return f"{name}{text}"
            case _:
                break
    return f"...{text}"


def last_name(func: ast.expr) -> str:
    """Return the last name of a callee; empty if it has none."""
    match func:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""


def is_abstract(node: ast.FunctionDef | ast.AsyncFunctionDef, owner: ClassInfo) -> bool:
    """Whether a method has no body: it is abstract, or belongs to a protocol."""
    for decorator in node.decorator_list:
        if "abstract" in spelled(decorator):
            return True
    only: ast.stmt | None = None
    for statement in node.body:
        if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)):
            if only is not None:
                return False
            only = statement
    if only is None:
        return any("Protocol" in spelled(base) or "ABC" in spelled(base) for base in owner.node.bases)
    return isinstance(only, ast.Raise) and "NotImplementedError" in spelled(only.exc)
