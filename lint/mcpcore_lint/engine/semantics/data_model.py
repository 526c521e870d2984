"""The fields of a pydantic model, TypedDict, dataclass, NamedTuple or annotated class of the project."""

import ast
from collections.abc import Iterator
from typing import Final, NamedTuple

from mcpcore_lint.dataclasses import light
from mcpcore_lint.engine.semantics.annotations import NamedType
from mcpcore_lint.engine.semantics.evaluate import Resolver, evaluate
from mcpcore_lint.engine.semantics.symbols import class_info
from mcpcore_lint.engine.semantics.type_model import ancestry
from mcpcore_lint.engine.syntax.module import ClassInfo, Module
from mcpcore_lint.model import CallValue, Const, Mapping, Missing, Symbol, Value, is_left_out, string

RESERVED: Final = frozenset({"reason", "retryable", "recovery"})
"""Keys of `data` that the framework writes; they belong to no data model."""

_ROOTS: Final = frozenset(
    {"pydantic.BaseModel", "pydantic.main.BaseModel", "sqlmodel.SQLModel", "typing.TypedDict", "typing.NamedTuple",
     "typing.Generic", "typing.Protocol", "abc.ABC", "builtins.object"}
)  # fmt: skip
"""Base classes outside the project that add no fields."""
_DECORATORS: Final = frozenset({"dataclasses.dataclass", "pydantic.dataclasses.dataclass", "typing.final"})
"""Decorators that change no keys."""


class ModelField(NamedTuple):
    """A field of a model."""

    name: str
    sent: str | None
    """Its name in JSON; None if it is not sent, or if the name is unknown."""
    required: bool
    annotation: ast.expr
    node: ast.AST
    module: Module


@light
class DataModel:
    """The fields of a model, by their names in the class."""

    name: str
    fields: dict[str, ModelField]
    open: bool = False
    """Whether it accepts other keys too."""
    certain: bool = True
    """Whether its input has exactly these keys: no aliases, validators or unknown decorators."""
    rewrites: bool = False
    """Whether its JSON or its schema may have other keys: a computed field, a serializer, a custom schema."""

    @property
    def required(self) -> list[str] | None:
        """The required fields of the JSON; None if they are not those that the class shows."""
        is_known = self.certain and not self.rewrites and all(field.sent is not None for field in self.fields.values())
        names = [field.sent for field in self.fields.values() if field.required and field.sent is not None]
        return names if is_known else None


def read_model(value: Value) -> DataModel | None:
    """The model that a class is; None if it is not a class of the project, or has an unknown base."""
    info = class_info(value) if isinstance(value, Symbol) else None
    if info is None:
        return None
    # Many tools return the same few models.
    return info.module.once(("model", info.node), lambda: _read(info))


def _read(info: ClassInfo) -> DataModel | None:
    model = DataModel(info.node.name, {})
    owners = ancestry(info)
    bases = {Resolver().annotation_symbol(base, owner.scope) for owner in owners for base in owner.node.bases}
    known = {owner.node for owner in owners}
    if any(base is None or (base.name not in _ROOTS and base.definition not in known) for base in bases):
        return None
    is_typed_dict = any(base is not None and base.name == "typing.TypedDict" for base in bases)
    for owner in reversed(owners):
        decorators = [getattr(node, "func", node) for node in owner.node.decorator_list]
        symbols = [Resolver().annotation_symbol(node, owner.scope) for node in decorators]
        model.certain = model.certain and all(symbol and symbol.name in _DECORATORS for symbol in symbols)
        configured = [option.arg for node in owner.node.decorator_list for option in getattr(node, "keywords", ())]
        model.certain = model.certain and "config" not in configured
        _read_fields(owner, model, is_typed_dict=is_typed_dict)
        for key, option in _configuration(owner):
            if key == "extra":
                model.open = not (isinstance(option, Const) and option.value in {"forbid", "ignore"})
            elif key in {"json_schema_extra", "json_schema_serialization_defaults_required"}:
                model.rewrites = True
            elif key in {"alias_generator", None}:
                model.certain = False
                model.fields = {name: field._replace(sent=None) for name, field in model.fields.items()}
    return model


