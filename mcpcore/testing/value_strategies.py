"""Strategies of hypothesis for the values that fit a JSON schema.

hypothesis-jsonschema 0.23 relies on private parts of hypothesis that newer releases no longer have. This module uses
the public strategies alone. It builds values by the common keywords of draft 2020-12. jsonschema then rejects values
that break any other keyword. A schema may be written to keep a program busy, so each step is bounded.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import unquote

from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from jsonschema.validators import extend
from pydantic_core import SchemaError as PatternError
from referencing import Registry

from mcpcore.client.schemas import bounded, matcher, time_limit
from mcpcore.values.json_schema import FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hypothesis.strategies import SearchStrategy

_MAX_ITEMS: Final = 1_000
"""The largest minimum of items, properties or characters that is drawn."""

_MAX_PARTS: Final = 20_000
"""The parts of a schema for which strategies are built; references can multiply them without end."""

_MORE: Final = 4
"""Items that an array may have above its minimum."""

_ANYTHING: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


class UndrawableSchemaError(ValueError):
    """A schema has a part for which no values can be drawn; the message names the part."""


def values_of(schema: Any) -> SearchStrategy[Any]:
    """A strategy for the values that fit `schema`.

    Raises:
        UndrawableSchemaError: If the schema is invalid, refers to another document, or has a part that cannot be drawn.
    """
    try:
        _require_local(schema)
        Draft202012Validator.check_schema(schema)
        # The strategies know a part of the keywords; the whole schema then decides what is drawn.
        strategy = _Drawing(schema).of(schema, "#").filter(_validity_by(schema))
        strategy.validate()
        is_empty = strategy.is_empty
    except UndrawableSchemaError:
        raise
    except SchemaError as exc:
        place = "/".join(["#", *map(str, exc.absolute_path)])
        raise UndrawableSchemaError(f"{place}: {exc.message}"[:500]) from None
    except RecursionError:
        raise UndrawableSchemaError("the schema is nested too deeply") from None
    except Exception as exc:  # jsonschema and hypothesis raise many kinds for schemas that nobody wrote by hand
        raise UndrawableSchemaError(f"{type(exc).__name__}: {exc}"[:500]) from exc
    if is_empty:
        raise UndrawableSchemaError("no value fits the schema")
    return strategy


def _validity_by(schema: Any) -> Callable[[Any], bool]:
    """A function that says whether a value is valid, and raises if the schema keeps it busy."""
    whole = Draft202012Validator.VALIDATORS
    replaced = {"pattern": _pattern, **{name: whole[name] for name in ("unevaluatedItems", "unevaluatedProperties")}}
    kind: Any = extend(bounded(Draft202012Validator), replaced)  # type: ignore[no-untyped-call]
    validator = kind(schema, registry=Registry())

    slow: list[str] = []

    def is_valid(value: Any) -> bool:
        if not slow:  # else hypothesis tries again with another value
            try:
                with time_limit():
                    return bool(validator.is_valid(value))
            except TimeoutError as exc:
                slow.append(str(exc))
        raise UndrawableSchemaError(slow[0])

    return is_valid


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Any:
    try:
        matcher(pattern)
    except PatternError:  # look-around and back-references
        return Draft202012Validator.VALIDATORS["pattern"](validator, pattern, instance, schema)
    return bounded(Draft202012Validator).VALIDATORS["pattern"](validator, pattern, instance, schema)


def _require_local(schema: object) -> None:
    """Refuse references to other documents, which would be loaded from the network.

    Raises:
        UndrawableSchemaError: If there is one, or a reference to an anchor.
    """
    stack = [schema]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            for key in ("$ref", "$dynamicRef"):
                reference = node.get(key)
                if isinstance(reference, str) and not (reference == "#" or reference.startswith("#/")):
                    raise UndrawableSchemaError(f"{key} {reference!r} is not a path in the schema itself")
            stack += node.values()
        elif isinstance(node, list):
            stack += node


class _Drawing:
    """The strategies for the parts of one schema."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self._by_reference: dict[str, SearchStrategy[Any]] = {}
        self._parts = 0

    def of(self, schema: Any, place: str) -> SearchStrategy[Any]:
        """The strategy for the part of the schema at `place`."""
        self._parts += 1
        if self._parts > _MAX_PARTS:
            raise UndrawableSchemaError(f"the schema has more than {_MAX_PARTS} parts")
        if schema is True or schema == {}:
            return _ANYTHING
        if schema is False:
            return st.nothing()
        if "$ref" in schema:
            beside = {key: value for key, value in schema.items() if key != "$ref"}
            if not beside.keys() - _ANNOTATIONS:
                return self._referred(schema["$ref"])
            target = self._target(schema["$ref"])
            return self.of(_merged(target, beside), place) if "$ref" not in target else self.of(target, place)
        if "const" in schema:
            return st.just(schema["const"])
        if "enum" in schema:
            return st.sampled_from(schema["enum"]) if schema["enum"] else st.nothing()
        for key in ("anyOf", "oneOf"):
            if key in schema:
                beside = {name: value for name, value in schema.items() if name != key}
                branches = [
                    self._branch(beside, branch, f"{place}/{key}/{index}") for index, branch in enumerate(schema[key])
                ]
                return st.one_of(branches)
        if "allOf" in schema:
            whole = {name: value for name, value in schema.items() if name != "allOf"}
            for part in schema["allOf"]:
                whole = _merged(whole, self._resolved(part))
            return self.of(whole, place)
        # Without `type`, the types that the keywords are about; none if it may be anything.
        kinds = schema.get("type", [kind for kind, keywords in _KEYWORDS.items() if keywords & schema.keys()])
        kinds = [kinds] if isinstance(kinds, str) else kinds
        drawn = [cast("SearchStrategy[Any]", getattr(self, f"_{kind}")(schema, place)) for kind in kinds]
        return st.one_of(drawn) if drawn else _ANYTHING

    def _branch(self, beside: Mapping[str, Any], branch: Any, place: str) -> SearchStrategy[Any]:
        if not beside.keys() - _ANNOTATIONS:
            return self.of(branch, place)
        return self.of(_merged(beside, self._resolved(branch)), place)

    def _resolved(self, part: Any) -> dict[str, Any]:
        for _ in range(_MAX_ITEMS):
            if not (isinstance(part, dict) and "$ref" in part):
                break
            part = _merged(self._target(part["$ref"]), {key: value for key, value in part.items() if key != "$ref"})
        if isinstance(part, bool):
            return {} if part else {"not": {}}
        return cast("dict[str, Any]", part)

    def _referred(self, reference: str) -> SearchStrategy[Any]:
        # Deferred, since a schema may contain itself.
        if reference not in self._by_reference:
            target = self._target(reference)
            self._by_reference[reference] = st.deferred(lambda: self.of(target, reference))
        return self._by_reference[reference]

    def _target(self, reference: str) -> Any:
        node = self._root
        for part in unquote(reference).split("/")[1:]:
            key = part.replace("~1", "/").replace("~0", "~")
            try:
                node = node[int(key)] if isinstance(node, list) else node[key]
            except (KeyError, IndexError, ValueError, TypeError):
                raise UndrawableSchemaError(f"$ref {reference!r} leads nowhere") from None
        return node

    # -- by type; each is the method of the type of that name --------------------------------------------------------

    def _null(self, schema: Mapping[str, Any], place: str) -> SearchStrategy[Any]:  # noqa: ARG002 - as the others
        return st.none()

    def _boolean(self, schema: Mapping[str, Any], place: str) -> SearchStrategy[Any]:  # noqa: ARG002 - as the others
        return st.booleans()

    def _integer(self, schema: Mapping[str, Any], place: str) -> SearchStrategy[Any]:  # noqa: ARG002 - as the others
        low, high = _bounds(schema)
        step = schema.get("multipleOf")
        least = None if low is None else math.ceil(low)
        most = None if high is None else math.floor(high)
        if isinstance(step, int):
            least = None if least is None else math.ceil(least / step)
            most = None if most is None else most // step
            return _whole(least, most).map(lambda value: value * step)
        return _whole(least, most)

    def _number(self, schema: Mapping[str, Any], place: str) -> SearchStrategy[Any]:
        step = schema.get("multipleOf")
        whole = self._integer({key: value for key, value in schema.items() if key != "multipleOf"}, place)
        low, high = _bounds(schema)
        if step is not None:
            least = None if low is None else math.ceil(low / step)
            most = None if high is None else math.floor(high / step)
            return _whole(least, most).map(lambda value: value * step)
        return whole | st.floats(_as_float(low), _as_float(high), allow_nan=False, allow_infinity=False)

    def _string(self, schema: Mapping[str, Any], place: str) -> SearchStrategy[Any]:
        least, most = _required(schema.get("minLength", 0), f"{place}/minLength"), schema.get("maxLength")
        drawn: SearchStrategy[str]
        if "pattern" in schema:
            # As in JavaScript, a digit is one of ten.
            drawn = st.from_regex(re.compile(schema["pattern"], re.ASCII), alphabet=st.characters(codec="utf-8"))
        elif schema.get("format") in FORMATS:
            drawn = st.from_regex(re.compile(FORMATS[schema["format"]].pattern, re.ASCII), fullmatch=True)
        else:
            return st.text(min_size=least, max_size=None if most is None else int(most))
        return drawn.filter(lambda text: len(text) >= least and (most is None or len(text) <= most))

    def _array(self, schema: Mapping[str, Any], place: str) -> SearchStrategy[Any]:
        first = [
            self.of(item, f"{place}/prefixItems/{index}") for index, item in enumerate(schema.get("prefixItems", ()))
        ]
        least = _required(schema.get("minItems", 0), f"{place}/minItems")
        most = int(min(schema.get("maxItems", math.inf), max(least, len(first)) + _MORE))
        rest = self.of(schema.get("items", True), f"{place}/items")
        unique: Any = _identity if schema.get("uniqueItems") is True else None
        # Asking a strategy whether it is empty would build a schema that contains itself without end.
        has_rest = schema.get("items", True) is not False
        if not first:
            if not has_rest:
                return st.just([]) if not least else st.nothing()
            return st.lists(rest, min_size=least, max_size=most, unique_by=unique)
        others = (
            st.just([])
            if not has_rest
            else st.lists(rest, min_size=max(0, least - len(first)), max_size=max(0, most - len(first)))
        )
        return st.tuples(*first).flatmap(lambda head: others.map(lambda tail: [*head, *tail]))

    def _object(self, schema: Mapping[str, Any], place: str) -> SearchStrategy[Any]:
        properties = schema.get("properties", {})
        required = schema.get("required", [])
        drawn = {name: self.of(part, f"{place}/properties/{name}") for name, part in properties.items()}
        others = schema.get("additionalProperties", True)
        for name in required:
            if name not in drawn:
                drawn[name] = self.of(others, f"{place}/additionalProperties") if others is not True else _ANYTHING
        for name in required:
            if properties.get(name) is False or (name not in properties and others is False):
                return st.nothing()
        optional = {name: part for name, part in drawn.items() if name not in required}
        fixed = st.fixed_dictionaries({name: drawn[name] for name in required}, optional=optional)
        patterns = [
            (
                self._string({"pattern": pattern}, f"{place}/patternProperties"),
                self.of(part, f"{place}/patternProperties"),
            )
            for pattern, part in schema.get("patternProperties", {}).items()
            if part is not False
        ]
        names = schema.get("propertyNames", True)
        if others is not False and (others is not True or not properties):
            keys = self.of(_merged({"type": "string"}, names), f"{place}/propertyNames")
            patterns.append((keys, self.of(others, f"{place}/additionalProperties")))
        least = _required(schema.get("minProperties", 0), f"{place}/minProperties")
        most = max(least, 3)
        for keys, values in patterns:
            more = st.dictionaries(keys, values, min_size=max(0, least - len(properties)), max_size=most)
            fixed = st.tuples(more, fixed).map(lambda both: {**both[0], **both[1]})
        return fixed


