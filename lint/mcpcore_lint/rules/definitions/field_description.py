"""field-description."""

import ast
import re
import sys
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.engine.semantics.annotations import NONE
from mcpcore_lint.engine.semantics.data_model import requires_value
from mcpcore_lint.engine.semantics.evaluate import Resolver
from mcpcore_lint.engine.semantics.symbols import enum_like
from mcpcore_lint.engine.syntax.scopes import Scope
from mcpcore_lint.model import CallValue, Parameter, Symbol, ToolDef, options, string
from mcpcore_lint.patterns import regex
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._tools import binds_arguments, in_test, says_nothing, sets_docstring

PLAIN_NAMES: Final = frozenset(
    {
        "address", "author", "base", "category", "city", "cities", "code", "command", "comment", "content", "count",
        "country", "day", "denominator", "description", "dividend", "divisor", "email", "exponent", "file", "filename",
        "filepath", "first", "folder", "greeting", "hour", "id", "index", "item", "key", "keyword", "language",
        "latitude", "left", "limit", "location", "longitude", "max_results", "message", "minute", "name", "note",
        "number", "numerator", "page", "password", "path", "phrase", "prompt", "query", "question", "reason", "repo",
        "repository", "right", "second", "sentence", "sql", "string", "subject", "summary", "symbol", "term", "text",
        "title", "topic", "uri", "url", "user", "username", "value", "word", "zip_code", "zipcode",
    }
)  # fmt: skip
"""Names, in the singular, that need no description."""

PLAIN_ENDINGS: Final = frozenset(
    {"content", "count", "filename", "filepath", "index", "limit", "message", "name", "number", "path", "query", "size",
     "text", "title", "uri", "url"}
)  # fmt: skip
"""Last words of longer names that need no description: `image_path`, `feed_url`, `page_size`."""

FILLERS: Final = frozenset({"id", "ids", "name", "names", "str", "string", "value", "input", "new", "the", "list"})
"""Words of a name that the tool's description need not mention; it has to mention the others."""

_HUMP: Final = regex(r"(?<=[a-z0-9])(?=[A-Z])")
_WORD: Final = regex(r"[^\W\d_]+|\d+")
_EXPLAINED: Final = frozenset(
    {NONE, "typing.Literal", "datetime.date", "datetime.datetime", "datetime.time", "datetime.timedelta",
     "uuid.UUID", "pydantic.AnyUrl", "pydantic.HttpUrl", "pydantic.EmailStr", "ipaddress.IPv4Address",
     "ipaddress.IPv6Address"}
)  # fmt: skip
_NUMBERS: Final = frozenset({"builtins.int", "builtins.float", "decimal.Decimal"})
_SCALARS: Final = _NUMBERS | {"builtins.str", "builtins.bool", "pathlib.Path"}
_HOLDERS: Final = frozenset(
    {"builtins.list", "builtins.tuple", "builtins.set", "builtins.frozenset", "typing.List", "typing.Tuple",
     "typing.Set", "typing.Sequence", "typing.Iterable", "collections.abc.Sequence", "collections.abc.Iterable"}
)  # fmt: skip
_DEEPEST: Final = 8

EXPLAINED: Final = "explained"
OTHER: Final = "other"
UNKNOWN: Final = "unknown"
"""A type that may have a description, which the linter cannot see."""


