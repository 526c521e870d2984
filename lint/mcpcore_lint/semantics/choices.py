"""Values with several possibilities, each listed once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mcpcore_lint.model import Choice, CodeValue, Const, Symbol, Unknown, Value, options

if TYPE_CHECKING:
    import ast

    from mcpcore_lint.syntax.module import Module

MAX_OPTIONS: Final = 64


def choice(values: list[Value], node: ast.AST, module: Module) -> Value:
    """A value with several possibilities, without duplicates."""
    if len(values) == 1:
        return values[0]
    flat: list[Value] = []
    seen: set[object] = set()
    for value in values:
        for option in options(value):
            key = identity(option)
            if key is None or key not in seen:
                flat.append(option)
                seen.add(key)
    if len(flat) == 1:
        return flat[0]
    if not flat or len(flat) > MAX_OPTIONS:
        return Unknown(node, module, "too many possibilities")
    return Choice(node, module, tuple(flat))


def identity(value: Value) -> object | None:
    """A key that equal values share, or None if the value has no such key."""
    if isinstance(value, Const):
        return ("const", type(value.value), value.value)
    if isinstance(value, CodeValue):
        return ("code", value.name, value.number)
    if isinstance(value, Symbol):
        return ("symbol", value.name)
    return None
