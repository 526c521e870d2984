"""The shape of a JSON schema: its fields with their types, as far as a reader of the data relies on them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from mcpcore.catalog.constraints import JSON_TYPES, Limits, core_of, limits_of, rest_of
from mcpcore.values.json_schema import Schema, branches, constants, own_properties, required_names, resolved

MAX_FIELDS: Final = 2_000
"""The most fields of a schema that are compared."""

_MAX_DEPTH: Final = 8
_MAX_VISITS: Final = 20_000
"""The most schemas inside one schema that are visited: references can make a small one endless."""


class Field(NamedTuple):
    """One field of an object.

    Attributes:
        types: The JSON types that it can have, a string with its format (`string/date-time`); None if it can have
            any, or if that is not known.
        values: The only values that it can have, as JSON; None without such a list.
        required: Whether it is always there.
        limits: Its bounds, its pattern and the like.
        rest: Everything else that its schema says of it, as JSON.
    """

    types: frozenset[str] | None
    values: frozenset[str] | None
    required: bool
    limits: Limits = MappingProxyType({})
    rest: str = "{}"

    def admits(self, other: Field) -> bool:
        """Whether each value of `other` is a value of this field, as far as the two say it."""
        return self._admits_types(other) and self._admits_values(other)

    def _admits_types(self, other: Field) -> bool:
        if self.types is None or other.types is None:
            return self.types is None
        own = self.types | {"integer"} if "number" in self.types else self.types
        return all(kind in own or kind.partition("/")[0] in own for kind in other.types)

    def _admits_values(self, other: Field) -> bool:
        if self.values is None:
            return True
        return other.values is not None and other.values <= self.values

    @property
    def label(self) -> str:
        """The field in texts."""
        if self.values is not None:
            return " or ".join(sorted(self.values)[:10])
        return "any type" if self.types is None else " or ".join(map(_in_words, sorted(self.types)))


def _in_words(kind: str) -> str:
    base, slash, form = kind.partition("/")
    return f"{base} ({form})" if slash else base


ANYTHING: Final = Field(None, None, required=False)
"""A part that a schema does not describe."""


class Shape(NamedTuple):
    """What is known of the values that a schema accepts.

    Attributes:
        fields: The fields by their paths: `id`, `items[].sku`; those of nested objects too.
        parts: The parts without a name: the whole (""), and the items of arrays and objects (`ids[]`, `pair[0]`,
            `by_id{}`).
        whole: Whether the fields and the parts are all that there is; a schema may have too many of them.
    """

    fields: dict[str, Field]
    parts: dict[str, Field]
    whole: bool


def fields_of(schema: Mapping[str, Any]) -> dict[str, Field]:
    """The fields of an object by their paths: `id`, `items[].sku`; those of nested objects too."""
    return shape_of(schema).fields


def shape_of(schema: Mapping[str, Any]) -> Shape:
    """The fields and the other parts of an object."""
    collector = _Collector(schema)
    node = resolved(schema, schema)
    collector.parts[""] = collector.field(node, required=True)
    collector.collect(node, "", 0)
    return Shape(collector.fields, collector.parts, collector.whole and collector.left[0] > 0)


class _Collector:
    def __init__(self, root: Schema) -> None:
        self.fields: dict[str, Field] = {}
        self.parts: dict[str, Field] = {}
        self.whole = True
        self._root = root
        self.left = [_MAX_VISITS]

    def field(self, node: Schema, *, required: bool) -> Field:
        root = self._root
        core = core_of(node, root)
        return Field(
            _types(node, root, self.left),
            _values(node, root),
            required,
            limits_of(core),
            rest_of(core, root, self.left),
        )

    def collect(self, node: Schema, path: str, depth: int) -> None:
        if depth > _MAX_DEPTH:
            self.whole = False
            return
        for form in (node, *branches(node, self._root)):
            names = required_names(form)
            for name, part in own_properties(form).items():
                below = f"{path}.{name}" if path else str(name)
                self._add(self.fields, part, below, depth, required=name in names)
            for suffix, part in _nameless(form):
                self._add(self.parts, part, f"{path}{suffix}", depth, required=True)

    def _add(self, known: dict[str, Field], part: object, path: str, depth: int, *, required: bool) -> None:
        if path in known or len(known) >= MAX_FIELDS:
            self.whole = False
            return
        inner = resolved(part, self._root)
        field = self.field(inner, required=required)
        if not inner and isinstance(part, Mapping):
            # A reference that leads nowhere, or to another document.
            field = field._replace(rest=rest_of({"refers": part.get("$ref")}, {}, self.left))
        known[path] = field
        self.collect(inner, path, depth + 1)


def _nameless(form: Schema) -> Iterator[tuple[str, object]]:
    """The schemas of the items of an array, and of the values of an object with any keys, each with its suffix."""
    items, first, values = form.get("items"), form.get("prefixItems"), form.get("additionalProperties")
    if isinstance(items, Mapping):
        yield "[]", items
    if isinstance(first, list):
        yield from ((f"[{index}]", item) for index, item in enumerate(first))
    if isinstance(values, Mapping):
        yield "{}", values


def _types(node: Schema, root: Schema, left: list[int], depth: int = 0) -> frozenset[str] | None:
    """The types that a value can have; None for any."""
    left[0] -= 1
    if depth > _MAX_DEPTH or left[0] <= 0:
        return None
    kind, form = node.get("type"), node.get("format")
    if kind == "string" and isinstance(form, str):
        return frozenset({f"string/{form}"})
    if isinstance(kind, str):
        return frozenset({kind}) if kind in JSON_TYPES else None
    if isinstance(kind, list):
        return frozenset(each for each in kind if isinstance(each, str) and each in JSON_TYPES) or None
    listed = constants(node)
    if listed is not None:
        return frozenset(_type_of(value) for value in listed)
    unions = [node.get(key) for key in ("anyOf", "oneOf")]
    if not any(isinstance(union, list) and union for union in unions):
        return None
    every = [_types(branch, root, left, depth + 1) for branch in branches({**node, "allOf": None}, root)]
    return frozenset(kind for kinds in every for kind in kinds or ()) if None not in every else None


def _values(node: Schema, root: Schema) -> frozenset[str] | None:
    """The values of an enumeration; None without one."""
    listed = constants(node)
    if listed is None:
        parts = [constants(branch) for branch in branches({**node, "allOf": None}, root)]
        kinds = [branch.get("type") for branch in branches({**node, "allOf": None}, root)]
        known = [
            part if part is not None else [None] if kind == "null" else None
            for part, kind in zip(parts, kinds, strict=True)
        ]
        if not known or any(part is None for part in known):
            return None
        listed = [value for part in known for value in part or ()]
    return frozenset(json.dumps(value, sort_keys=True, default=str) for value in listed)


def _type_of(value: object) -> str:
    if value is None:
        return "null"
    names = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    return names.get(type(value), "string")
