"""The fields of a pydantic model, TypedDict, dataclass, NamedTuple or annotated class of the project."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final, NamedTuple

from mcpcore_lint.dataclasses import light
from mcpcore_lint.model import CallValue, Const, Mapping, Missing, Symbol, options, string
from mcpcore_lint.semantics.annotations import unquote
from mcpcore_lint.semantics.evaluate import Resolver
from mcpcore_lint.semantics.symbols import class_info

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore_lint.model import Value
    from mcpcore_lint.syntax.module import ClassInfo, Module
    from mcpcore_lint.syntax.scopes import Scope

RESERVED: Final = frozenset({"reason", "retryable", "recovery"})
"""Keys of `data` that the framework writes; they belong to no data model."""

_KINDS: Final = {
    "pydantic.BaseModel": "pydantic",
    "pydantic.main.BaseModel": "pydantic",
    "sqlmodel.SQLModel": "pydantic",
    "typing.TypedDict": "typeddict",
    "typing.NamedTuple": "namedtuple",
    "typing.Generic": "class",
    "typing.Protocol": "class",
    "abc.ABC": "class",
    "builtins.object": "class",
}
_DATACLASSES: Final = frozenset({"dataclasses.dataclass", "pydantic.dataclasses.dataclass"})
_HARMLESS_DECORATORS: Final = frozenset({"typing.final", "typing.type_check_only"})
_RENAMING_OPTIONS: Final = frozenset(
    {"alias_generator", "populate_by_name", "validate_by_name", "validate_by_alias", None}
)
_DEEPEST: Final = 20


class ModelField(NamedTuple):
    """A field of a model."""

    name: str
    sent: str | None
    """Its name in JSON; None if it is not sent, or if the name is unknown."""
    required: bool
    node: ast.AST
    module: Module


@light
class DataModel:
    """The fields of a model, by their names in the class."""

    name: str
    kind: str
    fields: dict[str, ModelField]
    open: bool
    """Whether it accepts other keys too."""
    certain: bool
    """Whether its input has exactly these keys: no aliases, validators or unknown decorators."""

    @property
    def required(self) -> tuple[str, ...]:
        """The fields without a default."""
        return tuple(name for name, field in self.fields.items() if field.required)

    @property
    def optional(self) -> tuple[str, ...]:
        """The fields with a default."""
        return tuple(name for name, field in self.fields.items() if not field.required)


def data_model(value: Value) -> DataModel | None:
    """The model that an entry's `data` names; None if its keys are not all known."""
    model = read_model(value)
    usable = model is not None and model.certain and model.kind in {"pydantic", "typeddict", "dataclass"}
    return model if usable else None


def read_model(value: Value) -> DataModel | None:
    """The model that a class is; None if it is not a class of the project, or has an unknown base."""
    info = class_info(value) if isinstance(value, Symbol) else None
    if info is None:
        return None
    # Many tools return the same few models.
    key = ("model", info.node)
    if key not in info.module.memo:
        info.module.memo[key] = _read(info, 0)
    model: DataModel | None = info.module.memo[key]
    return model


def _read(info: ClassInfo, depth: int) -> DataModel | None:
    model = DataModel(info.node.name, "class", {}, open=False, certain=True)
    for base in info.node.bases:
        symbol = Resolver().expression(base.value if isinstance(base, ast.Subscript) else base, info.scope)
        kind = _KINDS.get(symbol.name) if isinstance(symbol, Symbol) else None
        if kind is None:
            above = class_info(symbol) if isinstance(symbol, Symbol) and depth < _DEEPEST else None
            parent = _read(above, depth + 1) if above is not None else None
            if parent is None:
                return None
            kind = parent.kind
            model.fields.update(parent.fields)
            model.open, model.certain = parent.open, model.certain and parent.certain
        model.kind = kind if kind != "class" else model.kind
    for decorator in info.node.decorator_list:
        value = Resolver().expression(decorator, info.scope)
        maker = value.func if isinstance(value, CallValue) else value
        if isinstance(maker, Symbol) and maker.name in _DATACLASSES:
            model.kind = "dataclass"
        elif not isinstance(maker, Symbol) or maker.name not in _HARMLESS_DECORATORS:
            model.certain = False
    _read_fields(info, model)
    for key, option in _configuration(info):
        if key == "extra":
            model.open = not (isinstance(option, Const) and option.value in {"forbid", "ignore"})
        elif key in _RENAMING_OPTIONS:
            model.certain = False
            for name, field in model.fields.items() if key in {"alias_generator", None} else ():
                model.fields[name] = field._replace(sent=None if field.sent == name else field.sent)
    return model


