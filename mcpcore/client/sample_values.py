"""Values that fit a JSON schema: arguments to probe a tool with, and data for a failure on demand.

A small generator, and no search: it reads defaults, examples, enums, formats and bounds. Whoever uses a value checks it
first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from mcpcore.boundary.faults import FaultError
from mcpcore.client.schemas import matches
from mcpcore.contract.failure_modes import FailureMode
from mcpcore.values.json_schema import FORMATS, own_properties, required_names, resolved, type_names
from mcpcore.values.jsonable import to_json
from mcpcore.values.untrusted import quietly

_DEEPEST: Final = 6
_MAX_VALUES: Final = 1_000
"""The values inside of one sample: references can make a small schema endless."""

MAX_TEXT: Final = 10_000
"""The most characters that a bound of a schema can make a text have."""

_SAMPLES: Final = ("a", "1", "A1", "abc", "ABC", "a-b", "a_b", "12345", "#000000", "1.0.0", "A-1", "a/b", "/a", "a.b")
"""Texts that patterns commonly match, besides those of the formats."""


class SampleValues:
    """Makes values that fit the parts of one schema."""

    def __init__(self, root: Mapping[str, Any], text: str) -> None:
        """Resolve references in `root`; `text` is the value of texts without a format."""
        self._root = root
        self._plain_text = text
        self._left = _MAX_VALUES

    def resolved_part(self, part: Any) -> Mapping[str, Any]:
        """A part of the schema with its references, and the first branch of a union that is not null, joined to it."""
        node = resolved(part, self._root)
        for key in ("allOf", "anyOf", "oneOf"):
            union = node.get(key)
            if isinstance(union, list):
                options = [resolved(branch, self._root) for branch in union]
                options = [option for option in options if option.get("type") != "null"] or options
                for option in options if key == "allOf" else options[:1]:
                    node = {**option, **{name: value for name, value in node.items() if name != key}}
        return node

    def object_of(self, schema: Any, *, every: bool, depth: int = 0) -> dict[str, Any]:
        """An object with the required properties, or with every property."""
        if depth == 0:
            self._left = _MAX_VALUES
        node = self.resolved_part(schema)
        declared, required = own_properties(node), required_names(node)
        names = [*required, *(name for name in declared if every and depth == 0 and name not in required)]
        return {name: self.value(declared.get(name, {}), depth + 1) for name in names}

    def value(self, part: Any, depth: int) -> Any:
        """A value that fits `part` of the schema."""
        self._left -= 1
        if self._left < 0:
            return None
        node = self.resolved_part(part)
        for known in self._given(node):
            return known
        kind = type_of(node)
        if depth > _DEEPEST:
            return None
        if kind == "object":
            return self.object_of(node, every=False, depth=depth)
        if kind == "array":
            return self._array(node, depth)
        if kind == "boolean":
            return False
        if kind in {"integer", "number"}:
            return self._number(node, whole=kind == "integer")
        return None if kind == "null" else self._text(node)

    @staticmethod
    def _given(node: Mapping[str, Any]) -> Iterator[Any]:
        """Values that the author of the schema wrote down."""
        if "const" in node:
            yield node["const"]
        if node.get("default") is not None:
            yield node["default"]
        for key in ("examples", "enum"):
            values = node.get(key)
            yield from values if isinstance(values, list) else ()

    def _array(self, node: Mapping[str, Any], depth: int) -> list[Any]:
        first = node.get("prefixItems")
        items = [self.value(part, depth + 1) for part in first] if isinstance(first, list) else []
        least = node.get("minItems")
        least = least if isinstance(least, int) else 0
        # A hostile schema may ask for any number of items.
        wanted = min(max(least, 0 if depth > 2 else 1), 20)
        while len(items) < wanted and node.get("items") is not False:
            items.append(self.value(node.get("items", {}), depth + 1))
        return items

    @staticmethod
    def _number(node: Mapping[str, Any], *, whole: bool) -> float:
        low, high = node.get("minimum"), node.get("maximum")
        above, below, step = node.get("exclusiveMinimum"), node.get("exclusiveMaximum"), node.get("multipleOf")
        value: float = 1
        if isinstance(low, int | float):
            value = max(value, low)
        if isinstance(above, int | float) and value <= above:
            value = above + 1
        if isinstance(high, int | float):
            value = min(value, high)
        if isinstance(below, int | float) and value >= below:
            value = below - 1 if whole or above is None else (above + below) / 2
        if isinstance(step, int | float) and step > 0:
            # Rounded up, so that the value stays above the lower bound.
            value = -(-value // step) * step
        return int(value) if whole and float(value).is_integer() else value

    def _text(self, node: Mapping[str, Any]) -> str:
        pattern, form = node.get("pattern"), node.get("format")
        candidates = [FORMATS[form].example if isinstance(form, str) and form in FORMATS else self._plain_text]
        if isinstance(pattern, str):
            candidates += [*(known.example for known in FORMATS.values()), *_SAMPLES]
        least, most = bound_of_length(node, "minLength", 0), bound_of_length(node, "maxLength", MAX_TEXT)
        for text in candidates:
            sized = text.ljust(least, "a")[:most]
            if not isinstance(pattern, str) or quietly(partial(matches, pattern, sized), None):
                return sized
        return candidates[0]


def bound_of_length(node: Mapping[str, Any], key: str, default: int) -> int:
    """A bound of the schema for the length of a text, at most `MAX_TEXT`; `default` without one."""
    value = node.get(key)
    return min(value, MAX_TEXT) if isinstance(value, int) and value >= 0 else default


def type_of(node: Mapping[str, Any]) -> str:
    """The type of the values; "" if they may be of several, or of any."""
    kinds = type_names(node)
    if kinds:
        return next((kind for kind in kinds if kind != "null"), "null")
    if "properties" in node:
        return "object"
    return "array" if "items" in node else ""


def sample_data(tool: str, entry: FailureMode[Any], arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    """Data for a failure of `entry`: its example, else values that fit its model; None where it has no model.

    A field that is called like an argument of the call gets its value, if that fits.

    Raises:
        FaultError: If no values that fit can be made up.
    """
    if entry.example is not None:
        return dict(entry.example)
    schema = entry.data_schema()
    if schema is None:
        return None
    data = SampleValues(schema, "example").object_of(schema, every=False)
    sent = to_json({name: value for name, value in arguments.items() if name in data})
    for candidate in ({**data, **sent} if isinstance(sent, dict) else data, data):
        problem = quietly(partial(entry.check_data, candidate), "it cannot be checked")
        if problem is None:
            return candidate
    raise FaultError(
        f"the tool {tool!r}: no data for {entry.reason!r} can be made up ({problem}); add example= to its FailureMode"
    )
