"""JSON schemas of declared data; the part of a contract that needs pydantic, loaded on first use."""

from __future__ import annotations

import sys
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Final, NotRequired, Required, get_args, get_origin

from pydantic import ConfigDict, PydanticUserError, TypeAdapter, ValidationError, with_config
from pydantic_core import SchemaError
from typing_extensions import (
    ReadOnly,
    TypedDict,
    get_type_hints,
    is_typeddict,
)

from mcpcore.values.json_schema import inlined
from mcpcore.values.jsonable import JSON, Cut, Note, cut_text, dumps, named, to_json_object

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from jsonschema.protocols import Validator


_MAX_WHOLE: Final = 4 * 1024 * 1024
"""Bytes of data that are checked, where a client is sent only the beginning of it."""

_MAX_DEPTH: Final = 60
"""Levels of nesting that are checked, where a client is sent fewer."""

_MAX_PROBLEM: Final = 500
"""Characters of a sentence about a misfit; a validator's own message is part of it."""


class DataModel:
    """The declared model of a failure's data: the schema that is published, and the check of what is sent."""

    def __init__(self, declared: type[Any], *, written: frozenset[str], reserved: frozenset[str]) -> None:
        """Read the model; `written` and `reserved` are the keys of a failure's data that are not the author's.

        Raises:
            PydanticUserError, SchemaError, TypeError, ValueError, NameError: If it has no JSON schema.
        """
        self._adapter: TypeAdapter[Any] = TypeAdapter(_strict_keys(declared))
        # A client reads what an instance is written as: its serialization aliases, computed fields and serializers.
        self.schema = inlined(self._adapter.json_schema(mode="serialization"))
        self.reads = inlined(self._adapter.json_schema())
        # `fallbackTool` is sent only where the model has it.
        self._not_own = written if "fallbackTool" in self.schema.get("properties", ()) else reserved

    def own_part(self, data: dict[str, JSON]) -> dict[str, JSON]:
        """The author's own part of `data`, without the keys that the framework writes."""
        return {key: value for key, value in data.items() if key not in self._not_own}

    def problem(self, own: dict[str, JSON], *, dumped: bool = False) -> str | None:
        """Say why `own`, the JSON that is sent, does not fit; None if it fits.

        With `dumped`, the model itself wrote `own`; its validators need not accept what its serializers write.
        """
        alike = self.reads == self.schema
        if not alike and ((problem := self._schema_problem(own)) is not None or dumped):
            return problem
        try:
            # Strict, since a client gets the JSON as it is: the string "7" is no integer there.
            self._adapter.validate_json(dumps(own), strict=True, by_alias=True, by_name=False)
        except ValidationError as exc:
            errors = exc.errors(include_url=False, include_context=False, include_input=False)
            if not alike:
                errors = [error for error in errors if error["loc"] and error["loc"][0] in self._alike]
            problem = f"{_path(errors[0]['loc'])}: {errors[0]['msg']}" if errors else None
        except Exception as exc:  # noqa: BLE001 - a validator may raise anything
            problem = f"a validator raised {named(exc)}" if alike else None
        else:
            return None
        if problem is None:
            return None
        return self._schema_problem(own) if dumped else cut_text(problem, _MAX_PROBLEM)

    @cached_property
    def _alike(self) -> frozenset[str]:
        """The fields that the model reads as it writes them."""
        reads, writes = self.reads.get("properties", {}), self.schema.get("properties", {})
        same_definitions = self.reads.get("$defs") == self.schema.get("$defs")
        return frozenset(
            name
            for name, field in writes.items()
            if field == reads.get(name) and (same_definitions or "$ref" not in dumps(field))
        )

    def _schema_problem(self, own: dict[str, JSON]) -> str | None:
        from jsonschema.exceptions import best_match  # the SDK depends on jsonschema

        error = best_match(self._validator.iter_errors(own))
        return None if error is None else cut_text(f"{_path(error.absolute_path)}: {error.message}", _MAX_PROBLEM)

    @cached_property
    def _validator(self) -> Validator:
        from jsonschema import Draft202012Validator

        return Draft202012Validator(self.schema)

    def read(self, own: dict[str, JSON]) -> Any:
        """An instance of the model, made from the JSON that was sent.

        Raises:
            ValueError: If the JSON does not fit, or a validator raises.
        """
        try:
            return self._adapter.validate_json(dumps(own), by_alias=True, by_name=True)
        except ValidationError:
            raise
        except Exception as exc:
            raise ValueError(f"a validator raised {named(exc)}") from exc

    def dump(self, instance: object) -> Any:
        """The JSON of an instance, as the schema describes it."""
        return self._adapter.dump_python(instance, mode="json", by_alias=True, warnings=False)


