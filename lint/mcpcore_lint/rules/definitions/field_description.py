"""field-description."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import CallValue, Const, Items, Missing, Parameter, Symbol, options, string
from mcpcore_lint.patterns import regex
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._data_model import requires_value
from mcpcore_lint.rules._tools import binds_arguments, in_test
from mcpcore_lint.rules.definitions import _parameters
from mcpcore_lint.rules.definitions._descriptions import says_nothing, sets_docstring
from mcpcore_lint.rules.definitions._docstrings import documents, explains, mentions
from mcpcore_lint.semantics.annotations import unquote
from mcpcore_lint.semantics.evaluate import Resolver
from mcpcore_lint.semantics.symbols import enum_like
from mcpcore_lint.syntax.parse import walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcpcore_lint.model import ToolDef
    from mcpcore_lint.syntax.scopes import Scope

_NO_DESCRIPTION: Final = "has no description"
_IN_DOCSTRING: Final = "is described only in the docstring, which description= replaces, so the model never reads it"
_READERS: Final = {"mcpcore": "mcpcore", "sdk": "the SDK", "fastmcp": "FastMCP", "lowlevel": "the SDK"}
_IDENTIFIER: Final = regex(r"(?:\w+_)?(?:u?u?ids?|names?|paths?|files?|urls?|cols?|columns?)(?:_\w)?")
_PLAIN_PACKAGES: Final = frozenset(
    {"builtins", "typing", "collections", "datetime", "decimal", "enum", "fractions", "ipaddress", "pathlib", "uuid"}
)
_PLAIN_TYPES: Final = frozenset({"pydantic.AnyUrl", "pydantic.HttpUrl", "pydantic.EmailStr"})


class FieldDescription(Rule):
    """A required parameter has no description."""

    id = "field-description"
    severity = Severity.INFO
    family = "definitions"
    summary = "a parameter that the model must fill in, without a description"
    why = (
        "The model has to guess the value: a name and a type leave open the unit, the format, and where a valid value "
        "comes from. Parameters that explain themselves are not reported: an enum, a `Literal`, a model, `is_final: "
        "bool`, the numbers of a calculation, `sheet_name` and `filepath` and, in a tool with one or two parameters, "
        "names such as `path`, `query` and `city`, or names that the tool's description mentions. On servers without "
        "mcpcore such names need no description in a tool of any size, nor do identifiers, paths and columns."
    )
    bad = '@tool\ndef fetch(pmids: list[str]) -> Articles:\n    """Fetch articles."""'
    good = '@tool\ndef fetch(pmids: Annotated[list[str], Field(description="PubMed identifiers.")]) -> Articles: ...'
    how_to_fix = (
        "Describe it with `Annotated[..., Field(description=...)]`. A docstring with an entry for the parameter counts "
        "too: it is sent as the description of the tool, or FastMCP reads it for the schema."
    )
    when_to_suppress = (
        "When name, type and the tool's description are enough, in words that the rule does not know. Tools in tests "
        "are not checked."
    )

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each required parameter that is described nowhere."""
        if tool.kind != "tool" or tool.flavour == "lowlevel" or in_test(tool):
            return
        handler = tool.handler
        scope = handler.module.scope_of(handler.node)
        scope = scope.parent or scope
        excluded = _excluded_names(tool, ctx)
        visible = [
            parameter
            for parameter in handler.parameters
            if not parameter.injected
            and not parameter.kind.startswith("var_")
            and parameter.name not in excluded
            # A description would not help: these parameters should be hidden from the model.
            and not (parameter.name == "self" or parameter.name.startswith("_"))
        ]
        problems = {parameter: _problem(parameter, tool, scope, ctx) for parameter in visible}
        text = _tool_text(tool) if any(problems.values()) else None
        if text is None:
            return
        obvious = _obvious_names(tool, visible, text, scope, ctx)
        for parameter, problem in problems.items():
            name = parameter.name
            if problem is None or explains(text, name) or (tool.flavour != "mcpcore" and mentions(text, name)):
                continue
            in_docstring = problem == _NO_DESCRIPTION and documents(handler.docstring or "", name)
            enough = name in obvious or (tool.flavour != "mcpcore" and _IDENTIFIER.fullmatch(name))
            if in_docstring and not text.strip():
                continue
            if problem == _NO_DESCRIPTION and not in_docstring and enough:
                continue
            if binds_arguments(tool):
                return
            ctx.report(
                parameter.node,
                f"the parameter {name} of {tool.display_name} {_IN_DOCSTRING if in_docstring else problem}",
                help=f'describe it: {name}: Annotated[..., Field(description="...")]',
                tool=tool,
                module=handler.module,
            )


def _tool_text(tool: ToolDef) -> str | None:
    """The text about a tool that the model may read, which may describe parameters; None if it is unknown."""
    texts: list[str] = []
    for value in options(tool.description):
        text = string(value)
        if text is None and not isinstance(value, Missing) and not (isinstance(value, Const) and value.value is None):
            return None
        texts.append(text or "")
    if tool.flavour == "fastmcp" and tool.handler.docstring:
        texts.append(tool.handler.docstring)
    registration = tool.registration
    keywords = registration.keywords if isinstance(registration, ast.Call) else []
    if sets_docstring(tool) or any(keyword.arg is None for keyword in keywords):
        return None
    return "\n".join(texts)