_ANNOTATIONS: Final = frozenset(
    {"$comment", "$defs", "$id", "$schema", "default", "definitions", "deprecated", "description", "examples", "title"}
)

_KEYWORDS: Final = {
    "object": {"properties", "required", "additionalProperties", "patternProperties", "minProperties", "propertyNames"},
    "array": {"items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"},
    "string": {"pattern", "minLength", "maxLength", "format"},
    "number": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
}


def _merged(schema: Any, other: Any) -> dict[str, Any]:
    """Both schemas as one. If both have a keyword, that of `other` counts; the whole schema rejects wrong values."""
    schema, other = ({} if part is True else {"not": {}} if part is False else part for part in (schema, other))
    merged = {**schema, **other}
    if "properties" in schema and "properties" in other:
        merged["properties"] = {**schema["properties"], **other["properties"]}
    if "required" in schema and "required" in other:
        merged["required"] = list(dict.fromkeys([*schema["required"], *other["required"]]))
    return merged


def _bounds(schema: Mapping[str, Any]) -> tuple[Any, Any]:
    lows = [schema[key] for key in ("minimum", "exclusiveMinimum") if key in schema]
    highs = [schema[key] for key in ("maximum", "exclusiveMaximum") if key in schema]
    return max(lows, default=None), min(highs, default=None)


def _whole(least: int | None, most: int | None) -> SearchStrategy[int]:
    if least is not None and most is not None and least > most:
        return st.nothing()
    return st.integers(least, most)


def _as_float(value: Any) -> float | None:
    return None if value is None else float(value)


def _required(count: Any, place: str) -> int:
    if count > _MAX_ITEMS:
        raise UndrawableSchemaError(f"{place}: {count} is more than the {_MAX_ITEMS} that are drawn")
    return int(count)


def _identity(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