def data_model(
    declared: Any, *, example: Mapping[str, Any] | None, written: frozenset[str], reserved: frozenset[str]
) -> DataModel:
    """The model of an entry's data.

    Raises:
        ValueError: If `declared` is not a model of an object, has a field that the framework writes, or if `example`
            does not fit it.
    """
    try:
        model = DataModel(declared, written=written, reserved=reserved)
    except (PydanticUserError, SchemaError, TypeError, ValueError, NameError) as exc:
        raise ValueError(f"the type has no JSON schema: {exc}") from exc
    fields = model.schema.get("properties", model.reads.get("properties"))
    if model.schema.get("type") != "object" or not isinstance(fields, dict):
        raise ValueError("data must be a pydantic model, a TypedDict or a dataclass with fields")
    if own := sorted(written & fields.keys()):
        raise ValueError(f"the field {own[0]!r} is reserved for the framework; rename it")
    if example is not None:
        problem = model.problem(to_json_object(dict(example)))
        if problem is not None:
            raise ValueError(f"the example does not fit the type: {problem}")
    return model


def misfit(model: DataModel, data: object, sent: dict[str, JSON] | None, *, dumped: bool = False) -> str | None:
    """Say why the JSON of `data`, without the keys that the framework writes, does not fit; None if it fits."""
    if data is None:
        return model.problem({})
    own = None if sent is None else model.own_part(sent)
    if own is not None and model.problem(own, dumped=dumped) is None:
        return None
    # Perhaps it does not fit only because it was cut to the limits; the cut is marked for the client.
    whole = model.own_part(to_json_object(data, depth=_MAX_DEPTH, room=_MAX_WHOLE))
    return None if _is_cut(whole) else model.problem(whole, dumped=dumped)


def _is_cut(value: JSON) -> bool:
    """Whether the conversion to JSON left anything out of `value`."""
    stack: list[JSON] = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            stack += item.values()
        elif isinstance(item, list):
            stack += item
        elif isinstance(item, Cut | Note):
            return True
    return False


def _path(parts: Iterable[str | int]) -> str:
    return ".".join(map(str, parts)) or "data"


def readable(declared: Any) -> Any:
    """`declared`; a `typing.TypedDict` as one of `typing_extensions`, which pydantic needs before Python 3.12.

    A TypedDict in one of its fields has to come from `typing_extensions` itself.
    """
    if sys.version_info >= (3, 12) or not is_typeddict(declared) or type(declared).__module__ != "typing":
        return declared
    fields = get_type_hints(declared, include_extras=True)
    for name in declared.__optional_keys__:
        if not _says_whether_required(fields[name]):
            fields[name] = NotRequired[fields[name]]
    make: Any = TypedDict
    rebuilt = make(declared.__name__, fields)
    rebuilt.__doc__, rebuilt.__module__ = declared.__doc__, declared.__module__
    if (config := getattr(declared, "__pydantic_config__", None)) is not None:
        rebuilt.__pydantic_config__ = config
    return rebuilt


def _says_whether_required(annotation: Any) -> bool:
    while get_origin(annotation) in (Annotated, ReadOnly):
        annotation = get_args(annotation)[0]
    return get_origin(annotation) in (Required, NotRequired)


def _strict_keys(declared: type[Any]) -> type[Any]:
    """`declared`, as a TypedDict without unknown keys, since a contract means exactly the keys that it declares."""
    if not is_typeddict(declared):
        return declared
    model: type[Any] = readable(declared)
    if getattr(model, "__pydantic_config__", None) is None:
        # A dict is sent as JSON of mcpcore's own making, in which a duration is a number of seconds.
        model = with_config(ConfigDict(extra="forbid", ser_json_timedelta="float"))(model)
    return model