def _read_fields(info: ClassInfo, model: DataModel) -> None:
    total = not any(
        keyword.arg == "total" and isinstance(keyword.value, ast.Constant) and keyword.value.value is False
        for keyword in info.node.keywords
    )
    for statement in info.node.body:
        if isinstance(statement, ast.FunctionDef) and "validator" in "".join(
            map(ast.unparse, statement.decorator_list)
        ):
            model.certain = False  # `mode="before"` may accept any keys.
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
            continue
        name = statement.target.id
        annotation = unquote(statement.annotation)
        head = annotation.value if isinstance(annotation, ast.Subscript) else annotation
        symbol = Resolver().expression(head, info.scope) if head is not None else None
        wrapper = symbol.name if isinstance(symbol, Symbol) else ""
        if wrapper in {"typing.ClassVar", "dataclasses.KW_ONLY"} or name.startswith("_") or name == "model_config":
            continue
        required = statement.value is None
        if model.kind == "typeddict":
            required = wrapper == "typing.Required" or (total and wrapper != "typing.NotRequired")
        sent: str | None = name
        for call in _field_calls(
            statement.value, annotation if wrapper == "typing.Annotated" else None, info.body_scope
        ):
            sent = _sent_name(call, name)
            if call.node is statement.value:
                required = requires_value(call)
            renames = any(not isinstance(call.argument(key), Missing) for key in ("alias", "validation_alias", "init"))
            model.certain = model.certain and call.complete and not renames
        model.fields[name] = ModelField(name, sent, required, statement.target, info.module)


def _field_calls(default: ast.expr | None, annotated: ast.expr | None, scope: Scope) -> Iterator[CallValue]:
    """The calls of `Field(...)` that describe a field: its default, and the metadata of `Annotated`."""
    written = [default] if default is not None else []
    if isinstance(annotated, ast.Subscript) and isinstance(annotated.slice, ast.Tuple):
        written += annotated.slice.elts[1:]
    for node in written:
        value = Resolver().expression(node, scope)
        if isinstance(value, CallValue) and value.func.name.rpartition(".")[2] in {"Field", "field"}:
            yield value


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
    for key in ("serialization_alias", "alias"):
        alias = call.argument(key)
        if not isinstance(alias, Missing) and not (isinstance(alias, Const) and alias.value is None):
            names = {string(option) for option in options(alias)}
            return names.pop() if len(names) == 1 else None
    return name


def _configuration(info: ClassInfo) -> Iterator[tuple[str | None, Value]]:
    """The options of a model; options that cannot be seen have the name None."""
    for keyword in info.node.keywords:
        if keyword.arg not in {"total", "metaclass"}:
            yield keyword.arg, Resolver().expression(keyword.value, info.scope)
    for binding in info.attributes.get("model_config", ()):
        value = Resolver().expression(binding.value, info.body_scope) if binding.value is not None else None
        if isinstance(value, CallValue):
            yield from value.keywords
        elif isinstance(value, Mapping):
            yield from ((key, value.get(key) or value) for key in value.keys)
        elif value is not None:
            yield None, value


def data_keys(value: Value) -> tuple[list[str], bool] | None:
    """The keys of some data, and whether there are no others; None if they are unknown."""
    if isinstance(value, Missing) or (isinstance(value, Const) and value.value is None):
        return [], True
    if not isinstance(value, Mapping):
        return None
    if not all(isinstance(key, Const) and isinstance(key.value, str) for key, _ in value.items):
        return None
    complete = value.complete
    if not complete and isinstance(value.node, ast.Dict):
        # `**ctx.recovery_for(...)` adds a reserved key and nothing else.
        unpacked = [item for key, item in zip(value.node.keys, value.node.values, strict=True) if key is None]
        complete = bool(unpacked) and all(map(_is_recovery, unpacked))
    return list(value.keys), complete


def _is_recovery(node: ast.expr) -> bool:
    """Whether an expression is `ctx.recovery_for(...)`."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "recovery_for"
