"""The keys that a failure mode's data model takes: of a pydantic model, a TypedDict or a dataclass of the project."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.dataclasses import light
from mcpcore_lint.model import CallValue, Const, Symbol
from mcpcore_lint.semantics.annotations import unquote
from mcpcore_lint.semantics.evaluate import Resolver, evaluate
from mcpcore_lint.semantics.symbols import class_info

if TYPE_CHECKING:
    from mcpcore_lint.model import Value
    from mcpcore_lint.syntax.module import ClassInfo

RESERVED: Final = frozenset({"reason", "retryable", "recovery"})
"""Keys that the framework writes, outside every data model."""
_ROOTS: Final = {
    "pydantic.BaseModel": "pydantic",
    "pydantic.main.BaseModel": "pydantic",
    "typing.TypedDict": "typeddict",
    "builtins.object": "plain",
    "typing.Generic": "plain",
    "abc.ABC": "plain",
}


@light
class DataModel:
    """The keys of a data model. `open` is whether it takes others too."""

    name: str
    required: tuple[str, ...]
    optional: tuple[str, ...]
    open: bool


def data_model(value: Value) -> DataModel | None:
    """The model that an entry's `data` names; None where its keys cannot all be known."""
    if not isinstance(value, Symbol):
        return None
    info = class_info(value)
    if info is None:
        return None
    reader = _Reader()
    kind = reader.read(info, 0)
    if kind is None or kind == "plain" or reader.unsure:
        return None
    required = tuple(each for each, needed in reader.fields.items() if needed)
    optional = tuple(each for each, needed in reader.fields.items() if not needed)
    return DataModel(info.node.name, required, optional, reader.open or kind == "dataclass_open")


class _Reader:
    def __init__(self) -> None:
        self.fields: dict[str, bool] = {}
        self.open = False
        self.unsure = False
        self.is_dataclass = False

    def read(self, info: ClassInfo, depth: int) -> str | None:
        """Take the fields of a class, those of its bases first; what kind of class it is."""
        if depth > 10:
            return None
        kind: str | None = "plain"
        for base in info.node.bases:
            target = base.value if isinstance(base, ast.Subscript) else base
            symbol = Resolver().expression(target, info.scope)
            if not isinstance(symbol, Symbol):
                return None
            root = _ROOTS.get(symbol.name)
            if root is None:
                parent = class_info(symbol)
                root = self.read(parent, depth + 1) if parent is not None else None
            if root is None:
                return None
            kind = root if root != "plain" else kind
        decorated = [Resolver().expression(each, info.scope) for each in info.node.decorator_list]
        for each in decorated:
            name = each.func.name if isinstance(each, CallValue) else each.name if isinstance(each, Symbol) else ""
            if name in {"dataclasses.dataclass", "pydantic.dataclasses.dataclass"}:
                kind = "dataclass"
            elif name in {"typing.final", "pydantic.with_config", "typing.type_check_only"}:
                self.unsure = self.unsure or name == "pydantic.with_config"
            else:
                self.unsure = True
        if kind in {"pydantic", "typeddict", "dataclass"}:
            self._fields(info, kind)
        self._keywords(info)
        return kind

    def _keywords(self, info: ClassInfo) -> None:
        for each in info.node.keywords:
            if each.arg == "extra":
                self.open = isinstance(each.value, ast.Constant) and each.value.value == "allow"
            elif each.arg in {"alias_generator", "populate_by_name"}:
                self.unsure = True

    def _fields(self, info: ClassInfo, kind: str) -> None:
        total = not any(
            each.arg == "total" and isinstance(each.value, ast.Constant) and each.value.value is False
            for each in info.node.keywords
        )
        for statement in info.node.body:
            if isinstance(statement, ast.Assign) and any(
                isinstance(each, ast.Name) and each.id == "model_config" for each in statement.targets
            ):
                self._config(statement.value, info)
            if isinstance(statement, ast.FunctionDef) and any(
                "validator" in ast.unparse(each) for each in statement.decorator_list
            ):
                self.unsure = True  # `mode="before"` may take any keys
            if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
                continue
            name = statement.target.id
            annotation = unquote(statement.annotation)
            head = annotation.value if isinstance(annotation, ast.Subscript) else annotation
            symbol = evaluate(head, info.scope) if head is not None else None
            wrapper = symbol.name if isinstance(symbol, Symbol) else ""
            if wrapper in {"typing.ClassVar", "dataclasses.KW_ONLY"} or name.startswith("_") or name == "model_config":
                continue
            if kind == "typeddict":
                self.fields[name] = wrapper == "typing.Required" or (total and wrapper != "typing.NotRequired")
                continue
            if wrapper == "typing.Annotated" and annotation is not None and "alias" in ast.unparse(annotation):
                self.unsure = True
            self.fields[name] = self._needed(statement.value, info)

    def _needed(self, default: ast.expr | None, info: ClassInfo) -> bool:
        if default is None:
            return True
        value = evaluate(default, info.scope)
        if isinstance(default, ast.Constant) and default.value is Ellipsis:
            return True
        if isinstance(value, CallValue) and value.func.name.rpartition(".")[2] in {"Field", "field"}:
            call = value.node
            assert isinstance(call, ast.Call)
            names = {each.arg for each in call.keywords}
            if names & {"alias", "validation_alias", None} or any(each.arg == "init" for each in call.keywords):
                self.unsure = True
            first = call.args[0] if call.args else None
            if first is not None:
                return isinstance(first, ast.Constant) and first.value is Ellipsis
            default_given = next((each.value for each in call.keywords if each.arg == "default"), None)
            if default_given is not None:
                return isinstance(default_given, ast.Constant) and default_given.value is Ellipsis
            return "default_factory" not in names
        return False

    def _config(self, node: ast.expr, info: ClassInfo) -> None:
        value = evaluate(node, info.scope)
        if not isinstance(value, CallValue) and not isinstance(node, ast.Dict):
            self.unsure = True
            return
        pairs: list[tuple[str | None, ast.expr]] = []
        if isinstance(node, ast.Call):
            pairs = [(each.arg, each.value) for each in node.keywords]
        elif isinstance(node, ast.Dict):
            for key, given in zip(node.keys, node.values, strict=True):
                text = key.value if isinstance(key, ast.Constant) else None
                pairs.append((text if isinstance(text, str) else None, given))
        for name, given in pairs:
            if name is None or name in {"alias_generator", "populate_by_name", "validate_by_name", "validate_by_alias"}:
                self.unsure = True
            elif name == "extra":
                found = evaluate(given, info.scope)
                self.open = not (isinstance(found, Const) and found.value in {"forbid", "ignore"})
