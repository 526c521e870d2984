"""The rule output-error-field."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, ClassVar, Final

from mcpcore_lint.dataclasses import light
from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import CallValue, Const, Items, Mapping, Missing, Symbol, options, string
from mcpcore_lint.rules.base import Rule, RuleContext
from mcpcore_lint.semantics.annotations import unquote
from mcpcore_lint.semantics.evaluate import Resolver
from mcpcore_lint.semantics.symbols import class_info

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore_lint.model import ToolDef, Value
    from mcpcore_lint.rules.base import Family
    from mcpcore_lint.syntax.module import ClassInfo, Module
    from mcpcore_lint.syntax.scopes import Scope


_MODELS: Final = frozenset(
    {"pydantic.BaseModel", "pydantic.main.BaseModel", "typing.TypedDict", "typing.NamedTuple", "sqlmodel.SQLModel"}
)


_NEUTRAL: Final = frozenset({"typing.Generic", "typing.Protocol", "abc.ABC", "builtins.object"})


_SAME_NAME: Final = frozenset({"to_camel", "to_snake"})
"""Alias generators that leave a name of one lower-case word as it is."""


_MAX_CLASSES: Final = 100


class OutputErrorField(Rule):
    """A success that has a field `error`."""

    id = "output-error-field"
    severity = Severity.ERROR
    family: ClassVar[Family] = "contract"
    summary = "the success model has a field named `error`"
    why = (
        "Clients look for a failure in `structuredContent.error`. A success that carries the same key is read as a "
        "failure by some, and a failure told in it as a success by the others; a contract server refuses it at import. "
        "On a server without mcpcore it is information only: nothing else puts its failures there."
    )
    bad = "class Found(BaseModel):\n    items: list[str]\n    error: str | None = None"
    good = "class Found(BaseModel):\n    items: list[str]\n    warning: str | None = None"
    how_to_fix = (
        "Raise the failure instead of returning it, with `ctx.fail` for a declared reason. Where the field is no "
        "failure of the tool, rename it, or give it another `serialization_alias`."
    )
    when_to_suppress = "On a server without mcpcore whose clients know the field."

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Look for the field in what the handler says it returns."""
        node = tool.handler.node
        if tool.kind != "tool" or tool.flavour == "lowlevel" or isinstance(node, ast.Lambda) or node.returns is None:
            return
        if _unstructured(tool, ctx):
            return
        module = tool.handler.module
        scope = module.scope_of(node)
        found = _error_field(node.returns, scope.parent or scope)
        if found is None:
            return
        stands = (
            "stands where clients look for a failure"
            if found.name == "error"
            else "is sent as 'error', where clients look for a failure"
        )
        ctx.report(
            node.returns,
            f"{tool.display_name} returns {found.model}, whose field {found.name} {stands}",
            help="raise the failure instead of returning it, or rename the field",
            tool=tool,
            module=module,
            related=[ctx.related(found.node, "the field", found.module)],
            weight=Severity.INFO if tool.flavour != "mcpcore" else None,
        )


def _unstructured(tool: ToolDef, ctx: RuleContext) -> bool:
    """Whether the tool is said to send no structured result, or one of another shape than its annotation."""
    given = tool.decorator_keyword("structured_output")
    if given is not None:
        value = ctx.resolve(given.value)
        return not (isinstance(value, Const) and value.value in {True, None})
    return tool.decorator_keyword("output_schema") is not None


@light
class _Field:
    """A field: its name in the class, the name that is sent (None where that cannot be known), and where it stands."""

    model: str
    name: str
    sent: str | None
    node: ast.AST
    module: Module


def _error_field(annotation: ast.expr, scope: Scope, depth: int = 0) -> _Field | None:
    """The field of a result that is sent as `error`."""
    node = unquote(annotation)
    if node is None or depth > 10:
        return None
    resolver = Resolver()
    if isinstance(node, ast.Subscript):
        head = resolver.expression(node.value, scope)
        if isinstance(head, Symbol) and head.name == "typing.Annotated" and isinstance(node.slice, ast.Tuple):
            elts = node.slice.elts
            first = resolver.annotation_symbol(elts[0], scope)
            # The SDK's own way to say what a hand-made result holds.
            wrapped = first is not None and first.name == "mcp.CallToolResult" and len(elts) > 1
            return _error_field(elts[1] if wrapped else elts[0], scope, depth + 1)
        return _of_value(head, node.value) if isinstance(head, Symbol) else None
    if not isinstance(node, (ast.Name, ast.Attribute)):
        return None
    value = resolver.expression(node, scope)
    if isinstance(value, (Symbol, CallValue)):
        found = _of_value(value, node)
        if found is not None or not isinstance(value, Symbol) or value.definition is not None:
            return found
    alias = Resolver().alias_of(node, scope)
    if alias is not None and alias[0] is not node:
        return _error_field(*alias, depth + 1)
    return None


def _of_value(value: Value, written: ast.expr) -> _Field | None:
    if isinstance(value, CallValue):
        return _sent_as_error(_functional(value, ast.unparse(written)))
    info = class_info(value) if isinstance(value, Symbol) else None
    if info is None:
        return None
    # Many tools return the same few models.
    key = ("error field", info.node)
    if key not in info.module.memo:
        info.module.memo[key] = _sent_as_error(_fields(info))
    found: _Field | None = info.module.memo[key]
    return found


def _sent_as_error(fields: dict[str, _Field]) -> _Field | None:
    return next((each for each in fields.values() if each.sent == "error"), None)