def kinds(annotation: ast.expr | None, scope: Scope, depth: int = 0) -> Iterator[str]:
    """The types in an annotation: names of scalars, or `EXPLAINED`, `OTHER` and `UNKNOWN`."""
    if annotation is None:
        # Without an annotation the parameter is treated like a string.
        yield "builtins.str"
    types = Resolver().named_types(annotation, scope)
    for named in types:
        makers = [
            Resolver().expression(extra.func, where) for extra, where in named.metadata if type(extra) is ast.Call
        ]
        if any(not (isinstance(maker, Symbol) and maker.name.startswith("pydantic.")) for maker in makers):
            yield UNKNOWN
        symbol = named.symbol
        if symbol is None:
            yield UNKNOWN
        elif symbol.name in _EXPLAINED or enum_like(symbol) or isinstance(symbol.definition, ast.ClassDef):
            yield EXPLAINED
        elif named.arguments and symbol.name in _HOLDERS and depth < _DEEPEST:
            for item in named.arguments:
                if not (isinstance(item, ast.Constant) and item.value is Ellipsis):
                    # The wider a union, the less deep: an alias may name itself in several of its members.
                    yield from kinds(item, named.scope, depth + len(types))
        else:
            is_known = symbol.name.partition(".")[0] in sys.stdlib_module_names
            yield symbol.name if symbol.name in _SCALARS else OTHER if is_known or named.arguments else UNKNOWN


def explains_itself(name: str, types: frozenset[str], text: str) -> bool:
    """Whether the type and the name of a parameter are enough, given the names and the description of its tool."""
    scalars = types - {EXPLAINED}
    words = [word.lower() for word in _WORD.findall(_HUMP.sub(" ", name.partition("_or_")[0]))]
    if OTHER in types or not words:
        return False
    if (
        scalars <= {"builtins.bool"}
        or (scalars <= _NUMBERS and len(words[0]) == 1)
        or not {name.lower(), _singular(name.lower())}.isdisjoint(PLAIN_NAMES)
    ):
        return True
    significant = {_singular(word) for word in words if word not in FILLERS}
    mentioned = {_singular(word.lower()) for word in _WORD.findall(_HUMP.sub(" ", text))}
    return (len(words) > 1 and words[-1] in PLAIN_ENDINGS) or significant <= mentioned


def _singular(word: str) -> str:
    return word[:-1] if word.endswith("s") and len(word) > 3 else word


def explains(text: str, name: str) -> bool:
    """Whether a text describes a parameter: in a separate entry, or by its name written as code."""
    if name.lower() not in text.lower():
        return False
    escaped = re.escape(name)
    # `Actions:` heads the list of values of `action`.
    as_code = rf"[`'\"]{escaped}[`'\"]|(?<!\w){escaped}\s*=|(?im:^[ \t]*(?:\w+[ \t]+)?{escaped}s[ \t]*:[ \t]*$)"
    return documents(text, name) or bool(re.search(as_code, text))


def documents(text: str, name: str) -> bool:
    """Whether a text has an entry for a parameter in Google, NumPy, reST, Epytext, Javadoc or Markdown style."""
    if name not in text:
        return False
    if name in _plain_entries(text):
        return True
    # Several parameters may share an entry: `x, y : float`.
    names = rf"(?:[*_`]*\w+[*_`]*[ \t]*,[ \t]*)*[*_`]*{re.escape(name)}[*_`]*(?:[ \t]*,[ \t]*[*_`]*\w+[*_`]*)*"
    kind = r"(?:\([^)\n]*\)|\[[^\]\n]*\]|<[^>\n]*>)?[ \t]*[*_`]*"
    patterns = (
        rf"[:@](?:param|arg|key)\w*(?:\s[^:\n]*)?\s\*{{0,2}}{names}(?:\s*:|\s)",
        rf"(?m)^[ \t]*(?:[-*+\u2022]|\d+[.)])?[ \t]*{names}[ \t]*{kind}(?::|=|[ \t]-|[ \t]?--|[ \t]\u2013|\u2014)",
        rf"(?m)^[ \t]*\|[ \t]*{names}[ \t]*\|",
        # NumPy style without a type: the name alone, and its description indented on the next line.
        rf"(?m)^([ \t]*){names}[ \t]*\n\1[ \t]+\S",
    )
    return any(re.search(pattern, text) for pattern in patterns)


@lru_cache(maxsize=16)
def _plain_entries(text: str) -> frozenset[str]:
    """The names with an entry in the usual form, `name (type): ...`.

    One search finds all of them, because compiling an expression for each name takes longer than searching for it.
    """
    return frozenset(re.findall(r"(?m)^[ \t]*(\w+)[ \t]*(?:\([^)\n]*\)[ \t]*)?:", text))


