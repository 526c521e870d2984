"""A declared tool in the terms of the protocol: its schemas, and how arguments and results pass through them.

Built on the SDK's own function metadata, so that a contract tool describes and converts as the SDK's tools do; two
things differ: unknown arguments are rejected, and the advertised output schema admits the error.
"""

from __future__ import annotations

import functools
import inspect
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, get_args

from mcp.server.mcpserver.exceptions import InvalidSignature
from mcp.server.mcpserver.resolve import resolve_arguments
from mcp.server.mcpserver.tools.base import Tool as SDKTool
from mcp.server.mcpserver.utilities.func_metadata import FuncMetadata
from mcp.shared.uri_template import UriTemplate as UriTemplate  # noqa: PLC0414 - for `mcpcore.declare`
from mcp_types import CallToolResult, InputRequiredResult, ToolAnnotations
from pydantic import BaseModel, PydanticUserError, TypeAdapter, create_model
from pydantic_core import SchemaError, to_json

import mcpcore.sdk.errors  # noqa: F401 - the boundary reads the SDK's errors as soon as a handler is declared
from mcpcore.contract.data_schemas import readable
from mcpcore.contract.failure_modes import ContractError
from mcpcore.sdk.returned import ResultForm
from mcpcore.values.json_schema import inlined, properties, resolved
from mcpcore.wire.dialects.canonical import ERROR_SCHEMA

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcpcore.boundary.request import Request
    from mcpcore.declare.declaration import Declaration
    from mcpcore.wire.arguments import Places

# Keywords that an error need not satisfy, since they describe the result. Others stay at the root of a schema.
_RESULT_KEYWORDS: Final = (
    "required", "minProperties", "maxProperties", "propertyNames", "dependentRequired", "dependentSchemas",
    "dependencies", "unevaluatedProperties", "anyOf", "oneOf", "allOf", "not", "if", "then", "else", "enum", "const",
    "discriminator",  # it belongs to `oneOf`
)  # fmt: skip


_OF_TOOL: Final = ("title", "icons", "meta", "structured_output")
"""Options of a tool that the SDK takes as they are."""


def annotations_of(declaration: Declaration, chosen: ToolAnnotations | None = None) -> ToolAnnotations | None:
    """The annotations of a tool with the hints of its options; those of another decorator are `chosen`.

    Raises:
        ContractError: If they contradict each other.
    """
    annotations = chosen or declaration.options.annotations
    hints = declaration.hints_beside(annotations)
    if not hints:
        return annotations
    own = ToolAnnotations() if annotations is None else ToolAnnotations.model_validate(annotations)
    return own.model_copy(update=hints)


