"""JSON schemas of what authors declare; the part of a contract that needs pydantic, loaded when it is asked for."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from pydantic import ConfigDict, PydanticUserError, TypeAdapter, ValidationError, with_config
from pydantic_core import SchemaError

from mcpcore.contract import RESERVED_DATA_KEYS, WRITTEN_DATA_KEYS, ContractError
from mcpcore.jsonable import Cut, Note, cut_text, dumps, named, to_json_object

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jsonschema.protocols import Validator

    from mcpcore.contract import FailureMode
    from mcpcore.jsonable import JSON

_MAX_WHOLE: Final = 4 * 1024 * 1024
"""Bytes of data that are checked, where a client is sent only the beginning of it."""

_MAX_DEPTH: Final = 60
"""Levels of nesting that are checked, where a client is sent fewer."""

_MAX_PROBLEM: Final = 500
"""Characters of a sentence about a misfit; a validator's own message is part of it."""


class DataModel:
    """The declared model of a failure's data: the schema that is published, and the check of what is sent."""

    def __init__(self, declared: type[Any]) -> None:
        """Read the model.

        Raises:
            PydanticUserError, SchemaError, TypeError, ValueError, NameError: If it has no JSON schema.
        """
        self._adapter: TypeAdapter[Any] = TypeAdapter(_readable(declared))
        # A client reads what an instance is written as: its serialization aliases, computed fields and serializers.
        self.schema = inlined(self._adapter.json_schema(mode="serialization"))
        self.reads = inlined(self._adapter.json_schema())

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

    def dump(self, instance: object) -> Any:
        """The JSON of an instance, as the schema describes it."""
        return self._adapter.dump_python(instance, mode="json", by_alias=True, warnings=False)


def data_model(entry: FailureMode[Any]) -> DataModel:
    """The model of an entry's data.

    Raises:
        ContractError: If `data` is not a model of an object, or has a reserved key.
    """
    where = f"FailureMode({entry.reason!r}, data={getattr(entry.data, '__name__', entry.data)})"
    try:
        model = DataModel(entry.data)
    except (PydanticUserError, SchemaError, TypeError, ValueError, NameError) as exc:
        raise ContractError(f"{where}: the type has no JSON schema: {exc}") from exc
    fields = model.schema.get("properties", model.reads.get("properties"))
    if model.schema.get("type") != "object" or not isinstance(fields, dict):
        raise ContractError(f"{where}: data must be a pydantic model, a TypedDict or a dataclass with fields")
    reserved = sorted(WRITTEN_DATA_KEYS & fields.keys())
    if reserved:
        raise ContractError(f"{where}: the field {reserved[0]!r} is reserved for the framework; rename it")
    if entry.example is not None:
        problem = model.problem(to_json_object(dict(entry.example)))
        if problem is not None:
            raise ContractError(f"{where}: the example does not fit the type: {problem}")
    return model


def misfit(model: DataModel, data: object, sent: dict[str, JSON] | None, *, dumped: bool = False) -> str | None:
    """Say why the JSON of `data`, without the keys that the framework writes, does not fit; None if it fits."""
    if data is None:
        return model.problem({})
    own = None if sent is None else _own(sent, model)
    if own is not None and model.problem(own, dumped=dumped) is None:
        return None
    # Perhaps it does not fit only because it was cut to the limits; the cut is marked for the client.
    whole = _own(to_json_object(data, depth=_MAX_DEPTH, room=_MAX_WHOLE), model)
    return None if _is_cut(whole) else model.problem(whole, dumped=dumped)


def _own(data: dict[str, JSON], model: DataModel) -> dict[str, JSON]:
    """The author's own part of `data`; `fallbackTool` is sent only where the model has it."""
    without = WRITTEN_DATA_KEYS if "fallbackTool" in model.schema.get("properties", ()) else RESERVED_DATA_KEYS
    return {key: value for key, value in data.items() if key not in without}


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


def inlined(schema: dict[str, Any]) -> dict[str, Any]:
    """`schema` with an object at its root, where a type that contains itself has a reference there."""
    from mcp.server.mcpserver.utilities.func_metadata import _inline_root_ref

    return _inline_root_ref(schema)


def _readable(declared: type[Any]) -> type[Any]:
    """`declared`, with the unknown keys of a TypedDict refused, as a contract means it."""
    from typing_extensions import is_typeddict

    if not is_typeddict(declared):
        return declared
    from mcp.server.mcpserver.utilities.func_metadata import _pydantic_readable_typeddict

    readable = _pydantic_readable_typeddict(declared)
    if getattr(readable, "__pydantic_config__", None) is None:
        # A dict is sent as JSON of mcpcore's own making, in which a duration is a number of seconds.
        readable = with_config(ConfigDict(extra="forbid", ser_json_timedelta="float"))(readable)
    return readable
