"""Parameters that need no description, because of their types or names."""

from __future__ import annotations

import ast
import re
import sys
from typing import TYPE_CHECKING, Final

from mcpcore_lint.model import Symbol
from mcpcore_lint.patterns import regex
from mcpcore_lint.semantics.annotations import unquote
from mcpcore_lint.semantics.evaluate import Resolver
from mcpcore_lint.semantics.symbols import enum_like

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore_lint.syntax.scopes import Scope

PLAIN_NAMES: Final = frozenset(
    {
        "address", "author", "category", "city", "cities", "code", "command", "comment", "content", "count", "country",
        "description", "email", "file", "filename", "files", "filepath", "folder", "greeting", "hours", "id", "ids",
        "index", "items", "key", "keyword", "keywords", "keys", "language", "latitude", "limit", "location",
        "longitude", "max_results", "message", "messages", "minutes", "name", "names", "note", "number", "numbers",
        "page", "password", "path", "paths", "phrase", "prompt", "query", "question", "reason", "repo", "repository",
        "seconds", "sentence", "sql", "string", "subject", "summary", "symbol", "term", "text", "texts", "title",
        "topic", "topics", "uri", "url", "urls", "user", "username", "value", "values", "word", "words", "days",
        "zip_code", "zipcode",
    }
)  # fmt: skip
"""Names that need no description."""

PLAIN_ENDINGS: Final = frozenset({"name", "path", "query", "text", "url", "uri", "title", "content", "message"})
"""Last words of names that need no description: `image_path`, `feed_url`."""

_SPECIFIC: Final = regex(r"(?:\w+_)?(?:file_?name|file_?path)(?:$|_or_)|\w+_name(?:$|_or_)")
"""Names that say whose name or path they are: `sheet_name`, `filepath`, `function_name_or_address`."""

COUNT_ENDINGS: Final = frozenset({"count", "index", "limit", "number", "size"})
"""Last words of the names of integers that are counts: `party_size`, `page_size`."""

FILLERS: Final = frozenset({"id", "ids", "name", "names", "str", "string", "value", "input", "new", "the", "list"})
"""Words of a name that the tool's description need not mention; it has to mention the others."""

NUMBER_NAMES: Final = frozenset(
    {"a", "b", "c", "i", "j", "k", "m", "n", "x", "y", "z", "first", "second", "left", "right", "base", "exponent",
     "dividend", "divisor", "numerator", "denominator", "num1", "num2", "number1", "number2"}
)  # fmt: skip
"""Names of the numbers of a calculation."""

FLAG_STARTS: Final = ("is_", "has_", "include_", "exclude_", "with_", "allow_", "enable_", "use_", "show_", "should_")
"""Prefixes that make the name of a bool a question to be answered with yes or no."""

OPEN_WORDS: Final = frozenset(
    {
        "action", "amount", "args", "config", "configuration", "cost", "cron", "currency", "data", "date", "datetime",
        "distance", "duration", "end", "engine", "env", "environment", "filter", "format", "height", "info",
        "interval", "kind", "level", "metadata", "mode", "object", "operation", "option", "params", "parameters",
        "options", "pattern", "payload", "period", "price", "properties", "provider", "range", "role", "schedule",
        "scope", "selector", "settings", "side", "size", "spec", "start", "state", "status", "strategy", "time",
        "timeout", "timestamp", "type", "unit", "units", "version", "weight", "width",
    }
)  # fmt: skip
"""Words that leave a unit, a format or a choice open, even if the description repeats them."""

_SPELLED_OUT: Final = regex(
    r"YYYY|\bISO\b|\bRFC\b|\b(?:one of|either|e\.g\.|i\.e\.|such as|for example|formatted|in the form(?:at)?)\b"
    r"|\bin (?:whole )?(?:cents|dollars|euros?|usd|eur|milli\w*|seconds|minutes|hours|days|met(?:re|er)s|k?g|kilo\w*"
    r"|bytes|pixels|degrees|percent)\b|\d\s*(?:-|to|\.\.|\u2013)\s*\d",
    re.IGNORECASE,
)
"""Text that states a unit, a format or a choice."""

_HUMP: Final = regex(r"(?<=[a-z0-9])(?=[A-Z])")
_WORD: Final = regex(r"[^\W\d_]+|\d+")
_FORMATS: Final = frozenset(
    {"datetime.date", "datetime.datetime", "datetime.time", "datetime.timedelta", "uuid.UUID", "pydantic.AnyUrl",
     "pydantic.HttpUrl", "pydantic.EmailStr", "ipaddress.IPv4Address", "ipaddress.IPv6Address"}
)  # fmt: skip
_SCALARS: Final = frozenset({"builtins.str", "builtins.int", "builtins.float", "builtins.bool", "pathlib.Path",
                             "decimal.Decimal"})  # fmt: skip
