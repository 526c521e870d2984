"""The keys of the data that a failure carries."""

from __future__ import annotations

import ast

from mcpcore_lint.model import Const, Mapping, Missing, Value


def data_keys(value: Value) -> tuple[list[str], bool] | None:
    """The keys of some data, and whether there are no others; None if they are unknown."""
    if isinstance(value, Missing) or (isinstance(value, Const) and value.value is None):
        return [], True
    if not isinstance(value, Mapping):
        return None
    if not all(isinstance(key, Const) and isinstance(key.value, str) for key, _ in value.items):
        return None
    complete = value.complete
    if not complete and isinstance(value.node, ast.Dict):
        # `**ctx.recovery_for(...)` adds a reserved key and nothing else.
        unpacked = [item for key, item in zip(value.node.keys, value.node.values, strict=True) if key is None]
        complete = bool(unpacked) and all(map(_is_recovery, unpacked))
    return list(value.keys), complete


def _is_recovery(node: ast.expr) -> bool:
    """Whether an expression is `ctx.recovery_for(...)`."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "recovery_for"
