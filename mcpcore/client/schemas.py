"""Arguments against the input schema of a tool, which a hostile server may have written to keep a validator busy.

The keywords of `jsonschema` that can take exponential time are replaced: regular expressions are matched in linear
time, and `uniqueItems` compares no pairs. All others stop when their time is over.
"""

from __future__ import annotations

import contextlib
import functools
import time
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, cast

from mcpcore.values.jsonable import dumps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator

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
