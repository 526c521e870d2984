"""The shape of a JSON schema: its fields with their types, as far as a reader of the data relies on them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from mcpcore.json_schema import Schema, branches, resolved

MAX_FIELDS: Final = 2_000
"""The most fields of a schema that are compared."""

_MAX_DEPTH: Final = 8
_ALL: Final = frozenset({"null", "boolean", "integer", "number", "string", "array", "object"})


class Field(NamedTuple):
    """One field of an object.

    Attributes:
        types: The JSON types that it can have; None if it can have any, or if that is not known.
        values: The only values that it can have, as JSON; None without such a list.
        required: Whether it is always there.
    """

    types: frozenset[str] | None
    values: frozenset[str] | None
    required: bool

    def admits(self, other: Field) -> bool:
        """Whether each value of `other` is a value of this field, as far as the two say it."""
        return self._admits_types(other) and self._admits_values(other)

    def _admits_types(self, other: Field) -> bool:
        if self.types is None or other.types is None:
            return self.types is None
        own = self.types | {"integer"} if "number" in self.types else self.types
        return other.types <= own

    def _admits_values(self, other: Field) -> bool:
        if self.values is None:
            return True
        return other.values is not None and other.values <= self.values

    @property
    def label(self) -> str:
        """The field in texts."""
        if self.values is not None:
            return " or ".join(sorted(self.values)[:10])
        return "any type" if self.types is None else " or ".join(sorted(self.types))


def fields_of(schema: Mapping[str, Any]) -> dict[str, Field]:
    """The fields of an object by their paths: `id`, `items[].sku`; those of nested objects too."""
    fields: dict[str, Field] = {}
    _collect(resolved(schema, schema), schema, "", fields, 0)
    return fields


def _collect(node: Schema, root: Schema, path: str, fields: dict[str, Field], depth: int) -> None:
    if depth > _MAX_DEPTH:
        return
    for form in (node, *branches(node, root)):
        named = form.get("properties")
        required = form.get("required")
        names = required if isinstance(required, list) else []
        for name, part in named.items() if isinstance(named, Mapping) else ():
            if len(fields) >= MAX_FIELDS:
                return
            below = f"{path}.{name}" if path else str(name)
            if below in fields:
                continue
            inner = resolved(part, root)
            fields[below] = Field(_types(inner, root), _values(inner, root), name in names)
            _collect(inner, root, below, fields, depth + 1)
        items = form.get("items")
        if isinstance(items, Mapping):
            _collect(resolved(items, root), root, f"{path}[]", fields, depth + 1)


def _types(node: Schema, root: Schema, depth: int = 0) -> frozenset[str] | None:
    """The types that a value can have; None for any."""
    if depth > _MAX_DEPTH:
        return None
    kind = node.get("type")
    if isinstance(kind, str):
        return frozenset({kind}) if kind in _ALL else None
    if isinstance(kind, list):
        return frozenset(each for each in kind if isinstance(each, str) and each in _ALL) or None
    listed = _constants(node)
    if listed is not None:
        return frozenset(_type_of(value) for value in listed)
    unions = [node.get(key) for key in ("anyOf", "oneOf")]
    if not any(isinstance(union, list) and union for union in unions):
        return None
    every = [_types(branch, root, depth + 1) for branch in branches({**node, "allOf": None}, root)]
    return frozenset(kind for kinds in every for kind in kinds or ()) if None not in every else None


def _values(node: Schema, root: Schema) -> frozenset[str] | None:
    """The values of an enumeration; None without one."""
    listed = _constants(node)
    if listed is None:
        parts = [_constants(branch) for branch in branches({**node, "allOf": None}, root)]
        kinds = [branch.get("type") for branch in branches({**node, "allOf": None}, root)]
        known = [
            part if part is not None else [None] if kind == "null" else None
            for part, kind in zip(parts, kinds, strict=True)
        ]
        if not known or any(part is None for part in known):
            return None
        listed = [value for part in known for value in part or ()]
    return frozenset(json.dumps(value, sort_keys=True, default=str) for value in listed)


def _constants(node: Schema) -> list[Any] | None:
    listed = node.get("enum")
    if isinstance(listed, list) and listed:
        return listed
    return [node["const"]] if "const" in node else None


def _type_of(value: object) -> str:
    if value is None:
        return "null"
    names = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    return names.get(type(value), "string")