def _excluded_names(tool: ToolDef, ctx: RuleContext) -> frozenset[str]:
    """The parameters that FastMCP hides from the model."""
    keyword = tool.decorator_keyword("exclude_args")
    value = ctx.resolve(keyword.value) if keyword is not None else None
    return frozenset(string(item) or "" for item in value.items) if isinstance(value, Items) else frozenset()


def _problem(parameter: Parameter, tool: ToolDef, scope: Scope, ctx: RuleContext) -> str | None:
    """What a parameter lacks; None if that is nothing, or unknown."""
    unread = _unread_string(parameter, tool)
    if unread is None:
        values = options(parameter.description)
        if not any(isinstance(value, Missing) or says_nothing(value) for value in values):
            return None
        if not _is_required(parameter, scope, ctx):
            return None
    if _may_describe_itself(parameter.annotation, scope):
        return None
    if unread is not None:
        return f"is described by a plain string, {unread!r}, which {_READERS[tool.flavour]} does not read"
    return _NO_DESCRIPTION


def _unread_string(parameter: Parameter, tool: ToolDef) -> str | None:
    """The string in `Annotated[str, "..."]`: FastMCP uses it as a description, pydantic and so the SDK do not."""
    annotation = unquote(parameter.annotation)
    if tool.flavour == "fastmcp" or not isinstance(annotation, ast.Subscript):
        return None
    metadata = annotation.slice.elts[1:] if isinstance(annotation.slice, ast.Tuple) else []
    for node in metadata:
        if node is parameter.description.node and isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value
    return None


def _is_required(parameter: Parameter, scope: Scope, ctx: RuleContext) -> bool:
    """Whether a parameter has no default, neither in Python nor in `Field(...)`."""
    if parameter.default is None:
        return True
    value = ctx.resolve(parameter.default, scope)
    if isinstance(value, CallValue) and value.func.name.rpartition(".")[2] == "Field" and value.complete:
        return requires_value(value)
    return False


def _obvious_names(
    tool: ToolDef, visible: Sequence[Parameter], text: str, scope: Scope, ctx: RuleContext
) -> frozenset[str]:
    """The parameters whose types and names are enough, given the size and the description of the tool."""
    obvious: set[str] = set()
    open_types: dict[str, frozenset[str]] = {}
    for parameter in visible:
        types = _parameters.kinds(parameter.annotation, scope)
        if _parameters.type_explains(parameter.name, types) or _parameters.is_specific(parameter.name, types):
            obvious.add(parameter.name)
        elif _is_required(parameter, scope, ctx):
            open_types[parameter.name] = types
    small = len(open_types) <= _parameters.SMALL or tool.flavour != "mcpcore"
    if small or all(_parameters.is_number(name, types) for name, types in open_types.items()):
        names = f"{tool.display_name} {tool.handler.name}"
        obvious.update(
            name for name, types in open_types.items() if _parameters.name_explains(name, types, text, names)
        )
    return frozenset(obvious)


def _may_describe_itself(annotation: ast.expr | None, scope: Scope) -> bool:
    """Whether a type may have a description: a model of the project, or a type of another package."""
    node = unquote(annotation)
    if node is None:
        return False
    for name in _type_names(node):
        value = Resolver().expression(name, scope)
        if not isinstance(value, Symbol):
            if Resolver().alias_of(name, scope) is None:
                return True
        elif isinstance(value.definition, ast.ClassDef):
            if not enum_like(value):
                return True
        elif value.name.partition(".")[0] not in _PLAIN_PACKAGES and value.name not in _PLAIN_TYPES:
            return True
    return any(isinstance(call, ast.Call) and _gives_description(call) for call in walk([node]))


def _type_names(node: ast.expr) -> Iterator[ast.Name | ast.Attribute]:
    """The names in an annotation that are types, and not metadata of `Annotated` or values of `Literal`."""
    stack: list[ast.AST] = [node]
    while stack:
        part = stack.pop()
        if isinstance(part, (ast.Name, ast.Attribute)):
            yield part
        elif isinstance(part, ast.Subscript):
            stack.append(part.value)
            name = part.value.attr if isinstance(part.value, ast.Attribute) else getattr(part.value, "id", "")
            if name == "Annotated" and isinstance(part.slice, ast.Tuple) and part.slice.elts:
                stack.append(part.slice.elts[0])
            elif name != "Literal":
                stack.append(part.slice)
        elif isinstance(part, (ast.Tuple, ast.List, ast.BinOp)):
            stack.extend(ast.iter_child_nodes(part))


def _gives_description(call: ast.Call) -> bool:
    for keyword in call.keywords:
        if keyword.arg in {"description", "json_schema_extra"} or keyword.arg is None:
            return not (isinstance(keyword.value, ast.Constant) and not str(keyword.value.value or "").strip())
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return name in {"Doc", "WithJsonSchema"}
