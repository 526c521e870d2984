"""Arguments that do not fit a tool: which, why, and a hint made from the schema; never the rejected values."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from mcpcore.jsonable import clean_text, cut_text, dumps, to_json

if TYPE_CHECKING:
    from pydantic import ValidationError

INVALID_ARGUMENTS: Final = "invalid_arguments"
"""The reason of the failure."""

_MAX_ISSUES: Final = 20
_MAX_MESSAGE: Final = 200
_MAX_HINTS: Final = 4
_MAX_CHOICES: Final = 20

# pydantic's own messages for these repeat what the caller sent.
_SAYS_THE_INPUT: Final = {
    "union_tag_invalid": "Input does not match any of the expected kinds: {expected_tags}",
    "date_from_datetime_inexact": "Date must be a date, or a datetime at midnight",
    "int_from_float": "Input should be an integer, without a fraction",
}


def issues_of(error: ValidationError) -> list[dict[str, Any]]:
    """What does not fit, each as `{path, type, message}`: no rejected value, no link; at most 20, and a count."""
    found = error.errors(include_url=False, include_input=False)
    issues = [
        {"path": path_of(one["loc"]), "type": one["type"], "message": _message(one)}  # type: ignore[arg-type]
        for one in found[:_MAX_ISSUES]
    ]
    if len(found) > _MAX_ISSUES:
        issues.append({"path": "", "type": "more", "message": f"{len(found) - _MAX_ISSUES} more"})
    return issues


def path_of(loc: Sequence[str | int]) -> str:
    """A place in the arguments, such as `filter.tags.0`."""
    return cut_text(clean_text(".".join(str(part)[:100] for part in loc)), 300)


def summary_of(issues: Sequence[Mapping[str, Any]], tool: str) -> str:
    """The issues as one sentence."""
    told = "; ".join(
        f"{issue['path']}: {issue['message']}" if issue["path"] else str(issue["message"]) for issue in issues[:3]
    )
    more = f"; and {len(issues) - 3} more" if len(issues) > 3 else ""
    return f"The arguments do not fit {tool}: {told}{more}"


def hint_of(error: ValidationError, schema: Mapping[str, Any]) -> str:
    """What to send instead, from the input schema: the missing field, the allowed values, the name that was meant."""
    hints: list[str] = []
    for one in error.errors(include_url=False, include_input=False):
        hint = _hint(one["type"], one["loc"], schema)
        if hint not in hints:
            hints.append(hint)
        if len(hints) == _MAX_HINTS:
            break
    return " ".join(hints)


def _message(one: Mapping[str, Any]) -> str:
    template = _SAYS_THE_INPUT.get(one["type"])
    if template is not None:
        context = one.get("ctx") or {}
        return cut_text(
            clean_text(template.format_map({"expected_tags": context.get("expected_tags", "")})), _MAX_MESSAGE
        )
    return cut_text(clean_text(str(one["msg"])), _MAX_MESSAGE)


def _hint(kind: str, loc: Sequence[str | int], schema: Mapping[str, Any]) -> str:
    path = path_of(loc)
    if kind in ("extra_forbidden", "unexpected_keyword_argument") and loc:
        known = list(_properties(_at(schema, loc[:-1], schema), schema))
        near = difflib.get_close_matches(str(loc[-1]), known, n=1, cutoff=0.5)
        if near:
            return f"There is no {path!r}; did you mean {near[0]!r}?"
        return (
            f"Leave out {path!r}; known are {', '.join(map(repr, known[:_MAX_CHOICES]))}."
            if known
            else (f"Leave out {path!r}; no arguments are taken.")
        )
    found = _at(schema, loc, schema)
    described = _described(found, schema)
    if kind in ("missing", "missing_argument", "missing_keyword_only_argument"):
        return f"Add {path!r}{f': {described}' if described else ''}."
    if described:
        return f"Send {path!r} as {described}."
    return f"Correct {path!r}." if path else "Send the arguments as one object."


def _at(node: object, loc: Sequence[str | int], root: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema of a place; `{}` where the schema says nothing of it. Names of union branches are passed over."""
    current = _resolved(node, root)
    for part in loc:
        following = _step(current, part, root)
        if following is not None:
            current = following
    return current


def _step(node: Mapping[str, Any], part: str | int, root: Mapping[str, Any]) -> Mapping[str, Any] | None:
    for branch in (node, *_branches(node, root)):
        properties = branch.get("properties")
        if isinstance(properties, Mapping) and part in properties:
            return _resolved(properties[part], root)
        if isinstance(part, int):
            prefix = branch.get("prefixItems")
            if isinstance(prefix, Sequence) and part < len(prefix):
                return _resolved(prefix[part], root)
            if isinstance(branch.get("items"), Mapping):
                return _resolved(branch["items"], root)
        elif isinstance(branch.get("additionalProperties"), Mapping):
            return _resolved(branch["additionalProperties"], root)
    return None


def _branches(node: Mapping[str, Any], root: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [_resolved(branch, root) for key in ("anyOf", "oneOf", "allOf") for branch in node.get(key, ())]


def _resolved(node: object, root: Mapping[str, Any]) -> Mapping[str, Any]:
    for _ in range(20):
        if not isinstance(node, Mapping):
            return {}
        reference = node.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#/$defs/"):
            return node
        described = {key: value for key, value in node.items() if key != "$ref"}
        target = root.get("$defs", {}).get(reference.removeprefix("#/$defs/"), {})
        node = {**target, **described} if isinstance(target, Mapping) else {}
    return {}


def _properties(node: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    merged: dict[str, Any] = {}
    for branch in (node, *_branches(node, root)):
        merged.update(branch.get("properties") or {})
    return merged


def _described(node: Mapping[str, Any], root: Mapping[str, Any]) -> str:
    """A schema in words: its kind, its bounds, its description."""
    kind = _kind(node, root)
    bounds = [
        words.format(node[key])
        for key, words in _BOUNDS.items()
        if key in node and isinstance(node[key], str | int | float)
    ]
    description = node.get("description")
    told = ", ".join(part for part in (kind, *bounds) if part)
    if isinstance(description, str) and description.strip():
        first = cut_text(" ".join(description.split()), 160).rstrip(".")
        told = f"{told} ({first})" if told else first
    return told


_BOUNDS: Final = {
    "minimum": "at least {}",
    "exclusiveMinimum": "more than {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "less than {}",
    "minLength": "of at least {} characters",
    "maxLength": "of at most {} characters",
    "minItems": "of at least {} items",
    "maxItems": "of at most {} items",
    "pattern": "matching {}",
    "format": "in the format {}",
    "multipleOf": "a multiple of {}",
}


def _kind(node: Mapping[str, Any], root: Mapping[str, Any]) -> str:
    if "const" in node:
        return dumps(to_json(node["const"]))
    if isinstance(node.get("enum"), list):
        return _choices([dumps(to_json(value)) for value in node["enum"]])
    kind = node.get("type")
    if kind == "array":
        items = _kind(_resolved(node.get("items", {}), root), root)
        return f"an array of {items.removeprefix('an ').removeprefix('a ')} values" if items else "an array"
    if isinstance(kind, str):
        return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"
    branches = [_kind(branch, root) for branch in _branches(node, root)]
    return " or ".join(dict.fromkeys(branch for branch in branches if branch))


def _choices(values: list[str]) -> str:
    shown = values[:_MAX_CHOICES]
    more = f", … ({len(values) - len(shown)} more)" if len(values) > len(shown) else ""
    return f"one of {', '.join(shown)}{more}" if len(values) != 1 else shown[0]
