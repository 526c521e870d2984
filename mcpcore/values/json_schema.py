"""Reading JSON schemas: references resolved, unions taken apart, and the keywords that say what a value is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, TypeAlias

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
        # Keywords next to a reference count too, since JSON Schema 2019-09.
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
        # A branch may refer to the union that it is a part of.
        if len(every) < 100:
            every += branches(form, root)
    return every


def properties(node: object, root: Schema) -> dict[str, Any]:
    """The properties of an object, in any of its forms."""
    merged: dict[str, Any] = {}
    for form in forms(node, root):
        merged.update(own_properties(form))
    return merged


def own_properties(node: Schema) -> Mapping[str, Any]:
    """The properties of `node` itself, without those of its unions."""
    declared = node.get("properties")
    return declared if isinstance(declared, Mapping) else {}


def required_names(node: Schema) -> list[str]:
    """The names of the properties that `node` requires."""
    names = node.get("required")
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def type_names(node: Schema) -> list[str]:
    """The JSON types that `node` names; none where it leaves the type open."""
    types = node.get("type")
    return [name for name in (types if isinstance(types, list) else [types]) if isinstance(name, str)]


def constants(node: Schema) -> list[Any] | None:
    """The only values that `node` itself allows; None without such a list."""
    listed = node.get("enum")
    if isinstance(listed, list) and listed:
        return listed
    return [node["const"]] if "const" in node else None


def inlined(schema: dict[str, Any]) -> dict[str, Any]:
    """`schema` with an object at its root; pydantic writes a reference there if a type contains itself."""
    return dict(resolved(schema, schema))


class Format(NamedTuple):
    """A format of strings.

    Attributes:
        example: One value; an address is one that is reserved for examples, so that nobody is called.
        pattern: A regular expression whose matches are all values of the format.
    """

    example: str
    pattern: str


_DATE: Final = r"((1[6-9]|20)\d\d-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])|20[048]4-02-29)"
_TIME: Final = r"([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,6})?"
_HOST: Final = r"[a-z]{1,12}\.example"
_BYTE: Final = r"(\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])"

FORMATS: Final[Mapping[str, Format]] = {
    "date": Format("2026-01-02", _DATE),
    "date-time": Format("2026-01-02T03:04:05Z", rf"{_DATE}T{_TIME}(Z|[+-](0\d|1[0-3]):[0-5]\d)"),
    "duration": Format("PT1S", r"PT\d{1,5}S|P[1-9]\d?D|P[1-9]W"),
    "email": Format("check@example.invalid", rf"[a-z0-9]{{1,10}}([._+-][a-z0-9]{{1,10}})?@{_HOST}"),
    "hostname": Format("check.invalid", _HOST),
    "ipv4": Format("192.0.2.1", rf"{_BYTE}(\.{_BYTE}){{3}}"),
    "ipv6": Format("2001:db8::1", r"([0-9a-f]{1,4}:){7}[0-9a-f]{1,4}|::1|2001:db8::[1-9a-f]{1,4}"),
    "regex": Format(".*", r"\.\*|\^a\+\$|\[0-9\]\{2\}"),
    "time": Format("03:04:05Z", rf"{_TIME}Z"),
    "uri": Format("http://check.invalid/", rf"https?://{_HOST}/[a-z0-9/]{{0,20}}"),
    "url": Format("http://check.invalid/", rf"https?://{_HOST}/[a-z0-9/]{{0,20}}"),
    "uuid": Format("00000000-0000-4000-8000-000000000000", r"[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}"),
}
"""The formats of which values are made."""
