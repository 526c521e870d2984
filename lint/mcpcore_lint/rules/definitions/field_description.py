"""The rule field-description."""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import CallValue, Const, Items, Missing, Parameter, Symbol, options, string
from mcpcore_lint.patterns import regex
from mcpcore_lint.rules._test_tools import in_test
from mcpcore_lint.rules.base import Rule, RuleContext
from mcpcore_lint.rules.definitions import _plain
from mcpcore_lint.rules.definitions._descriptions import is_blank, sets_docstring
from mcpcore_lint.semantics.annotations import unquote
from mcpcore_lint.semantics.evaluate import Resolver
from mcpcore_lint.semantics.symbols import enum_like
from mcpcore_lint.syntax.parse import walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mcpcore_lint.model import ToolDef
    from mcpcore_lint.rules.base import Family
    from mcpcore_lint.syntax.scopes import Scope


class FieldDescription(Rule):
    """A parameter that the model has to guess."""

    id = "field-description"
    severity = Severity.INFO
    family: ClassVar[Family] = "definitions"
    summary = "a parameter that the model must fill in, without a description"
    why = (
        "The model fills in what the schema asks for. A name and a type leave open the unit, the format, and where a "
        "valid value comes from. Nothing is said where they do not: an enum, a `Literal`, a model, `is_final: bool`, "
        "the numbers of a calculation, `sheet_name` and `filepath`, and, in a tool with one or two parameters, names "
        "such as `path`, `query` and `city` or that the tool's description speaks of. On servers without mcpcore "
        "such names need no description in a tool of any size, nor do identifiers, paths, columns and the names that "
        "the description mentions."
    )
    bad = '@tool\ndef fetch(pmids: list[str]) -> Articles:\n    """Fetch articles."""'
    good = '@tool\ndef fetch(pmids: Annotated[list[str], Field(description="PubMed identifiers.")]) -> Articles: ...'
    how_to_fix = (
        "Describe it with `Annotated[..., Field(description=...)]`. A docstring that explains the parameter by name "
        "counts too, since it is sent as the description of the tool, or read for the schema by FastMCP."
    )
    when_to_suppress = (
        "Where name, type and description of the tool say all, in words that the rule does not know. Tools in tests "
        "are left alone."
    )

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each parameter that is required, and described nowhere."""
        if tool.kind != "tool" or tool.flavour == "lowlevel" or in_test(tool):
            return
        handler = tool.handler
        scope = handler.module.scope_of(handler.node)
        outside = scope.parent or scope
        excluded = _excluded(tool, ctx)
        visible = [
            each
            for each in handler.parameters
            if not each.injected
            and not each.kind.startswith("var_")
            and each.name not in excluded
            # That a model is asked for these at all is what is wrong with them.
            and not (each.name == "self" or each.name.startswith("_"))
        ]
        lacking = [(each, found) for each in visible if (found := _undescribed(each, tool, outside, ctx)) is not None]
        told = _told(tool) if lacking else None
        if told is None:
            return
        needless: frozenset[str] | None = None
        for parameter, lack in lacking:
            problem = lack
            if _explains(told, parameter.name) or (tool.flavour != "mcpcore" and _mentions(told, parameter.name)):
                continue
            if problem == _NOTHING:
                if needless is None:
                    needless = _needless(tool, visible, told, outside, ctx)
                if _documents(handler.docstring or "", parameter.name):
                    if not told.strip():
                        continue
                    problem = "is explained in the docstring alone, which description= takes the place of"
                elif parameter.name in needless or _names_itself(parameter, tool):
                    continue
            if _binds(tool.registration):
                return
            ctx.report(
                parameter.node,
                f"the parameter {parameter.name} of {tool.display_name} {problem}",
                help=f'describe it: {parameter.name}: Annotated[..., Field(description="...")]',
                tool=tool,
                module=handler.module,
            )


def _binds(registration: ast.expr) -> bool:
    """Whether a registration may fill parameters in itself: `add_tool(partial(fetch, store))`."""
    return any(
        (each.attr if isinstance(each, ast.Attribute) else each.id) == "partial"
        for each in walk([registration])
        if isinstance(each, (ast.Name, ast.Attribute))
    )


def _told(tool: ToolDef) -> str | None:
    """What is said about a tool as a whole, and may be about its parameters; None where that cannot be known."""
    texts: list[str] = []
    for each in options(tool.description):
        text = string(each)
        if text is None and not isinstance(each, Missing) and not (isinstance(each, Const) and each.value is None):
            return None
        texts.append(text or "")
    if tool.flavour == "fastmcp" and tool.handler.docstring:
        texts.append(tool.handler.docstring)
    registration = tool.registration
    if sets_docstring(tool):
        return None
    if isinstance(registration, ast.Call) and any(each.arg is None for each in registration.keywords):
        return None
    return "\n".join(texts)


def _explains(text: str, name: str) -> bool:
    """Whether a text explains a parameter: as a docstring does, or by its name as code."""
    if name.lower() not in text.lower():
        return False
    escaped = re.escape(name)
    # `Actions:` heads the list of what `action` can be.
    said = rf"[`'\"]{escaped}[`'\"]|(?<!\w){escaped}\s*=|(?im:^[ \t]*(?:\w+[ \t]+)?{escaped}s[ \t]*:[ \t]*$)"
    return _documents(text, name) or bool(re.search(said, text))


_NAMES_ITSELF: Final = regex(r"(?:\w+_)?(?:u?u?ids?|names?|paths?|files?|urls?|cols?|columns?)(?:_\w)?")


def _names_itself(parameter: Parameter, tool: ToolDef) -> bool:
    """Whether a parameter is an identifier, a name or a place, which a server without mcpcore need not describe."""
    return tool.flavour != "mcpcore" and _NAMES_ITSELF.fullmatch(parameter.name) is not None


def _mentions(text: str, name: str) -> bool:
    """Whether a text has the name of a parameter as a word, in any capitals."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None