def _functional(value: CallValue, name: str) -> dict[str, _Field]:
    """The fields of `TypedDict("X", {...})`, `NamedTuple("X", [...])` and `create_model("X", ...)`."""
    if value.module is None or value.node is None:
        return {}
    given: list[tuple[str, Value]] = []
    if value.func.name == "typing.TypedDict":
        inner = value.argument("fields", 1)
        given = [(key, inner.get(key) or inner) for key in inner.keys] if isinstance(inner, Mapping) else []
    elif value.func.name == "typing.NamedTuple":
        inner = value.argument("fields", 1)
        for each in inner.items if isinstance(inner, Items) else ():
            key = string(each.items[0]) if isinstance(each, Items) and each.items else None
            if key is not None:
                given.append((key, each))
    elif value.func.name in {"pydantic.create_model", "pydantic.main.create_model"}:
        given = [(key, each) for key, each in value.keywords if not key.startswith("__")]
    return {key: _Field(name, key, key, each.node or value.node, each.module or value.module) for key, each in given}


def _fields(info: ClassInfo) -> dict[str, _Field]:
    """The fields of a class with those that it inherits, where it is a kind of class that becomes a model."""
    lineage = list(_lineage(info))
    if any(each is None for each in lineage):
        return {}
    found: dict[str, _Field] = {}
    for each in reversed([one for one in lineage if one is not None]):
        same = _keeps_names(each)
        for field in _own_fields(each, info.node.name):
            if field.sent == field.name and not same:
                found.pop(field.name, None)
            else:
                found[field.name] = field
    return found


def _lineage(info: ClassInfo, seen: set[ast.ClassDef] | None = None) -> Iterator[ClassInfo | None]:
    """A class and those above it, nearest first; None for one that cannot be judged."""
    seen = set() if seen is None else seen
    if info.node in seen:
        return
    seen.add(info.node)
    if len(seen) > _MAX_CLASSES:
        yield None
        return
    yield info
    for base in info.node.bases:
        value = Resolver().expression(base, info.scope)
        above = class_info(value) if isinstance(value, Symbol) else None
        if above is not None:
            yield from _lineage(above, seen)
        elif not isinstance(value, Symbol) or value.name not in _MODELS | _NEUTRAL:
            yield None


def _keeps_names(info: ClassInfo) -> bool:
    """Whether fields without an alias are sent under their own names."""
    for binding in info.attributes.get("model_config", ()):
        if binding.value is None:
            continue
        value = Resolver().expression(binding.value, info.body_scope)
        generator: Value | None = None
        if isinstance(value, CallValue):
            given = value.argument("alias_generator")
            generator = None if isinstance(given, Missing) else given
        elif isinstance(value, Mapping):
            generator = value.get("alias_generator")
        if generator is not None and not (isinstance(generator, Const) and generator.value is None):
            return isinstance(generator, Symbol) and generator.name.rpartition(".")[2] in _SAME_NAME
    serializer = any(
        _called(each) in {"model_serializer", "model_wrap_serializer"}
        for method in info.methods.values()
        for each in method.decorator_list
    )
    return not serializer


def _own_fields(info: ClassInfo, model: str) -> Iterator[_Field]:
    for statement in info.node.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            name = statement.target.id
            if not name.startswith("_"):
                sent = _sent_name(name, statement, info)
                yield _Field(model, name, sent, statement.target, info.module)
        elif isinstance(statement, ast.FunctionDef) and any(
            _called(each) == "computed_field" for each in statement.decorator_list
        ):
            yield _Field(model, statement.name, _computed_name(statement, info), statement, info.module)


def _sent_name(name: str, statement: ast.AnnAssign, info: ClassInfo) -> str | None:
    """What a field is called on the wire; None where it is not sent, or its name cannot be known."""
    scope = info.body_scope
    annotation = unquote(statement.annotation)
    described: list[ast.expr] = [statement.value] if statement.value is not None else []
    if isinstance(annotation, ast.Subscript):
        head = Resolver().expression(annotation.value, scope)
        kind = head.name if isinstance(head, Symbol) else ""
        if kind in {"typing.ClassVar", "dataclasses.InitVar"}:
            return None
        if kind == "typing.Annotated" and isinstance(annotation.slice, ast.Tuple):
            described.extend(annotation.slice.elts[1:])
    for each in described:
        value = Resolver().expression(each, scope)
        if not isinstance(value, CallValue) or value.func.name.rpartition(".")[2] not in {"Field", "field"}:
            continue
        excluded = value.argument("exclude")
        if not isinstance(excluded, Missing) and not (isinstance(excluded, Const) and not excluded.value):
            return None
        for key in ("serialization_alias", "alias"):
            given = value.argument(key)
            if isinstance(given, Missing) or (isinstance(given, Const) and given.value is None):
                continue
            texts = {string(one) for one in options(given)}
            return texts.pop() if len(texts) == 1 else None
    return name


def _computed_name(node: ast.FunctionDef, info: ClassInfo) -> str | None:
    for each in node.decorator_list:
        if isinstance(each, ast.Call) and _called(each) == "computed_field":
            value = Resolver().expression(each, info.body_scope)
            given = value.argument("alias") if isinstance(value, CallValue) else None
            if given is not None and not isinstance(given, Missing):
                return string(given)
    return node.name


def _called(node: ast.expr) -> str:
    func = node.func if isinstance(node, ast.Call) else node
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
