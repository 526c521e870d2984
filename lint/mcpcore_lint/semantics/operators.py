"""The results of operators and string methods on known values."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.model import (
    CallValue,
    Const,
    Items,
    Mapping,
    Missing,
    Text,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from mcpcore_lint.syntax.module import Module

TEXT_METHODS: Final = frozenset(
    {"format", "join", "lower", "upper", "casefold", "title", "capitalize", "strip", "lstrip", "rstrip", "replace",
     "removeprefix", "removesuffix"}
)  # fmt: skip
"""Methods of strings that return strings."""
MAX_REPEATED: Final = 20_000
"""The maximum length of a string that is built by repetition."""


def operate(node: ast.BinOp, left: Value, right: Value, module: Module) -> Value:
    """The result of a binary operator."""
    if isinstance(left, CallValue) and left.func.name == "mcpcore.Contract":
        left = contract_items(left)
    if isinstance(right, CallValue) and right.func.name == "mcpcore.Contract":
        right = contract_items(right)
    if isinstance(node.op, ast.Add):
        if isinstance(left, Items) or isinstance(right, Items):
            items = [
                *(left.items if isinstance(left, Items) else ()),
                *(right.items if isinstance(right, Items) else ()),
            ]
            both = isinstance(left, Items) and isinstance(right, Items)
            complete = all(isinstance(side, Items) and side.complete for side in (left, right))
            if len(items) > MAX_REPEATED:
                items, complete = items[:MAX_REPEATED], False
            kind = left.kind if isinstance(left, Items) else right.kind if isinstance(right, Items) else "list"
            return Items(node, module, kind, tuple(items), complete and both)
        parts = (*_parts(left), *_parts(right))
        if parts and any(part is not None for part in parts):
            known = [part for part in parts if part is not None]
            if len(known) == len(parts):
                return Const(node, module, "".join(known))
            return Text(node, module, parts)
    if isinstance(node.op, ast.BitOr):
        if isinstance(left, Mapping) and isinstance(right, Mapping):
            return Mapping(node, module, (*left.items, *right.items), left.complete and right.complete)
        return Unknown(node, module, "a union")
    if isinstance(node.op, ast.Mod) and isinstance(left, Const) and isinstance(left.value, str):
        return Text(node, module, (left.value, None))
    if isinstance(node.op, ast.Mult):
        text, times = (left, right) if isinstance(left, (Const, Text)) and isinstance(right, Const) else (right, left)
        repeated = _repeated(text, times)
        if repeated is not None:
            return Const(node, module, repeated)
    return Unknown(node, module, "an operator that is not followed")


def text_of(node: ast.Call, text: str, args: list[Value], module: Module) -> Value:
    """The result of a method of a known string."""
    assert isinstance(node.func, ast.Attribute)
    name = node.func.attr
    if name == "format":
        return Text(node, module, (text, None))
    texts: list[str] = []
    for arg in args:
        items = arg.items if name == "join" and isinstance(arg, Items) and arg.complete else (arg,)
        known = [item.value for item in items if isinstance(item, Const) and isinstance(item.value, str)]
        if len(items) != len(known):
            return Unknown(node, module, "a string with unknown parts")
        texts += known
    if name == "join":
        return Const(node, module, text.join(texts))
    try:
        result = getattr(text, name)(*texts)
    except TypeError:
        return Unknown(node, module, "a call that cannot run")
    return Const(node, module, result) if len(result) <= MAX_REPEATED else Unknown(node, module, "a very long string")


def _repeated(text: Value, times: Value) -> str | None:
    """A repeated string; None if the operands are not a string and an integer, or the result is too long."""
    if not isinstance(text, Const) or not isinstance(times, Const):
        return None
    if not isinstance(text.value, str) or not isinstance(times.value, int):
        return None
    return text.value * times.value if len(text.value) * times.value <= MAX_REPEATED else None


def contract_items(value: CallValue) -> Value:
    """The entries of a `Contract(...)`."""
    inner = value.argument("entries", 0)
    if isinstance(inner, Missing):
        return Items(value.node, value.module, "tuple")
    return inner if isinstance(inner, Items) else Unknown(value.node, value.module, "a contract from elsewhere")


def _parts(value: Value) -> tuple[str | None, ...]:
    if isinstance(value, Const) and isinstance(value.value, str):
        return (value.value,)
    if isinstance(value, Text):
        return value.parts
    return (None,)


def incomplete(value: Items | Mapping) -> Value:
    """A copy of a list or table that may have more items than those listed."""
    if isinstance(value, Items):
        return Items(value.node, value.module, value.kind, value.items, complete=False)
    return Mapping(value.node, value.module, value.items, complete=False)