_HOLDERS: Final = frozenset(
    {"builtins.list", "builtins.tuple", "builtins.set", "builtins.frozenset", "typing.List", "typing.Tuple",
     "typing.Set", "typing.Optional", "typing.Union", "typing.Sequence", "typing.Iterable",
     "collections.abc.Sequence", "collections.abc.Iterable"}
)  # fmt: skip
_DEEPEST: Final = 8

EXPLAINED: Final = "explained"
OTHER: Final = "other"
UNKNOWN: Final = "unknown"
"""A type that may have a description, which the linter cannot see."""


def kinds(annotation: ast.expr | None, scope: Scope) -> frozenset[str]:
    """The types in an annotation: names of scalars, or `EXPLAINED`, `OTHER` and `UNKNOWN`."""
    return frozenset(_kinds(annotation, scope, 0))


def _kinds(annotation: ast.expr | None, scope: Scope, depth: int) -> Iterator[str]:
    node = unquote(annotation)
    if node is None or depth > _DEEPEST:
        # Without an annotation the parameter is treated like a string.
        yield "builtins.str" if annotation is None else OTHER
    elif isinstance(node, ast.Constant):
        yield EXPLAINED if node.value is None else OTHER
    elif isinstance(node, ast.BinOp):
        yield from _kinds(node.left, scope, depth + 1)
        yield from _kinds(node.right, scope, depth + 1)
    elif isinstance(node, ast.Subscript):
        head = Resolver().expression(node.value, scope)
        name = head.name if isinstance(head, Symbol) else ""
        inner = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
        if name == "typing.Literal":
            yield EXPLAINED
        elif name == "typing.Annotated" and inner:
            yield from _kinds(inner[0], scope, depth + 1)
            for call in inner[1:]:
                maker = Resolver().expression(call.func, scope) if isinstance(call, ast.Call) else None
                if maker is not None and not (isinstance(maker, Symbol) and maker.name.startswith("pydantic.")):
                    yield UNKNOWN
        elif name in _HOLDERS:
            for item in inner:
                if not (isinstance(item, ast.Constant) and item.value is Ellipsis):
                    yield from _kinds(item, scope, depth + 1)
        else:
            yield OTHER if name else UNKNOWN
    elif isinstance(node, (ast.Name, ast.Attribute)):
        yield from _named_kinds(node, scope, depth)
    else:
        yield OTHER


def _named_kinds(node: ast.Name | ast.Attribute, scope: Scope, depth: int) -> Iterator[str]:
    # An alias first: `Side = Literal[...]` evaluates to its head alone.
    alias = Resolver().alias_of(node, scope)
    if alias is not None and alias[0] is not node:
        yield from _kinds(alias[0], alias[1], depth + 1)
        return
    value = Resolver().expression(node, scope)
    if not isinstance(value, Symbol):
        yield UNKNOWN
    elif enum_like(value) or isinstance(value.definition, ast.ClassDef) or value.name in _FORMATS:
        yield EXPLAINED
    else:
        is_known = value.name.partition(".")[0] in sys.stdlib_module_names
        yield value.name if value.name in _SCALARS else OTHER if is_known else UNKNOWN


def explains_itself(name: str, types: frozenset[str], text: str, names: str) -> bool:
    """Whether the type and the name of a parameter are enough.

    Args:
        name: The parameter's name.
        types: The types in its annotation.
        text: The description of the tool.
        names: The names of the tool and its handler.
    """
    scalars = types - {EXPLAINED}
    words = _words(name)
    if OTHER in types or not words:
        return False
    if not scalars:
        return True
    if scalars <= {"builtins.int", "builtins.float", "decimal.Decimal"} and name.lower() in NUMBER_NAMES:
        return True
    if scalars == {"builtins.bool"}:
        if name.startswith(FLAG_STARTS) or re.search(r"\b(?:true|false|whether)\b", text, re.IGNORECASE):
            return True
        return _word_set(name) <= _word_set(text)
    if scalars == {"builtins.int"} and len(words) > 1 and words[-1] in COUNT_ENDINGS:
        return True
    if scalars <= {"builtins.str", "pathlib.Path"} and _SPECIFIC.match(name.lower()):
        return True
    if not OPEN_WORDS.isdisjoint(words):
        return _word_set(name) <= _word_set(text) and _SPELLED_OUT.search(text) is not None
    significant = frozenset(_singular(word) for word in words if word not in FILLERS)
    plain = name.lower() in PLAIN_NAMES or words[-1] in PLAIN_ENDINGS
    return plain or significant <= _word_set(text) | _word_set(names)


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(_HUMP.sub(" ", text))]


def _word_set(text: str) -> frozenset[str]:
    """The words of a name or a sentence, in lower case and in the singular."""
    return frozenset(map(_singular, _words(text)))


def _singular(word: str) -> str:
    return word[:-1] if word.endswith("s") and len(word) > 3 else word
