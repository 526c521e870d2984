"""Compares two schemas: of the arguments of a tool, or of the data of a failure. Any difference is a change.

A schema is read into its shape: its fields with their types and limits, and everything that no rule has a name for.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from mcpcore.values.json_schema import Schema, branches, constants, own_properties, required_names, resolved

Limits: TypeAlias = Mapping[str, Any]

_LOWER: Final = frozenset({"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"})
_UPPER: Final = frozenset({"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"})
_OTHER: Final = frozenset({"pattern", "multipleOf", "uniqueItems"})
JSON_TYPES: Final = frozenset({"null", "boolean", "integer", "number", "string", "array", "object"})
_REFERENCES: Final = frozenset({"$ref", "$defs", "definitions"})
_WORDS: Final = frozenset({"title", "description", "examples", "example", "$comment", "discriminator"})
"""Keys for readers; a discriminator only repeats what the branches of its union say."""

_BY_NAME: Final = frozenset({"properties", "patternProperties", "dependentSchemas"})
"""Keys whose values have schemas under names of the author."""

_VALUES: Final = frozenset({"enum", "const", "default"})
"""Keys whose values are no schemas."""

_UNORDERED: Final = frozenset({"anyOf", "oneOf", "allOf", "required", "type", "enum"})
_PARTS: Final = {
    "properties": Mapping,
    "required": list,
    "items": Mapping,
    "prefixItems": list,
    "additionalProperties": Mapping | bool,
}
"""Keys whose values are compared elsewhere, if they have these types."""

_MAX_LEVELS: Final = 12


def core_of(node: Schema, root: Schema) -> Schema:
    """`node`; if it is a union of null and one branch, that branch with the other keys of `node`."""
    keys = [key for key in ("anyOf", "oneOf", "allOf") if isinstance(node.get(key), list)]
    # The branches of `allOf` hold together, so none of them is the whole.
    if len(keys) != 1 or keys == ["allOf"]:
        return node
    kept = [branch for branch in branches({keys[0]: node[keys[0]]}, root) if branch.get("type") != "null"]
    return {**kept[0], **{key: value for key, value in node.items() if key != keys[0]}} if len(kept) == 1 else node


def limits_of(core: Schema) -> dict[str, Any]:
    """The bounds, the pattern and the like of a value."""
    # `uniqueItems: false` is the default and limits nothing.
    limits = {key: core[key] for key in _LOWER | _UPPER | _OTHER if key in core and core[key] is not False}
    if core.get("additionalProperties") is False:
        limits["additionalProperties"] = False
    return limits


def changed_limits(old: Limits, new: Limits) -> tuple[list[str], list[str]]:
    """The limits that became tighter, and those that became looser; one that is only another one is in both."""
    tighter: list[str] = []
    looser: list[str] = []
    for key in sorted(old.keys() | new.keys()):
        if written(old.get(key)) == written(new.get(key)):
            continue
        grows = _grows(old.get(key), new.get(key))
        if key not in old or (key in _LOWER and grows is True) or (key in _UPPER and grows is False):
            tighter.append(key)
        elif key not in new or (key in _LOWER and grows is False) or (key in _UPPER and grows is True):
            looser.append(key)
        else:
            tighter.append(key)
            looser.append(key)
    return tighter, looser


def _grows(old: object, new: object) -> bool | None:
    """Whether a number grew; None if one of the two is no number, or they are the same."""
    if not isinstance(old, int | float) or not isinstance(new, int | float) or old == new:
        return None
    return new > old


def rest_of(core: Schema, root: Schema, left: list[int]) -> str:
    """Everything else that a schema says of a value itself, as JSON; words are left out, and so are its fields.

    `left` counts down the schemas that may still be visited; without any, references are left unresolved.
    """
    explained = _REFERENCES | _LOWER | _UPPER | _OTHER | _explained_types(core)
    kept = {key: value for key, value in core.items() if key not in explained}
    # The type has it: `string/date-time`.
    if isinstance(core.get("type"), str) and isinstance(core.get("format"), str):
        kept.pop("format", None)
    fields, required = kept.get("properties"), kept.get("required")
    for key, kind in _PARTS.items():
        if isinstance(kept.get(key), kind):
            del kept[key]
    if isinstance(required, list) and isinstance(fields, Mapping):
        # Each field says itself whether it is required.
        required = [name for name in required if not isinstance(name, str) or name not in fields]
    if required:
        kept["required"] = required
    return str(written(_plain(kept, root, 0, left)))


def _explained_types(core: Schema) -> set[str]:
    """The keys for types and values of which a field has the meaning."""
    kinds = core.get("type")
    names = kinds if isinstance(kinds, list) else [kinds]
    explained = {"type"} if all(isinstance(kind, str) and kind in JSON_TYPES for kind in names) else set()
    listed = isinstance(core.get("enum"), list) and bool(core["enum"])
    return explained | {"enum" if listed else "const"}


def _plain(node: Any, root: Schema, depth: int, left: list[int]) -> Any:
    """A schema with its references resolved, without words, and with unordered lists sorted."""
    left[0] -= 1
    if not isinstance(node, Mapping) or depth > _MAX_LEVELS or left[0] <= 0:
        return node
    plain: dict[str, Any] = {}
    target = resolved(node, root)
    if not target and "$ref" in node:
        return {"refers": node["$ref"]}  # to nothing, or to another document
    for key, value in target.items():
        if key in _WORDS or key in _REFERENCES:
            continue
        if key in _BY_NAME and isinstance(value, Mapping):
            plain[key] = {name: _plain(part, root, depth + 1, left) for name, part in value.items()}
        elif isinstance(value, list):
            parts = value if key in _VALUES else [_plain(part, root, depth + 1, left) for part in value]
            plain[key] = sorted(parts, key=written) if key in _UNORDERED and len(parts) > 1 else parts
        else:
            plain[key] = value if key in _VALUES else _plain(value, root, depth + 1, left)
    return plain


# json.dumps makes an encoder for each value.
_encoded: Final = json.JSONEncoder(sort_keys=True, default=str).encode


def written(value: Any) -> Any:
    """A value as JSON, in which true is not 1; the value itself if it has too many levels."""
    try:
        return _encoded(value)
    except (ValueError, TypeError, RecursionError):
        return value


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
        # JSON Schema counts integers among the numbers.
        own = self.types | {"integer"} if "number" in self.types else self.types
        return all(kind in own or kind.partition("/")[0] in own for kind in other.types)

    def _admits_values(self, other: Field) -> bool:
        return self.values is None or (other.values is not None and other.values <= self.values)

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
        # Two branches of a union may have a field of one name, of which only the first is compared.
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
        return frozenset(name for name in kind if isinstance(name, str) and name in JSON_TYPES) or None
    listed = constants(node)
    if listed is not None:
        return frozenset(_type_of(value) for value in listed)
    unions = [node.get(key) for key in ("anyOf", "oneOf")]
    if not any(isinstance(union, list) and union for union in unions):
        return None
    # The branches of `allOf` hold together, so they are no alternatives.
    every = [_types(branch, root, left, depth + 1) for branch in branches({**node, "allOf": None}, root)]
    return frozenset(kind for kinds in every for kind in kinds or ()) if None not in every else None


def _values(node: Schema, root: Schema) -> frozenset[str] | None:
    """The values of an enumeration; None without one."""
    listed = constants(node)
    if listed is None:
        known = [
            # `Literal["a"] | None` is an enumeration too.
            part if part is not None else [None] if branch.get("type") == "null" else None
            for branch in branches({**node, "allOf": None}, root)
            for part in [constants(branch)]
        ]
        if not known or any(part is None for part in known):
            return None
        listed = [value for part in known for value in part or ()]
    return frozenset(map(_encoded, listed))


def _type_of(value: object) -> str:
    if value is None:
        return "null"
    # By the exact type, since true is an integer to Python.
    names = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    return names.get(type(value), "string")


_T = TypeVar("_T")


class Subject(NamedTuple):
    """A kind of schema with its rules.

    Attributes:
        noun: One field of it, in messages.
        schema: The schema, in messages.
        of: The owner of a field, in messages.
        taken: Whether clients send the values; otherwise they read them.
        changed: The rule for a difference that no other rule explains.
        reworded: The rule for other words.
    """

    noun: str
    schema: str
    of: str
    taken: bool
    changed: str
    reworded: str


ARGUMENTS: Final = Subject(
    "argument",
    "the schema of the arguments",
    "",
    taken=True,
    changed="input-schema-changed",
    reworded="input-schema-reworded",
)
DATA: Final = Subject(
    "field",
    "the schema of the data",
    " of the data",
    taken=False,
    changed="data-schema-changed",
    reworded="data-schema-reworded",
)


class SchemaChange(NamedTuple):
    """A change of a schema: its rule, a sentence, and the older and the newer value."""

    rule: str
    message: str
    old: Any = None
    new: Any = None


def compare_schemas(subject: Subject, old: Schema, new: Schema, *, whole: tuple[bool, bool]) -> list[SchemaChange]:
    """The changes from one schema to another; none only if the two are the same JSON.

    Args:
        subject: The kind of the schemas.
        old: The older schema.
        new: The newer schema.
        whole: Whether the older and the newer schema certainly say all that is true. One that was read from source
            code has no type where the source could not be read.
    """
    if written(old) == written(new):
        return []
    comparison = _Comparison(subject, old, new, whole)
    comparison.run()
    return comparison.changes


class _Comparison:
    def __init__(self, subject: Subject, old: Schema, new: Schema, whole: tuple[bool, bool]) -> None:
        self.changes: list[SchemaChange] = []
        self._subject = subject
        self._old, self._new = shape_of(old), shape_of(new)
        self._whole = whole[0] or _says_all(old), whole[1] or _says_all(new)
        self._changed: set[str] = set()
        """The paths of the changes so far."""

    def run(self) -> None:
        old, new = self._old, self._new
        self._removed_and_added()
        for path in sorted(old.fields.keys() & new.fields.keys()):
            self._required(path, old.fields[path], new.fields[path])
            self._field(path, old.fields[path], new.fields[path])
        # Shorter paths first, since what changed as a whole explains its parts.
        for path in sorted(old.parts.keys() | new.parts.keys(), key=lambda path: (len(path), path)):
            if path not in self._changed and not any(parent in self._changed for parent in _parents(path)):
                self._field(path, old.parts.get(path, ANYTHING), new.parts.get(path, ANYTHING))
        if not self.changes:
            if old.whole and new.whole:
                message = f"{self._subject.schema} has other words, or says the same in another way"
                self._add(self._subject.reworded, "", message)
            else:
                self._add(self._subject.changed, "", f"{self._subject.schema} changed")

    def _add(self, rule: str, path: str, message: str, old: Any = None, new: Any = None) -> None:
        self._changed.add(path)
        self.changes.append(SchemaChange(rule, message, old, new))

    def _name(self, path: str) -> str:
        if not path:
            return "the arguments object" if self._subject.taken else "the data"
        return f"the {self._subject.noun} {path}{self._subject.of}"

    def _removed_and_added(self) -> None:
        before = {**self._old.parts, **self._old.fields}
        after = {**self._new.parts, **self._new.fields}
        for path, field in _absent(self._old.fields, after, before).items():
            rule = "argument-removed" if self._subject.taken else "data-field-removed"
            self._add(rule, path, f"{self._name(path)} was removed", field.label)
        for path, field in _absent(self._new.fields, before, after).items():
            if not self._subject.taken:
                self._add("data-field-added", path, f"{self._name(path)} is new", None, field.label)
            elif field.required and _was_there(path, before):
                self._add("argument-required", path, f"the new argument {path} is required", None, field.label)
            else:
                self._add("argument-added", path, f"the optional argument {path} is new", None, field.label)

    def _required(self, path: str, old: Field, new: Field) -> None:
        if old.required == new.required:
            return
        rule, words = _PRESENCE[self._subject.taken, new.required]
        self._add(rule, path, f"{self._name(path)} {words}")

    def _field(self, path: str, old: Field, new: Field) -> None:
        """Compare two versions of one value by their types and values, then by their limits, then by the rest."""
        lost = not new.admits(old) and (old.types is not None or self._whole[0])
        won = not old.admits(new) and (new.types is not None or self._whole[1])
        if lost or won:
            self._types(path, old, new, lost=lost, won=won)
            return
        tighter, looser = changed_limits(old.limits, new.limits)
        if tighter or looser:
            self._limits(path, old, new, tighter, looser)
        if (old.rest != new.rest or old.types != new.types) and path not in self._changed:
            message = f"the schema of {self._name(path)} changed"
            self._add(self._subject.changed, path, message, old.label, new.label)

    def _types(self, path: str, old: Field, new: Field, *, lost: bool, won: bool) -> None:
        name, values = self._name(path), (old.label, new.label)
        if self._subject.taken:
            rule, words = ("argument-narrowed", "less") if lost else ("argument-widened", "more")
            self._add(rule, path, f"{name} accepts {words}", *values)
        elif won:
            self._add("data-field-type", path, f"{name} can be {new.label} now, not only {old.label}", *values)
        else:
            self._add("data-field-narrowed", path, f"{name} is only {new.label} now", *values)

    def _limits(self, path: str, old: Field, new: Field, tighter: list[str], looser: list[str]) -> None:
        name = self._name(path)
        values = dict(old.limits), dict(new.limits)
        if self._subject.taken:
            rule, words = ("argument-narrowed", "less") if tighter else ("argument-widened", "more")
            self._add(rule, path, f"{name} accepts {words}: {', '.join(tighter or looser)}", *values)
        elif looser:
            self._add("data-limit-loosened", path, f"{name} has another limit or none: {', '.join(looser)}", *values)
        else:
            self._add("data-limit-tightened", path, f"{name} has a tighter limit: {', '.join(tighter)}", *values)


_PRESENCE: Final = {
    (True, True): ("argument-required", "is required now"),
    (True, False): ("argument-widened", "is optional now"),
    (False, True): ("data-field-required", "is always there now"),
    (False, False): ("data-field-optional", "is not always there any more"),
}
"""The rule and the words for a field that is required now or not, by whether clients send it."""


def _says_all(schema: Schema) -> bool:
    """Whether pydantic wrote a schema: unlike one that was read from source code, it has titles and references."""
    fields = schema.get("properties")
    parts = fields.values() if isinstance(fields, Mapping) else ()
    return any(
        isinstance(part, Mapping) and ("$ref" in part or ("title" in part and "properties" not in part))
        for part in parts
    )


def _absent(fields: Mapping[str, _T], others: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, _T]:
    """The fields that `others` lacks, without those inside another such field, or inside a part of one."""
    missing = {path for path in known if path not in others}
    return {
        path: fields[path]
        for path in sorted(fields)
        if path in missing and not any(parent in missing for parent in _parents(path))
    }


def _parents(path: str) -> Iterator[str]:
    """The paths of the values around a value."""
    yield from (path[:at] for at in range(len(path) - 1, 0, -1) if path[at] in ".[{")


def _was_there(path: str, fields: Mapping[str, Field]) -> bool:
    """Whether the object around a field was there before, so that old callers leave the field out."""
    parents = list(_parents(path))
    return not parents or any(parent in fields for parent in parents)
