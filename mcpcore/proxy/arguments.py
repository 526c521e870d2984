"""Arguments that cannot fit a tool, by its input schema: answered before the server is called.

A call that the server would accept must reach it. So a value that servers commonly convert, such as "5" for an integer
or a text with JSON for a list, counts as what it says, and these keywords are left to the server: `pattern` and
`format`, since their dialects differ, and arguments that the schema does not name, unless it excludes others.
"""

from __future__ import annotations

import itertools
import json
import math
from typing import TYPE_CHECKING, Any, Final

from mcpcore.client.schemas import bounded, time_limit
from mcpcore.foreign import quietly
from mcpcore.sdk.serving import invalid_arguments_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from mcpcore.client.listing import ListedTool
    from mcpcore.errors import FrameworkError

_MAX_SCHEMA: Final = 100_000
_MAX_ARGUMENTS: Final = 100_000
"""Characters of JSON; longer ones are left to the server, so that no call waits for the proxy."""

_MAX_ERRORS: Final = 50

_TYPES: Final = {
    "string": "string_type",
    "integer": "int_type",
    "number": "float_type",
    "boolean": "bool_type",
    "array": "list_type",
    "object": "dict_type",
    "null": "none_required",
}
"""The names that pydantic has for values of a wrong type."""

_BOUNDS: Final = {
    "minimum": ("greater_than_equal", "ge"),
    "maximum": ("less_than_equal", "le"),
    "exclusiveMinimum": ("greater_than", "gt"),
    "exclusiveMaximum": ("less_than", "lt"),
    "multipleOf": ("multiple_of", "multiple_of"),
    "minLength": ("string_too_short", "min_length"),
    "maxLength": ("string_too_long", "max_length"),
}


def validator_of(tool: ListedTool) -> Any:
    """What checks the arguments of a tool; None if only the server can.

    Made once for each tool, since that takes longer than many calls.
    """
    return quietly(lambda: _validator_of(tool.input_schema), None)


def misfit_of(tool: ListedTool, validator: Any, arguments: Mapping[str, Any]) -> FrameworkError | None:
    """The failure of calling `tool` with arguments that cannot fit it; None if they may fit."""
    # A schema of a server may be broken, nested without end, or take too long; then only the server can say.
    return quietly(lambda: _misfit_of(tool, validator, arguments), None)


def _misfit_of(tool: ListedTool, validator: Any, arguments: Mapping[str, Any]) -> FrameworkError | None:
    if validator is None or len(json.dumps(arguments)) > _MAX_ARGUMENTS:
        return None
    with time_limit():
        errors = list(itertools.islice(_errors(validator, arguments), _MAX_ERRORS))
    if not errors:
        return None
    from pydantic_core import ValidationError

    lines = [line for error in errors for line in _lines(error)]
    failed = ValidationError.from_exception_data(tool.name, lines)
    return invalid_arguments_error(failed, tool.input_schema, tool.name, arguments)


def _validator_of(schema: Mapping[str, Any]) -> Any:
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend, validator_for
    from referencing import Registry

    if not schema or len(json.dumps(schema)) > _MAX_SCHEMA:
        return None
    kind = validator_for(schema, default=Draft202012Validator)
    kind.check_schema(dict(schema))
    checker = kind.TYPE_CHECKER.redefine_many({name: _lenient(kind.TYPE_CHECKER, name) for name in _TYPES})
    ignored = {"pattern": _ignored, "patternProperties": _ignored, "format": _ignored}
    lenient = extend(bounded(kind), validators=ignored, type_checker=checker)  # type: ignore[no-untyped-call]
    # An empty registry, since the default one fetches remote references.
    return lenient(schema, registry=Registry())


def _ignored(*_: object) -> Iterator[Any]:
    return iter(())


def _lenient(checker: Any, name: str) -> Callable[[Any, Any], bool]:
    """The check of a type that also takes what servers convert to it."""

    def is_type(_checker: Any, value: Any) -> bool:
        if checker.is_type(value, name):
            return True
        if name == "string" or not isinstance(value, str):
            return False
        parsed = quietly(lambda: json.loads(value), None)
        if isinstance(parsed, float) and not math.isfinite(parsed):
            return False
        if name == "boolean":
            return value.strip().lower() in {"true", "false", "1", "0", "yes", "no", "on", "off"}
        return parsed is not None and bool(checker.is_type(parsed, name))

    return is_type


def _errors(validator: Any, arguments: Mapping[str, Any]) -> Iterator[Any]:
    for error in validator.iter_errors(dict(arguments)):
        # A text that the server may convert is not compared here.
        if not (isinstance(error.instance, str) and _converts(error)):
            yield error


def _converts(error: Any) -> bool:
    """Whether the rejected text may become a value of another type, which the server alone can compare."""
    kinds = error.schema.get("type") if isinstance(error.schema, dict) else None
    kinds = kinds if isinstance(kinds, list) else [kinds]
    return error.validator in {"enum", "const", "anyOf", "oneOf", "allOf"} and not (
        error.validator in {"enum", "const"} and set(kinds) <= {"string", None} and _all_texts(error)
    )


def _all_texts(error: Any) -> bool:
    values = error.validator_value if error.validator == "enum" else [error.validator_value]
    return all(isinstance(value, str) for value in values)


def _lines(error: Any) -> list[Any]:
    """One error of JSON Schema as errors of pydantic, which the texts and hints are made of."""
    from pydantic_core import InitErrorDetails, PydanticCustomError

    loc, value, rule = tuple(error.absolute_path), error.validator_value, error.validator

    def line(kind: Any, *more: str, **ctx: Any) -> InitErrorDetails:
        return InitErrorDetails(type=kind, loc=(*loc, *more), input=error.instance, ctx=ctx)

    if rule == "required":
        return [line("missing", name) for name in value if name not in error.instance]
    if rule == "additionalProperties":
        known = error.schema.get("properties", {})
        return [line("extra_forbidden", str(name)[:100]) for name in error.instance if name not in known]
    if rule == "type" and isinstance(value, str) and value in _TYPES:
        return [line(_TYPES[value])]
    if rule in {"enum", "const"}:
        choices = value if rule == "enum" else [value]
        return [line("literal_error", expected=" or ".join(map(repr, choices[:20])))]
    if rule in _BOUNDS and isinstance(value, int | float):
        kind, name = _BOUNDS[rule]
        return [line(kind, **{name: value})]
    if rule in {"minItems", "maxItems"}:
        bounds = {("min_length" if rule == "minItems" else "max_length"): value}
        kind = "too_short" if rule == "minItems" else "too_long"
        return [line(kind, field_type="List", actual_length=len(error.instance), **bounds)]
    # The words of jsonschema repeat the rejected value.
    return [line(PydanticCustomError("json_schema", "Breaks the rule {rule} of the schema", {"rule": str(rule)}))]
