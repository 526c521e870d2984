"""The tools of a server, as its answers to `tools/list` name them, and what the proxy adds to lists."""

from __future__ import annotations

import difflib
import itertools
import json
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from mcpcore.client.failures import ListedTool, listed_tool
from mcpcore.client.schemas import bounded, time_limit, validation_error
from mcpcore.contract.effects import ToolEffects, default_effects
from mcpcore.contract.failure_modes import CONTRACT_META_KEY
from mcpcore.proxy.messages import Json, write
from mcpcore.sdk.definition import admitting_error, without_error
from mcpcore.sdk.errors import invalid_arguments_error
from mcpcore.values.json_schema import properties
from mcpcore.values.untrusted import list_in, object_in, quietly

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpcore.contract.errors import FrameworkError
    from mcpcore.proxy.overlay import Overlay, Section


_MAX_SCHEMA: Final = 100_000
_MAX_ARGUMENTS: Final = 100_000
"""Characters of JSON; longer ones are left to the server, so that no call waits for the proxy."""

_MAX_ERRORS: Final = 50

_MAX_CONFUSED: Final = 20
_NEAR: Final = 0.5
"""How near a name must be to a missing one to be named with it; the hint uses the same number."""

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


def _validator_of(schema: Mapping[str, Any]) -> Any:
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend, validator_for
    from referencing import Registry

    if not schema or len(json.dumps(schema)) > _MAX_SCHEMA:
        return None
    kind = validator_for(schema, default=Draft202012Validator)
    kind.check_schema(dict(schema))
    strict = bounded(kind)
    kept: dict[str, Any] = {
        "oneOf": strict.VALIDATORS.get("anyOf", _ignored),  # a value that may be converted often fits several
        "type": _type,
        "properties": _properties,
        "required": _required,
        "additionalProperties": _additional(strict.VALIDATORS["additionalProperties"]),
        "enum": _enum,
        "const": lambda validator, value, instance, schema: _enum(validator, [value], instance, schema),
    }
    lenient = extend(strict, validators={**dict.fromkeys(_LEFT_TO_THE_SERVER, _ignored), **kept})  # type: ignore[no-untyped-call]
    # An empty registry, since the default one fetches remote references.
    return lenient(schema, registry=Registry())


_LEFT_TO_THE_SERVER: Final = ("pattern", "patternProperties", "format", "not", "if", "contains")


def _ignored(*_: object) -> Iterator[Any]:
    return iter(())


def _type(validator: Any, types: Any, instance: Any, _: Any) -> Iterator[Any]:
    names = [types] if isinstance(types, str) else types
    if not any(validator.is_type(instance, name) or _may_become(name, instance) for name in names):
        yield validation_error("has another type")


def _may_become(name: str, value: Any) -> bool:
    """Whether servers convert `value`, which has another type, to the type `name`."""
    if name in {"array", "object"}:
        return isinstance(value, str)  # as JSON, or with separators
    if name == "null" or isinstance(value, list | dict):
        return False
    if name == "string" or value is None:
        return True
    if name == "boolean":
        return isinstance(value, str) or value in {0, 1}
    if not isinstance(value, str):
        return isinstance(value, bool)
    number = _number(value)
    return number is not None and (name == "number" or number.is_integer())


def _number(text: str) -> float | None:
    """The number in a text, as servers in several languages read it; None if it has no number."""
    text = text.strip() or "0"
    number = quietly(lambda: float(text), None)
    if number is None:
        number = quietly(lambda: float(int(text, 0)), None)  # 0x10
    return number if number is not None and math.isfinite(number) else None