def _documents(text: str, name: str) -> bool:
    """Whether a text has an entry for a parameter, as Google, NumPy, reST, Epytext, Javadoc or Markdown write it."""
    if name not in text:
        return False
    if name in _plainly_documented(text):
        return True
    # Several parameters may share an entry: `x, y : float`.
    named = rf"(?:[*_`]*\w+[*_`]*[ \t]*,[ \t]*)*[*_`]*{re.escape(name)}[*_`]*(?:[ \t]*,[ \t]*[*_`]*\w+[*_`]*)*"
    return bool(
        (re.search(_FIELD, text) and re.search(rf"{_FIELD}(?:\s[^:\n]*)?\s\*{{0,2}}{named}(?:\s*:|\s)", text))
        or re.search(
            rf"(?m)^[ \t]*(?:[-*+\u2022]|\d+[.)])?[ \t]*{named}"
            r"[ \t]*(?:\([^)\n]*\)|\[[^\]\n]*\]|<[^>\n]*>)?[ \t]*[*_`]*(?::|=|[ \t]-|[ \t]?--|[ \t]\u2013|\u2014)",
            text,
        )
        or ("|" in text and re.search(rf"(?m)^[ \t]*\|[ \t]*{named}[ \t]*\|", text))
        # NumPy without a type: the name alone, and what it is on the next line, further in.
        or re.search(rf"(?m)^([ \t]*){named}[ \t]*\n\1[ \t]+\S", text)
    )


_FIELD: Final = r"[:@](?:param(?:eter)?|arg(?:ument)?|key(?:word)?)"
_PLAIN_ENTRY: Final = r"(?m)^[ \t]*(\w+)[ \t]*(?:\([^)\n]*\)[ \t]*)?:"


@lru_cache(maxsize=16)
def _plainly_documented(text: str) -> frozenset[str]:
    """The names that have an entry of their own in the usual form, `name (type): ...`.

    They are looked for all at once: an expression for each name takes longer to be compiled than to be searched for.
    """
    return frozenset(re.findall(_PLAIN_ENTRY, text))


def _excluded(tool: ToolDef, ctx: RuleContext) -> frozenset[str]:
    """Parameters that FastMCP is told to keep from the model."""
    given = tool.decorator_keyword("exclude_args")
    value = ctx.resolve(given.value) if given is not None else None
    return frozenset(string(each) or "" for each in value.items) if isinstance(value, Items) else frozenset()


def _undescribed(parameter: Parameter, tool: ToolDef, scope: Scope, ctx: RuleContext) -> str | None:
    """What is lacking in a parameter; None where nothing is, or that cannot be known."""
    unread = _unread_string(parameter, tool)
    described = options(parameter.description)
    if unread is None and not any(isinstance(each, Missing) or is_blank(each) for each in described):
        return None
    if unread is None and not _required(parameter, scope, ctx):
        return None
    if _speaks_for_itself(parameter.annotation, scope):
        return None
    if unread is not None:
        return f"is described by a plain string, {unread!r}, which {_WHO[tool.flavour]} does not read"
    return _NOTHING


def _needless(tool: ToolDef, visible: Sequence[Parameter], told: str, scope: Scope, ctx: RuleContext) -> frozenset[str]:
    """The parameters that nobody needs a description of, in view of their types, their names and the tool."""
    found: set[str] = set()
    asked: dict[str, frozenset[str]] = {}
    for each in visible:
        of = _plain.kinds(each.annotation, scope)
        if _plain.type_says(each.name, of) or _plain.is_specific(each.name, of):
            found.add(each.name)
        elif _required(each, scope, ctx):
            asked[each.name] = of
    small = len(asked) <= _plain.SMALL or tool.flavour != "mcpcore"
    if small or all(_plain.is_number(name, of) for name, of in asked.items()):
        names = f"{tool.display_name} {tool.handler.name}"
        found.update(name for name, of in asked.items() if _plain.name_says(name, of, told, names))
    return frozenset(found)