_IN_DOCSTRING: Final = "is described only in the docstring, which description= replaces, so the model never reads it"
_IDENTIFIER: Final = regex(r"(?:\w+_)?(?:u?u?ids?|names?|paths?|files?|urls?|cols?|columns?)(?:_\w)?")


class FieldDescription(Rule):
    """A required parameter has no description.

    Summary: a parameter that the model must fill in has no description
    Why: The model has to guess the value: the name and the type do not say what the unit and the format are, or where a
        valid value comes from. Parameters that explain themselves are not reported: an enum, a `Literal`, a model, a
        bool, the numbers of a calculation, names such as `path`, `query`, `city` and `sheet_name`, and names whose
        words the tool's description contains. On servers without mcpcore, identifiers, paths and columns need no
        description either.
    How to fix: Describe it with `Annotated[..., Field(description=...)]`. An entry for the parameter in the docstring
        counts too: the docstring is sent as the tool's description, or FastMCP reads the entry for the schema.
    When to suppress: When the name, the type and the tool's description are enough, but use words that the rule does
        not know. Tools in tests are not checked.
    """

    severity = Severity.INFO
    bad = '@tool\ndef fetch(pmids: list[str]) -> Articles:\n    """Fetch articles."""'
    good = '@tool\ndef fetch(pmids: Annotated[list[str], Field(description="PubMed identifiers.")]) -> Articles: ...'

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each required parameter that is described nowhere."""
        if tool.kind != "tool" or tool.flavour == "lowlevel" or in_test(tool) or binds_arguments(tool):
            return
        handler = tool.handler
        scope = handler.module.scope_of(handler.node)
        scope = scope.parent or scope
        required = [
            parameter
            for parameter in handler.parameters
            if not parameter.injected
            and not parameter.kind.startswith("var_")
            # A description would not help: these parameters should be hidden from the model.
            and not (parameter.name == "self" or parameter.name.startswith("_"))
            and any(map(says_nothing, options(parameter.description)))
            and _is_required(parameter, scope, ctx)
        ]
        text = _tool_text(tool) if required else None
        if text is None:
            return
        for parameter in required:
            name = parameter.name
            types = frozenset(kinds(parameter.annotation, scope))
            if UNKNOWN in types or explains(text, name):
                continue
            if tool.flavour != "mcpcore" and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE):
                continue
            in_docstring = documents(handler.docstring or "", name)
            enough = explains_itself(name, types, f"{tool.display_name} {handler.name} {text}") or (
                tool.flavour != "mcpcore" and _IDENTIFIER.fullmatch(name)
            )
            if (in_docstring and not text.strip()) or (enough and not in_docstring):
                continue
            problem = _IN_DOCSTRING if in_docstring else "has no description"
            message = f"the parameter {name} of {tool.display_name} {problem}"
            step = f'describe it: {name}: Annotated[..., Field(description="...")]'
            ctx.report(parameter.node, message, help=step, tool=tool, module=handler.module)


def _tool_text(tool: ToolDef) -> str | None:
    """The text about a tool that the model may read, which may describe parameters; None if it is unknown."""
    texts = [string(value) or ("" if says_nothing(value) else None) for value in options(tool.description)]
    if tool.flavour == "fastmcp" and tool.handler.docstring:
        texts.append(tool.handler.docstring)
    registration = tool.registration
    keywords = registration.keywords if isinstance(registration, ast.Call) else []
    if None in texts or sets_docstring(tool) or any(keyword.arg is None for keyword in keywords):
        return None
    return "\n".join(text or "" for text in texts)


def _is_required(parameter: Parameter, scope: Scope, ctx: RuleContext) -> bool:
    """Whether a parameter has no default, neither in Python nor in `Field(...)`."""
    if parameter.default is None:
        return True
    value = ctx.resolve(parameter.default, scope)
    if isinstance(value, CallValue) and value.func.name.rpartition(".")[2] == "Field" and value.complete:
        return requires_value(value)
    return False
