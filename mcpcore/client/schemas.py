"""Arguments against the input schema of a tool, and values that fit a schema.

A hostile server may have written the schema to keep a validator busy. The keywords of `jsonschema` that can take
exponential time are replaced: regular expressions are matched in linear time, and `uniqueItems` compares no pairs. All
others stop when their time is over.

Values are made by a small generator, and no search: it reads defaults, examples, enums, formats and bounds. Whoever
uses a value, as an argument to probe a tool with or as data for a failure on demand, checks it first.
"""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, cast

from mcpcore.values.json_schema import FORMATS, own_properties, required_names, resolved, type_names
from mcpcore.values.jsonable import dumps, to_json
from mcpcore.values.untrusted import quietly

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator

    from mcpcore.contract.failure_modes import FailureMode

    Keyword = Callable[[Any, Any, Any, Any], Iterator[ValidationError] | None]

MAX_SECONDS: Final = 0.5
"""Seconds of processor time that one check may take; the schemas of real tools take milliseconds."""

_deadline: Final[ContextVar[float]] = ContextVar("_deadline")


def error_path(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> str | None:
    """The path of the argument that does not fit `schema`, "" for all of them together; None if they fit.

    Raises:
        Exception: If the schema is broken, refers to another document, has a keyword or a regular expression that
            cannot be checked in linear time, or takes too long.
    """
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match
    from referencing import Registry

    # An empty registry, since the default one fetches remote references.
    validator = bounded(Draft202012Validator)(dict(schema), registry=Registry())
    with time_limit():
        error = best_match(validator.iter_errors(dict(arguments)))
    return None if error is None else ".".join(map(str, error.absolute_path))


@contextlib.contextmanager
def time_limit() -> Iterator[None]:
    """Let the checks of `bounded` validators in the block take `MAX_SECONDS` together, and then raise TimeoutError."""
    token = _deadline.set(time.thread_time() + MAX_SECONDS)
    try:
        yield
    finally:
        _deadline.reset(token)


@functools.cache
def bounded(kind: type[Validator]) -> type[Validator]:
    """A class like `kind`, one of jsonschema's validators, for schemas from a stranger; use it within `time_limit`."""
    from jsonschema.validators import extend

    replaced = {
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
        "uniqueItems": _unique_items,
        # These walk through the schema by themselves.
        "unevaluatedProperties": _uncheckable,
        "unevaluatedItems": _uncheckable,
    }
    keywords: dict[str, Any] = {**kind.VALIDATORS, **replaced}
    make: Any = extend  # it has no types
    return cast("type[Validator]", make(kind, {name: _in_time(check) for name, check in keywords.items()}))


def _in_time(check: Keyword) -> Keyword:
    def checked(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError] | None:
        if time.thread_time() > _deadline.get():
            raise TimeoutError(f"the schema takes more than {MAX_SECONDS} s")
        return check(validator, value, instance, schema)

    return checked


def _pattern(validator: Any, pattern: Any, instance: Any, _: Any) -> Iterator[ValidationError]:
    if validator.is_type(instance, "string") and not matches(pattern, instance):
        yield validation_error("does not match")


def _pattern_properties(validator: Any, patterns: Any, instance: Any, _: Any) -> Iterator[ValidationError]:
    for pattern, schema in patterns.items() if validator.is_type(instance, "object") else ():
        for name, value in instance.items():
            if matches(pattern, name):
                yield from validator.descend(value, schema, path=name, schema_path=pattern)


def _additional_properties(validator: Any, rest: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    named, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    for name, value in instance.items() if validator.is_type(instance, "object") else ():
        if name in named or any(matches(pattern, name) for pattern in patterns):
            continue
        if rest is False:
            yield validation_error("has a property that the schema does not name")
            return
        yield from validator.descend(value, rest, path=name)


def _unique_items(validator: Any, unique: Any, instance: Any, _: Any) -> Iterator[ValidationError]:
    if unique and validator.is_type(instance, "array") and len(set(map(dumps, instance))) < len(instance):
        yield validation_error("has an item twice")


def _uncheckable(_: Any, __: Any, ___: Any, ____: Any) -> None:
    raise ValueError("the keyword cannot be checked in bounded time")


def validation_error(message: str) -> ValidationError:
    """An error for a validator; jsonschema is loaded on first use."""
    from jsonschema.exceptions import ValidationError

    return ValidationError(message)


def matches(pattern: str, text: str) -> bool:
    """Whether a regular expression is found in a text, in linear time."""
    return matcher(pattern)(text)


@functools.lru_cache(maxsize=128)
def matcher(pattern: str) -> Callable[[str], bool]:
    """A function that searches a text for a regular expression in linear time, which `re` does not.

    The engine is that of Rust's `regex`, which pydantic brings along. It knows no look-around and no back-references.

    Raises:
        pydantic_core.SchemaError: If `pattern` is not a regular expression of this kind.
    """
    from pydantic_core import SchemaValidator, core_schema

    schema = core_schema.str_schema(pattern=pattern, regex_engine="rust-regex")
    return SchemaValidator(schema).isinstance_python


# --- values that fit a schema -----------------------------------------------------------------------------------------

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
        for known in self._known_values(node):
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
    def _known_values(node: Mapping[str, Any]) -> Iterator[Any]:
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
            if not isinstance(pattern, str) or quietly(functools.partial(matches, pattern, sized), None):
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
        problem = quietly(functools.partial(entry.check_data, candidate), "it cannot be checked")
        if problem is None:
            return candidate
    from mcpcore.boundary.faults import FaultError  # clients need it for no other function

    raise FaultError(
        f"the tool {tool!r}: no data for {entry.reason!r} can be made up ({problem}); add example= to its FailureMode"
    )