def _read_fields(info: ClassInfo, model: DataModel, *, is_typed_dict: bool) -> None:
    total = "total=False" not in map(ast.unparse, info.node.keywords)
    for statement in info.node.body:
        if isinstance(statement, ast.FunctionDef):
            decorators = "".join(map(ast.unparse, statement.decorator_list))
            # `mode="before"` may accept any keys.
            model.certain = model.certain and "validator" not in decorators
            is_hook = statement.name.startswith("__get_pydantic_")
            model.rewrites |= is_hook or "computed_field" in decorators or "serializer" in decorators
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
            continue
        name = statement.target.id
        types = Resolver().named_types(statement.annotation, info.scope)
        wrappers = {wrapper for named in types for wrapper in (named.name, *named.wrappers)}
        if wrappers & {"typing.ClassVar", "dataclasses.KW_ONLY"} or name.startswith("_") or name == "model_config":
            continue
        required = statement.value is None
        if is_typed_dict:
            required = "typing.Required" in wrappers or (total and "typing.NotRequired" not in wrappers)
        # `Field(...)` is the default, or among the metadata of `Annotated`.
        written = [(statement.value, info.body_scope)] if statement.value is not None else []
        # That of one member of a union says nothing about the field.
        written += [
            extra for extra in (types[0].metadata if types else ()) if all(extra in named.metadata for named in types)
        ]
        sent: str | None = name
        for call in (evaluate(*pair) for pair in written):
            if not isinstance(call, CallValue) or call.func.name.rpartition(".")[2] not in {"Field", "field"}:
                continue
            sent = _sent_name(call, name)
            if call.node is statement.value:
                required = requires_value(call)
            renames = any(not isinstance(call.argument(key), Missing) for key in ("alias", "validation_alias", "init"))
            model.certain = model.certain and call.complete and not renames
        model.fields[name] = ModelField(name, sent, required, statement.annotation, statement.target, info.module)


def requires_value(call: CallValue) -> bool:
    """Whether a call of `Field(...)` gives no default."""
    if not isinstance(call.argument("default_factory"), Missing):
        return False
    default = call.argument("default", 0)
    return isinstance(default, Missing) or (isinstance(default.node, ast.Constant) and default.node.value is Ellipsis)


def _sent_name(call: CallValue, name: str) -> str | None:
    """The name under which a field is sent; None if it is not sent, or if the name is unknown."""
    excluded = call.argument("exclude")
    if not isinstance(excluded, Missing) and not (isinstance(excluded, Const) and not excluded.value):
        return None
    aliases = (call.argument(key) for key in ("serialization_alias", "alias"))
    return next((string(alias) for alias in aliases if not is_left_out(alias)), name)


def _configuration(info: ClassInfo) -> Iterator[tuple[str | None, Value]]:
    """The options of a model; options that cannot be seen have the name None."""
    for keyword in info.node.keywords:
        if keyword.arg not in {"total", "metaclass"}:
            yield keyword.arg, evaluate(keyword.value, info.scope)
    for binding in (*info.attributes.get("model_config", ()), *info.attributes.get("__pydantic_config__", ())):
        value = evaluate(binding.value, info.body_scope) if binding.value is not None else None
        if isinstance(value, CallValue):
            yield from value.keywords
        elif isinstance(value, Mapping):
            yield from ((string(key), option) for key, option in value.items)
        elif value is not None:
            yield None, value


def data_keys(value: Value) -> tuple[list[str], bool] | None:
    """The keys of some data, and whether there are no others; None if they are unknown."""
    if is_left_out(value):
        return [], True
    if not isinstance(value, Mapping):
        return None
    keys = [string(key) for key, _ in value.items]
    complete = value.complete
    if not complete and isinstance(value.node, ast.Dict):
        # `**ctx.recovery_for(...)` adds a reserved key and nothing else.
        unpacked = [item for key, item in zip(value.node.keys, value.node.values, strict=True) if key is None]
        complete = bool(unpacked) and all(
            isinstance(item, ast.Call) and getattr(item.func, "attr", "") == "recovery_for" for item in unpacked
        )
    return None if None in keys else ([key for key in keys if key is not None], complete)


def error_field(function: ast.FunctionDef | ast.AsyncFunctionDef, module: Module) -> tuple[str, ModelField] | None:
    """The model that a function returns and its field that is sent as `error`, where clients look for a failure."""
    scope = module.scope_of(function)
    model = _returned_model(Resolver().named_types(function.returns, scope.parent or scope))
    fields = model.fields.values() if model is not None else ()
    return next(((model.name, field) for field in fields if model is not None and field.sent == "error"), None)


def _returned_model(types: list[NamedType]) -> DataModel | None:
    """The model that a return annotation names, also as a generic or in `Annotated`."""
    if len(types) != 1:
        return None
    symbol, *_, metadata = types[0]
    # The SDK's way to annotate the content of a result that the handler builds itself.
    if types[0].name == "mcp.CallToolResult" and metadata:
        symbol = Resolver().annotation_symbol(*metadata[0])
    return read_model(symbol) if symbol is not None else None
