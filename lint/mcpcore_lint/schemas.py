"""JSON schemas of annotations and data models, and plain values, as far as the source shows them."""

from __future__ import annotations

import ast
from typing import Any, Final

from mcpcore_lint.engine.semantics.annotations import unquote
from mcpcore_lint.engine.semantics.data_model import read_model
from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.syntax.scopes import Scope
from mcpcore_lint.model import CodeValue, Const, Items, Mapping, Symbol, Value, string

_TYPES: Final = {
    "builtins.str": "string",
    "builtins.int": "integer",
    "builtins.float": "number",
    "builtins.bool": "boolean",
    "builtins.bytes": "string",
    "builtins.dict": "object",
    "builtins.list": "array",
    "builtins.set": "array",
    "builtins.tuple": "array",
    "builtins.frozenset": "array",
    "typing.Dict": "object",
    "typing.List": "array",
    "typing.Mapping": "object",
    "typing.Sequence": "array",
    "collections.abc.Mapping": "object",
    "collections.abc.Sequence": "array",
    "datetime.datetime": "string",
    "datetime.date": "string",
    "uuid.UUID": "string",
    "pathlib.Path": "string",
}
_MAX_DEPTH: Final = 8


class UnknownValueError(Exception):
    """A value is only known when the code runs."""


def plain(value: Value) -> Any:
    """A known value as JSON.

    Raises:
        UnknownValueError: If it, or a part of it, is not known.
    """
    if isinstance(value, CodeValue):
        return value.name
    if isinstance(value, Const) and isinstance(value.value, str | bool | int | float | None):
        return value.value
    if isinstance(value, Items) and value.complete:
        return [plain(item) for item in value.items]
    if isinstance(value, Mapping) and value.complete:
        keys = [string(key) for key, _ in value.items]
        if None not in keys:
            return {key: plain(item) for key, (_, item) in zip(keys, value.items, strict=True)}
    raise UnknownValueError


def schema_of_model(value: Value, depth: int = 0) -> dict[str, Any]:
    """The schema of a data model; without properties if they are not known."""
    model = read_model(value)
    if model is None or not isinstance(value, Symbol):
        return {"type": "object"}
    properties = {
        field.sent: schema_of_annotation(_annotation_of(field.node, field.module.tree), field.module.scope, depth + 1)
        for field in model.fields.values()
        if field.sent is not None
    }
    required = [field.sent for field in model.fields.values() if field.required and field.sent is not None]
    schema: dict[str, Any] = {"title": model.name, "type": "object", "properties": properties}
    return {**schema, "required": required} if required else schema


def _annotation_of(target: ast.AST, tree: ast.AST) -> ast.expr | None:
    targets = (node for node in ast.walk(tree) if isinstance(node, ast.AnnAssign) and node.target is target)
    return next((node.annotation for node in targets), None)


def schema_of_annotation(node: ast.expr | None, scope: Scope, depth: int = 0) -> dict[str, Any]:
    """The schema of an annotation; empty, which accepts anything, for what is not plain."""
    node = unquote(node)
    if node is None or depth > _MAX_DEPTH:
        return {}
    if isinstance(node, ast.Constant) and node.value is None:
        return {"type": "null"}
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _union([node.left, node.right], scope, depth)
    if isinstance(node, ast.Subscript):
        return _subscript(node, scope, depth)
    value = evaluate(node, scope)
    if not isinstance(value, Symbol):
        return {}
    if value.name in _TYPES:
        return {"type": _TYPES[value.name]}
    return schema_of_model(value, depth) if read_model(value) is not None else {}


def _subscript(node: ast.Subscript, scope: Scope, depth: int) -> dict[str, Any]:
    value = evaluate(node.value, scope)
    name = value.name if isinstance(value, Symbol) else ""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if name in {"typing.Annotated", "typing.Required", "typing.NotRequired", "typing.Final"}:
        return schema_of_annotation(parts[0], scope, depth + 1)
    if name == "typing.Optional":
        return _union([*parts, ast.Constant(None)], scope, depth)
    if name == "typing.Union":
        return _union(parts, scope, depth)
    if name == "typing.Literal":
        constants = [part.value for part in parts if isinstance(part, ast.Constant)]
        known = len(constants) == len(parts) and all(isinstance(constant, str | int | None) for constant in constants)
        return {"enum": constants} if known else {}
    kind = _TYPES.get(name)
    if kind == "array" and name != "builtins.tuple":
        return {"type": "array", "items": schema_of_annotation(parts[0], scope, depth + 1)}
    return {"type": kind} if kind is not None else {}


def _union(parts: list[ast.expr], scope: Scope, depth: int) -> dict[str, Any]:
    branches = [schema_of_annotation(part, scope, depth + 1) for part in parts]
    return {"anyOf": branches} if all(branches) else {}


__all__ = ["UnknownValueError", "plain", "schema_of_annotation", "schema_of_model"]