# Internal, so not frozen: freezing slows the import.
@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class ToolDefinition:
    """A declaration in the SDK's terms."""

    sdk: SDKTool
    output_schema: dict[str, Any] | None
    """The output schema with the error in it."""

    parse_json: frozenset[str]
    """Arguments that may come as JSON in a string, which some hosts do with lists and objects."""

    argument_names: tuple[tuple[str, str], ...]
    """The field of the argument model for each parameter of the handler."""

    positional: tuple[str, ...]
    """Parameters that the handler takes by position only."""

    is_plain: bool
    """Whether the handler takes the fields of the argument model under their own names, and nothing else by name."""

    _results: ResultForm | None = None
    _places: Places | None = None

    @property
    def places(self) -> Places:
        """The places in the arguments, in words."""
        if self._places is None:
            from mcpcore.wire.arguments import Places

            self._places = Places(self.sdk.parameters)
        return self._places

    @property
    def results(self) -> ResultForm:
        """How results are written."""
        if self._results is None:
            self._results = ResultForm.of(self.sdk.fn_metadata, self.sdk.output_schema)
        return self._results

    @classmethod
    def of(cls, declaration: Declaration) -> ToolDefinition:
        """Describe a declared tool.

        Raises:
            NameError: If an annotation names what is not defined yet.
            ContractError: If its parameters or its result cannot be described.
        """
        try:
            return cls._described(declaration)
        except (NameError, ContractError):
            raise
        except (InvalidSignature, PydanticUserError, SchemaError, ValueError, TypeError) as exc:
            part = _culprit(declaration, exc)
            raise ContractError(f"{declaration.where}: {f'{part}: ' if part else ''}{exc}") from exc
        except Exception as exc:  # the types of annotations run their own code, and pydantic asserts
            raise ContractError(
                f"{declaration.where}: {_culprit(declaration, exc) or 'the handler'} cannot be described to a client: "
                f"{type(exc).__name__}: {exc}; annotate it with another type"
            ) from exc

    @classmethod
    def _described(cls, declaration: Declaration) -> ToolDefinition:
        options = declaration.options
        of_tool: dict[str, Any] = {"structured_output": False}
        if declaration.noun == "tool":
            of_tool = {name: getattr(options, name) for name in _OF_TOOL}
            of_tool["annotations"] = annotations_of(declaration)
        sdk = SDKTool.from_function(
            _shim(declaration), name=declaration.name, description=options.description, **of_tool
        )
        # The model was made for this tool alone: to reject arguments that it does not have, it is built again.
        model = sdk.fn_metadata.arg_model
        model.model_config["extra"] = "forbid"
        model.model_rebuild(force=True)
        if "$defs" in sdk.parameters:  # there, dataclasses have become strict too
            sdk.parameters = model.model_json_schema(by_alias=True)
        else:
            # Sorted as pydantic sorts it, without making the schema a second time.
            sdk.parameters = dict(sorted({**sdk.parameters, "additionalProperties": False}.items()))
        sdk.fn_metadata = _with_an_object(sdk.fn_metadata, declaration.name)
        schema = sdk.fn_metadata.output_schema
        if schema is not None and "error" in properties(schema, schema):
            raise ContractError(
                f"{declaration.where}: the result has a field 'error', where clients look for a failure; rename the "
                "field, or raise a declared failure in its place"
            )
        # Made now, so that a data model without a schema fails where it is declared, and not each list of tools.
        for index, entry in enumerate(declaration.contract):
            try:
                entry.data_schema()
            except ContractError as exc:
                raise ContractError(f"{declaration.where}: errors[{index}]: {exc}") from exc
            except Exception as exc:  # the model's own annotations, evaluated
                raise ContractError(
                    f"{declaration.where}: errors[{index}]: data={getattr(entry.data, '__name__', entry.data)} has no "
                    f"JSON schema: {type(exc).__name__}: {exc}; correct the annotations of its fields"
                ) from exc
        parameters = declaration.signature.parameters
        names = [(parameter.name, _field_of(parameter.name, model.model_fields)) for parameter in parameters]
        argument_names = tuple((name, field) for name, field in names if field is not None)
        positional = tuple(p.name for p in parameters if p.kind is inspect.Parameter.POSITIONAL_ONLY)
        return cls(
            sdk=sdk,
            output_schema=None if schema is None else admitting_error(schema),
            parse_json=_parsed_names(sdk),
            argument_names=argument_names,
            positional=positional,
            is_plain=not positional
            and sdk.context_kwarg is None
            and model.model_config.get("extra") != "allow"
            and [name for name, _ in argument_names] == [field for _, field in argument_names] == [*model.model_fields],
        )

    def validate(self, arguments: Mapping[str, Any], *, strict: bool = False) -> dict[str, Any]:
        """The handler's arguments, converted and checked; with `strict`, a text is no number, and so on.

        Raises:
            pydantic.ValidationError: If they do not fit.
        """
        arg_model = self.sdk.fn_metadata.arg_model
        if self.parse_json:
            arguments = self._unpacked(arguments)
        if strict:
            # As JSON, in which a date or a member of an enumeration is a text also to a strict reader.
            model = arg_model.model_validate_json(to_json(arguments), strict=True)
        else:
            # `model_validate` only calls this, which costs a function.
            model = arg_model.__pydantic_validator__.validate_python(arguments)
        values = model.__dict__
        return values.copy() if self.is_plain else {name: values[field] for name, field in self.argument_names}

    def _unpacked(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        unpacked: dict[str, Any] | None = None
        for key in self.parse_json:
            value = arguments.get(key)
            if not isinstance(value, str):
                continue
            try:
                parsed = json.loads(value)
            except (ValueError, RecursionError):
                continue  # a string that is no JSON is for validation to accept or to reject
            # As the SDK does: the string itself may be meant, since "7" and "true" are also texts.
            if not isinstance(parsed, str | int | float):
                unpacked = dict(arguments) if unpacked is None else unpacked
                unpacked[key] = parsed
        return arguments if unpacked is None else unpacked

    async def resolve(self, arguments: dict[str, Any], request: Request) -> dict[str, Any] | InputRequiredResult:
        """The values of `Resolve(...)` parameters, or the questions that the client has to answer first."""
        return await resolve_arguments(self.sdk.resolved_params, self.sdk.resolver_plans, arguments, request.sdk)


def admitting_error(
    schema: dict[str, Any], failure: Mapping[str, Any] | None = None, *, is_foreign: bool = False
) -> dict[str, Any]:
    """`schema`, of a result, so that a failure fits it too.

    The root object keeps its properties and definitions; what constrains the result alone moves into the first
    branch of an `anyOf`, and the second asks for `error`. Older clients need `type: object` at the root. With
    `failure`, the schema of another dialect, which may share names with the result, the branches stand side by side.
    A schema that admits any failure already is returned unchanged. A result of mcpcore has the key `error` only if its
    schema names it; one of another server, if `is_foreign`, may have it wherever its schema allows that.
    """
    if _is_open(schema, _CANONICAL if failure is None else failure):
        return schema
    if failure is not None:
        shared = {str(key): schema[key] for key in ("title", "description", "$defs") if key in schema}
        result = {key: value for key, value in schema.items() if key not in shared}
        return {"type": "object", **shared, "anyOf": [result, dict(failure)]}
    if schema.get("type", "object") != "object":
        # Only the protocol of 2026-07-28 has such results; there the root needs no type.
        shared = {key: schema[key] for key in ("title", "description", "$defs") if key in schema}
        result = {key: value for key, value in schema.items() if key not in shared}
        alone = {"type": "object", "properties": {"error": ERROR_SCHEMA}, "required": ["error"]}
        return {**shared, "anyOf": [result, alone]}
    if schema.keys() <= _ADMITTING and schema.get("additionalProperties", True) in (True, {}):
        return schema  # a mapping of anything: it may have that key with any value itself
    is_closed = schema.get("additionalProperties") is False and "patternProperties" not in schema
    may_have_it = is_foreign and "error" not in schema.get("properties", {}) and not is_closed
    of_all_others = may_have_it or schema.keys() & {"patternProperties", "unevaluatedProperties"}
    moved = dict.fromkeys((*_RESULT_KEYWORDS, *(_EVERY_PROPERTY if of_all_others else ())))
    root = {key: value for key, value in schema.items() if key not in moved}
    branch: dict[str, Any] = {key: schema[key] for key in moved if key in schema}
    properties = dict(root["properties"]) if isinstance(root.get("properties"), dict) else {}
    own = properties.get("error")
    # Keywords about all other properties see only the properties of the same object.
    beside = properties if branch.keys() & _EVERY_PROPERTY else {}
    branch["properties"] = dict(beside) if may_have_it else {**beside, "error": False if own is None else own}
    failed: dict[str, Any] = {"required": ["error"]}
    if own is not None or may_have_it:
        failed["properties"] = {"error": ERROR_SCHEMA}
    properties["error"] = {} if "properties" in failed else ERROR_SCHEMA
    root.setdefault("type", "object")
    return {**root, "properties": properties, "anyOf": [branch, failed]}


_CANONICAL: Final[Mapping[str, Any]] = {"properties": {"error": ERROR_SCHEMA}}

_OF_OPEN_OBJECTS: Final = frozenset({
    "type", "properties", "required", "additionalProperties", "title", "description", "default", "examples", "$defs",
    "definitions", "$schema", "$id", "$comment",
})  # fmt: skip
"""Keywords with which the schema of an object is open; any other may refuse a failure."""


def _is_open(schema: Mapping[str, Any], failure: Mapping[str, Any]) -> bool:
    """Whether `schema` is of an object that has no required fields and takes any others, so that `failure` fits it."""
    fields = schema.get("properties", {})
    return (
        schema.get("type") == "object"
        and schema.keys() <= _OF_OPEN_OBJECTS
        and schema.get("additionalProperties", True) in (True, {})
        and not schema.get("required")
        and isinstance(fields, dict)
        and fields.keys().isdisjoint(failure.get("properties", fields))
    )


def without_error(schema: dict[str, Any]) -> dict[str, Any]:
    """Undo `admitting_error` in its canonical form; any other schema is returned unchanged."""
    properties, branches = schema.get("properties"), schema.get("anyOf")
    if not isinstance(branches, list) or len(branches) != 2 or not all(isinstance(branch, dict) for branch in branches):
        return schema  # the schema of a branch may be a bool
    result, failed = branches
    if failed == {"type": "object", "properties": {"error": ERROR_SCHEMA}, "required": ["error"]}:
        return {**{key: value for key, value in schema.items() if key != "anyOf"}, **result}
    if not isinstance(properties, dict) or failed.get("required") != ["error"] or "error" not in properties:
        return schema
    of_result = result.get("properties")
    own = of_result.get("error") if isinstance(of_result, dict) else None
    may_fail = failed.get("properties") == {"error": ERROR_SCHEMA}
    if (own is False and properties["error"] == ERROR_SCHEMA) or (own is None and may_fail):
        kept = {name: value for name, value in properties.items() if name != "error"}
    elif may_fail:
        kept = {name: own if name == "error" else value for name, value in properties.items()}
    else:
        return schema
    root = {key: value for key, value in schema.items() if key not in ("anyOf", "properties")}
    moved = {key: value for key, value in result.items() if key != "properties"}
    return {**root, "properties": kept, **moved}


_ADMITTING: Final = frozenset({"type", "title", "description", "additionalProperties", "$defs"})
"""Keywords of a schema that no failure breaks."""

_EVERY_PROPERTY: Final = ("patternProperties", "additionalProperties", "unevaluatedProperties")


def _with_an_object(metadata: FuncMetadata, name: str) -> FuncMetadata:
    """`metadata` of a tool whose structured content is an object, and is described as it is sent.

    A `RootModel` of anything else is wrapped as the SDK wraps a list: before 2026-07-28 a result that is no object
    makes the whole list of tools invalid.
    """
    schema, model = metadata.output_schema, metadata.output_model
    if schema is None or model is None:
        return metadata
    if not _is_object(schema, schema, depth=20):
        wrapped = create_model(f"{name}Output", result=(model, ...))
        return FuncMetadata(arg_model=metadata.arg_model, output_model=wrapped, wrap_output=True)
    # The SDK describes what is read; aliases for writing and computed fields are in what is sent.
    if not _is_sent_as_read(model):
        sent = inlined(TypeAdapter(readable(model)).json_schema(mode="serialization"))
        if properties(sent, sent).keys() != properties(schema, schema).keys():
            schema = sent
    return metadata.model_copy(update={"output_schema": {"type": "object", **schema}})


def _is_sent_as_read(model: Any) -> bool:
    """Whether pydantic surely writes the fields of a model under the names that it reads; it says so for plain ones."""
    core = getattr(model, "__pydantic_core_schema__", {})
    fields = core.get("schema", core)
    return (
        (core.get("type"), fields.get("type")) == ("model", "model-fields")
        and not ("serialization" in core or "serialization" in fields or fields.get("computed_fields"))
        # Any other part of a field may change its name, or whether it is sent.
        and all(field.keys() <= {"type", "schema", "metadata"} for field in fields["fields"].values())
        and model.__get_pydantic_json_schema__.__func__ is vars(BaseModel)["__get_pydantic_json_schema__"].__func__
    )


def _is_object(node: object, root: Mapping[str, Any], *, depth: int) -> bool:
    node = resolved(node, root)
    if "type" in node or depth <= 0:
        return bool(node.get("type") == "object")
    unions = [branch for key in ("anyOf", "oneOf") for branch in node.get(key, ())]
    return bool(unions) and all(_is_object(branch, root, depth=depth - 1) for branch in unions)


def _field_of(name: str, fields: Mapping[str, Any]) -> str | None:
    """The field for a parameter; the SDK prefixes names that a model has for itself. None for a resolved parameter."""
    return next((field for field in (name, f"field_{name}") if field in fields), None)


def _parsed_names(sdk: SDKTool) -> frozenset[str]:
    names = set()
    for field, info in sdk.fn_metadata.arg_model.model_fields.items():
        if info.annotation is not str:
            names |= {field, info.alias} if info.alias else {field}
    return frozenset(names)


def _shim(declaration: Declaration) -> Callable[..., Any]:
    """A function with the handler's name, documentation and resolved parameters, for the SDK to describe.

    It replaces methods, partials, callable objects and nested functions, whose annotations the SDK could not
    resolve; it is never called.
    """
    signature = declaration.signature

    def shim() -> None:  # pragma: no cover - described, never called
        raise AssertionError("a shim is described, never called")

    shim.__name__ = getattr(declaration.handler, "__name__", None) or declaration.name
    shim.__doc__ = _documentation(declaration.handler)
    shim.__module__ = getattr(declaration.handler, "__module__", __name__)
    parameters = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in signature.parameters]
    # A class that writes its own result, as FastMCP's `ToolResult`, is to the SDK a result that is written already.
    written = any(hasattr(part, "to_mcp_result") for part in (signature.returns, *get_args(signature.returns)))
    returns = CallToolResult if written else signature.returns
    shim.__signature__ = inspect.Signature(parameters, return_annotation=returns)  # type: ignore[attr-defined]
    shim.__annotations__ = {
        parameter.name: parameter.annotation
        for parameter in signature.parameters
        if parameter.annotation is not inspect.Parameter.empty
    }
    if returns is not inspect.Signature.empty:
        shim.__annotations__["return"] = returns
    return shim


def _culprit(declaration: Declaration, raised: Exception) -> str:
    """The parameter, or the result, whose type alone fails in the same way or as the only one; else empty."""
    signature = declaration.signature
    failed: dict[str, Exception] = {}
    parts = [(f"parameter {parameter.name!r}", parameter.annotation) for parameter in signature.parameters]
    for part, annotation in (*parts, ("the result", signature.returns)):
        if annotation is inspect.Parameter.empty:
            continue
        try:
            TypeAdapter(annotation).json_schema()
        except Exception as exc:  # noqa: BLE001 - compared with the error that was raised
            failed[part] = exc
    alike = [part for part, exc in failed.items() if (type(exc), str(exc)) == (type(raised), str(raised))]
    return (alike or (list(failed) if len(failed) == 1 else [""]))[0]


def _documentation(handler: Callable[..., Any]) -> str | None:
    """The handler's docstring; a partial has that of its function, since its own describes `functools.partial`."""
    while isinstance(handler, functools.partial):
        handler = handler.func
    return inspect.getdoc(handler)
