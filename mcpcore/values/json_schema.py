"""Walking JSON schemas: references resolved, and unions taken apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

Schema: TypeAlias = Mapping[str, Any]


def resolved(node: object, root: Schema) -> Schema:
    """`node` with what its reference into `root` refers to; an empty schema where that leads nowhere."""
    for _ in range(20):
        if not isinstance(node, Mapping):
            return {}
        reference = node.get("$ref")
        if not isinstance(reference, str):
            return node
        target: Any = root if reference.startswith("#/") else None
        for step in reference[2:].split("/"):
            target = target.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(target, Mapping) else None
        others = {key: value for key, value in node.items() if key != "$ref"}
        node = {**target, **others} if isinstance(target, Mapping) else {}
    return {}  # pragma: no cover - a reference to a reference, twenty times over


def branches(node: Schema, root: Schema) -> list[Schema]:
    """The branches of the unions in `node`, resolved."""
    unions = (node.get(key) for key in ("anyOf", "oneOf", "allOf"))
    return [resolved(branch, root) for union in unions if isinstance(union, list) for branch in union]


def forms(node: object, root: Schema) -> list[Schema]:
    """`node`, resolved, and the branches of its unions, at any depth."""
    every = [resolved(node, root)]
    for form in every:
        if len(every) < 100:
            every += branches(form, root)
    return every


def properties(node: object, root: Schema) -> dict[str, Any]:
    """The properties of an object, in any of its forms."""
    merged: dict[str, Any] = {}
    for form in forms(node, root):
        declared = form.get("properties")
        merged.update(declared if isinstance(declared, Mapping) else {})
    return merged


def inlined(schema: dict[str, Any]) -> dict[str, Any]:
    """`schema` with an object at its root; pydantic writes a reference there if a type contains itself."""
    return dict(resolved(schema, schema))
