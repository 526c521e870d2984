"""What a JSON schema says of a value besides its type: its limits, and everything that no rule has a name for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from mcpcore.values.json_schema import Schema, branches, resolved

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

_MAX_DEPTH: Final = 12


def core_of(node: Schema, root: Schema) -> Schema:
    """`node`; if it is a union of null and one branch, that branch with the other keys of `node`."""
    keys = [key for key in ("anyOf", "oneOf", "allOf") if isinstance(node.get(key), list)]
    if len(keys) != 1 or keys == ["allOf"]:
        return node
    kept = [branch for branch in branches({keys[0]: node[keys[0]]}, root) if branch.get("type") != "null"]
    return {**kept[0], **{key: value for key, value in node.items() if key != keys[0]}} if len(kept) == 1 else node


def limits_of(core: Schema) -> dict[str, Any]:
    """The bounds, the pattern and the like of a value."""
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

    `left` counts down the schemas that may still be visited; without any, references stay as they are.
    """
    explained = _REFERENCES | _LOWER | _UPPER | _OTHER | _explained_types(core)
    kept = {key: value for key, value in core.items() if key not in explained}
    if isinstance(core.get("type"), str) and isinstance(core.get("format"), str):
        kept.pop("format", None)
    fields, required = kept.get("properties"), kept.get("required")
    for key, kind in _PARTS.items():
        if isinstance(kept.get(key), kind):
            del kept[key]
    if isinstance(required, list) and isinstance(fields, Mapping):
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
    if not isinstance(node, Mapping) or depth > _MAX_DEPTH or left[0] <= 0:
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
            plain[key] = sorted(parts, key=written) if key in _UNORDERED else parts
        else:
            plain[key] = value if key in _VALUES else _plain(value, root, depth + 1, left)
    return plain


def written(value: Any) -> Any:
    """A value as JSON, in which true is not 1; the value itself if it has too many levels."""
    try:
        return json.dumps(value, sort_keys=True, default=str)
    except (ValueError, TypeError, RecursionError):
        return value