def _properties(validator: Any, known: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if not validator.is_type(instance, "object"):
        return
    required = schema.get("required", [])
    for name, inner in known.items():
        # Many clients send null for what they leave out.
        if name in instance and (instance[name] is not None or name in required):
            yield from validator.descend(instance[name], inner, path=name, schema_path=name)


def _required(validator: Any, names: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if validator.is_type(instance, "object") and _missing(names, instance, schema):
        yield validation_error("lacks a property")


def _missing(names: list[str], instance: Mapping[str, Any], schema: Mapping[str, Any]) -> list[str]:
    """The names of the required properties that are missing, and for which the schema says no default."""
    known = schema.get("properties", {})
    return [name for name in names if name not in instance and "default" not in object_in(known, name)]


def _confused(missing: list[str], instance: Mapping[str, Any], schema: Mapping[str, Any]) -> list[str]:
    """The given names that were most likely meant for missing ones, where the schema allows no other names."""
    known = schema.get("properties", {})
    if schema.get("additionalProperties") is not False:
        return []
    unknown = [str(name)[:100] for name in instance if name not in known][:_MAX_CONFUSED]
    return [name for name in unknown if difflib.get_close_matches(name, missing, n=1, cutoff=_NEAR)]


def _additional(check: Any) -> Any:
    """The keyword without its form that forbids; null passes, as for other properties that are not required."""

    def checked(validator: Any, rest: Any, instance: Any, schema: Any) -> Iterator[Any]:
        if isinstance(rest, dict) and validator.is_type(instance, "object"):
            sent = {name: value for name, value in instance.items() if value is not None}
            yield from check(validator, rest, sent, schema)

    return checked


def _enum(_: Any, choices: Any, instance: Any, __: Any) -> Iterator[Any]:
    """Refuse another value of the same type, and a list or an object for a scalar."""
    kinds = {_kind(choice) for choice in choices if choice is not None}
    nested = isinstance(instance, list | dict) and not kinds & {"list", "dict"}
    comparable = kinds == {_kind(instance)} or nested
    if comparable and _comparable(instance) not in map(_comparable, choices):
        yield validation_error("is no choice")


def _kind(value: Any) -> str:
    return "number" if isinstance(value, int | float) and not isinstance(value, bool) else type(value).__name__


def _comparable(value: Any) -> Any:
    """A value as it is compared with the choices; servers may ignore case and spaces."""
    return value.strip().casefold() if isinstance(value, str) else value


def _lines(error: Any) -> list[Any]:
    """One error of JSON Schema as errors of pydantic, which the texts and hints are made of."""
    from pydantic_core import InitErrorDetails, PydanticCustomError

    loc, value, rule = tuple(error.absolute_path), error.validator_value, error.validator

    def line(kind: Any, *more: str, **ctx: Any) -> InitErrorDetails:
        return InitErrorDetails(type=kind, loc=(*loc, *more), input=error.instance, ctx=ctx)

    if rule == "required":
        missing = _missing(value, error.instance, error.schema)
        confused = _confused(missing, error.instance, error.schema)
        return [line("missing", name) for name in missing] + [line("extra_forbidden", name) for name in confused]
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


@dataclass(slots=True)
class Listing:
    """The tools of one server."""

    tools: dict[str, ListedTool] = field(default_factory=dict)
    fields: dict[str, frozenset[str]] = field(default_factory=dict)
    """The fields that the output schemas of the tools declare."""

    _validators: dict[str, Any] = field(default_factory=dict)

    _sizes: dict[str, int] = field(default_factory=dict)

    complete: bool = False
    """Whether the last page of the list was read, or the server has no list."""

    def learn(self, page: Json, overlay: Overlay | None = None) -> None:
        """Take the tools of one page, with the hints that the overlay adds."""
        for tool in filter(lambda tool: isinstance(tool, dict), list_in(page, "tools")):
            listed = listed_tool(tool if overlay is None else annotated(tool, overlay.tools))
            if listed is None:
                continue
            self.tools[listed.name] = listed
            self._sizes[listed.name] = len(write(tool))
            self._validators.pop(listed.name, None)
            self.fields[listed.name] = declared_fields(tool.get("outputSchema"))
        if not page.get("nextCursor"):
            self.complete = True

    def forget(self) -> None:
        """Forget all tools; the server says that they have changed, or was started again."""
        self.tools.clear()
        self.fields.clear()
        self._validators.clear()
        self._sizes.clear()
        self.complete = False

    @property
    def size(self) -> int:
        """Bytes of the tools, as JSON."""
        return sum(self._sizes.values())

    def get(self, name: str) -> ListedTool | None:
        """The tool of that name, or None."""
        return self.tools.get(name)

    def may_have(self, name: str) -> bool:
        """Whether the server may have a tool of that name, which a server that lists none has not denied."""
        return name in self.tools or not self.tools or not self.complete

    def misfit(self, name: str, arguments: Mapping[str, Any]) -> FrameworkError | None:
        """The failure of calling the tool of that name with arguments that cannot fit it; None if they may."""
        tool = self.tools.get(name)
        # A schema of a server may be broken, nested without end, or take too long; then only the server can say.
        return None if tool is None else quietly(lambda: self._misfit(tool, arguments), None)

    def _misfit(self, tool: ListedTool, arguments: Mapping[str, Any]) -> FrameworkError | None:
        if tool.name not in self._validators:
            # Made once for each tool, since that takes longer than many calls. It stays None if it cannot be made.
            self._validators[tool.name] = None
            self._validators[tool.name] = _validator_of(tool.input_schema)
        validator = self._validators[tool.name]
        if validator is None or len(json.dumps(arguments)) > _MAX_ARGUMENTS:
            return None
        with time_limit():
            errors = list(itertools.islice(validator.iter_errors(dict(arguments)), _MAX_ERRORS))
        if not errors:
            return None
        from pydantic_core import ValidationError

        lines = [line for error in errors for line in _lines(error)]
        failed = ValidationError.from_exception_data(tool.name, lines)
        return invalid_arguments_error(failed, tool.input_schema, tool.name, arguments)


def declared_fields(schema: object) -> frozenset[str]:
    """The fields of a tool's own results, by its output schema, without the failure that mcpcore adds there."""
    if not isinstance(schema, dict):
        return frozenset()
    own = quietly(lambda: without_error(schema), schema)
    declared = quietly(lambda: properties(own, own), {})
    if declared.keys() == {"result"}:
        # The Python SDKs wrap the value of a handler that returns a union.
        declared = quietly(lambda: properties(declared["result"], own), {}) or declared
    return frozenset(declared)


_NAMES: Final = {
    "tools": ("tools", "name"),
    "resources": ("resources", "uri"),
    "resourceTemplates": ("resources", "uriTemplate"),
    "prompts": ("prompts", "name"),
}
"""The lists that a page may have, the section of the overlay about them, and the key with the name of an item."""


def with_contracts(page: Json, overlay: Overlay) -> Json | None:
    """A page of a list whose items advertise the contract, and whose output schemas admit a failure.

    Older clients check the structured content of a failure, too. None if the page can stay as it is.
    """
    changes: Json = {}
    for key, (section, name) in _NAMES.items():
        items = page.get(key)
        if isinstance(items, list):
            contracts = overlay.sections[section]
            new = [_with_contract(item, contracts, name, key) if isinstance(item, dict) else item for item in items]
            if any(item is not old for item, old in zip(new, items, strict=True)):
                changes[key] = new
    return {**page, **changes} if changes else None


def annotated(tool: Json, section: Section) -> Json:
    """A tool of `tools/list` with the hints that the overlay adds; a hint that the server gives itself stays."""
    added = section.hints_of(tool.get("name"))
    own = object_in(tool, "annotations")
    missing = {name: value for name, value in added.items() if own.get(name) is None}
    return {**tool, "annotations": {**own, **missing}} if missing else tool


def _with_contract(item: Json, contracts: Section, name: str, key: str) -> Json:
    effects: ToolEffects | None = None
    if key == "tools":
        item = annotated(item, contracts)
        effects = default_effects(item.get("annotations"))
    changes: Json = {}
    schema = item.get("outputSchema")
    if isinstance(schema, dict):
        admitting = quietly(
            lambda: schema if without_error(schema) is not schema else admitting_error(schema, is_foreign=True), schema
        )
        if admitting is not schema:
            changes["outputSchema"] = admitting
    contract = contracts.contract_of(item.get(name))
    if len(contract):
        meta = object_in(item, "_meta")
        # The server's own entries come first: where both declare a reason, the server knows better.
        own = list_in(meta, CONTRACT_META_KEY)
        declared = {entry.get("reason") for entry in own if isinstance(entry, dict)}
        added = [
            entry for entry in contract.to_json(effects) if isinstance(entry, dict) and entry["reason"] not in declared
        ]
        if added:
            changes["_meta"] = {**meta, CONTRACT_META_KEY: [*own, *added]}
    return {**item, **changes} if changes else item
