"""The source spelling of calls and functions."""

import ast
from typing import Final

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
