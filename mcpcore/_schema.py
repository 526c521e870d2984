"""JSON schemas of what authors declare; the part of a contract that needs pydantic, loaded when it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ConfigDict, PydanticUserError, TypeAdapter, ValidationError, with_config
from pydantic_core import SchemaError

from mcpcore.contract import WRITTEN_DATA_KEYS, ContractError

if TYPE_CHECKING:
    from mcpcore.contract import FailureMode


def data_adapter(entry: FailureMode[Any]) -> TypeAdapter[Any]:
    """The validator of an entry's data.

    Raises:
        ContractError: If `data` is not a model of an object, or has a reserved key.
    """
    where = f"FailureMode({entry.reason!r}, data={getattr(entry.data, '__name__', entry.data)})"
    try:
        adapter = TypeAdapter(_readable(entry.data))
        schema = inlined(adapter.json_schema())
    except (PydanticUserError, SchemaError, TypeError, ValueError, NameError) as exc:
        raise ContractError(f"{where}: the type has no JSON schema: {exc}") from exc
    properties = schema.get("properties")
    if schema.get("type") != "object" or not isinstance(properties, dict):
        raise ContractError(f"{where}: data must be a pydantic model, a TypedDict or a dataclass with fields")
    reserved = sorted(WRITTEN_DATA_KEYS & properties.keys())
    if reserved:
        raise ContractError(f"{where}: the field {reserved[0]!r} is reserved for the framework; rename it")
    if entry.example is not None:
        try:
            adapter.validate_python(dict(entry.example))
        except ValidationError as exc:
            first = exc.errors(include_url=False)[0]
            path = ".".join(map(str, first["loc"])) or "the whole"
            raise ContractError(f"{where}: the example does not fit the type: {path}: {first['msg']}") from exc
    return adapter


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
        readable = with_config(ConfigDict(extra="forbid"))(readable)
    return readable