_NOTHING: Final = "has no description"
_WHO: Final = {"mcpcore": "mcpcore", "sdk": "the SDK", "fastmcp": "FastMCP", "lowlevel": "the SDK"}


def _unread_string(parameter: Parameter, tool: ToolDef) -> str | None:
    """The string in `Annotated[str, "..."]`: FastMCP reads it as a description, pydantic and so the SDK do not."""
    annotation = unquote(parameter.annotation)
    if tool.flavour == "fastmcp" or not isinstance(annotation, ast.Subscript):
        return None
    elts = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else []
    for each in elts[1:]:
        if each is parameter.description.node and isinstance(each, ast.Constant) and isinstance(each.value, str):
            return each.value if not _made_of_something_else(tool) else None
    return None


def _made_of_something_else(tool: ToolDef) -> bool:
    """Whether the server is made in the tool's own file, which imports no SDK: some frameworks look like it."""
    if tool.flavour != "sdk":
        return False
    node: ast.expr = tool.registration
    while isinstance(node, (ast.Call, ast.Attribute)):
        node = node.func if isinstance(node, ast.Call) else node.value
    bindings = tool.module.scope.bindings.get(node.id, ()) if isinstance(node, ast.Name) else ()
    made_here = any(isinstance(each.value, ast.Call) for each in bindings)
    return made_here and _IMPORTS_THE_SDK.search(tool.module.source.text) is None


_IMPORTS_THE_SDK: Final = regex(r"(?m)^[ \t]*(?:from|import)[ \t]+mcp\b")


def _required(parameter: Parameter, scope: Scope, ctx: RuleContext) -> bool:
    """Whether the model must fill a parameter in: it has no default, neither in Python nor in `Field(...)`."""
    default = parameter.default
    if default is None:
        return True
    value = ctx.resolve(default, scope)
    if isinstance(value, CallValue) and value.func.name.rpartition(".")[2] == "Field" and value.complete:
        if not isinstance(value.argument("default_factory"), Missing):
            return False
        first = value.argument("default", 0)
        return isinstance(first, Missing) or (isinstance(first.node, ast.Constant) and first.node.value is Ellipsis)
    return False


def _speaks_for_itself(annotation: ast.expr | None, scope: Scope) -> bool:
    """Whether a type may bring its own description: a model with fields of its own, a type of another package."""
    node = unquote(annotation)
    if node is None:
        return False
    for each in _type_names(node):
        value = Resolver().expression(each, scope)
        if isinstance(value, Symbol) and isinstance(value.definition, ast.ClassDef):
            if not enum_like(value):
                return True
        elif isinstance(value, Symbol):
            if not _is_plain(value.name):
                return True
        elif Resolver().alias_of(each, scope) is None:
            return True
    return any(isinstance(each, ast.Call) and _gives_description(each) for each in walk([node]))


def _type_names(node: ast.expr) -> Iterable[ast.Name | ast.Attribute]:
    """The names in an annotation that are types, not the metadata of `Annotated`."""
    stack: list[ast.AST] = [node]
    while stack:
        each = stack.pop()
        if isinstance(each, (ast.Name, ast.Attribute)):
            yield each
        elif isinstance(each, ast.Subscript):
            stack.append(each.value)
            named = each.value.attr if isinstance(each.value, ast.Attribute) else getattr(each.value, "id", "")
            if named == "Annotated" and isinstance(each.slice, ast.Tuple) and each.slice.elts:
                stack.append(each.slice.elts[0])
            elif named != "Literal":
                stack.append(each.slice)
        elif isinstance(each, (ast.Tuple, ast.List, ast.BinOp)):
            stack.extend(ast.iter_child_nodes(each))


_PLAIN_PACKAGES: Final = frozenset(
    {
        "builtins",
        "typing",
        "collections",
        "datetime",
        "decimal",
        "enum",
        "fractions",
        "ipaddress",
        "pathlib",
        "re",
        "uuid",
    }
)


def _is_plain(name: str) -> bool:
    return name.split(".", maxsplit=1)[0] in _PLAIN_PACKAGES or name in {
        "pydantic.AnyUrl",
        "pydantic.HttpUrl",
        "pydantic.EmailStr",
    }


def _gives_description(call: ast.Call) -> bool:
    for each in call.keywords:
        if each.arg in {"description", "json_schema_extra"} or each.arg is None:
            return not (isinstance(each.value, ast.Constant) and not str(each.value.value or "").strip())
    func = call.func
    return (func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")) in {"Doc", "WithJsonSchema"}
