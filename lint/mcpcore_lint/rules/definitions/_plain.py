"""Parameters that need no description: their type says it, or their name does where the tool is small."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Final

from mcpcore_lint.model import Symbol
from mcpcore_lint.patterns import regex
from mcpcore_lint.semantics.annotations import unquote
from mcpcore_lint.semantics.evaluate import Resolver
from mcpcore_lint.semantics.symbols import enum_like

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore_lint.syntax.scopes import Scope

SMALL: Final = 2
"""A tool is small where the model must fill in at most so many parameters whose type does not say all."""

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
"""Names that say what to fill in, beside the name and the description of a small tool."""

PLAIN_ENDINGS: Final = frozenset({"name", "path", "query", "text", "url", "uri", "title", "content", "message"})
"""Last words of a name that say what to fill in: `image_path`, `feed_url`. The words before them say whose it is."""

_SPECIFIC: Final = regex(r"(?:\w+_)?(?:file_?name|file_?path)|\w+_name")
"""Names that say also beside many others what to fill in, and whose it is: `sheet_name`, `filepath`."""

COUNT_ENDINGS: Final = frozenset({"count", "index", "limit", "number", "size"})
"""Last words of the name of an int that make it a count: `party_size`, `page_size`."""

FILLERS: Final = frozenset({"id", "ids", "name", "names", "str", "string", "value", "input", "new", "the", "list"})
"""Words of a name that ask nothing more of the description, which has to speak of the others."""

NUMBER_NAMES: Final = frozenset(
    {"a", "b", "c", "i", "j", "k", "m", "n", "x", "y", "z", "first", "second", "left", "right", "base", "exponent",
     "dividend", "divisor", "numerator", "denominator", "num1", "num2", "number1", "number2"}
)  # fmt: skip
"""Names of the numbers that a calculation takes."""

FLAG_STARTS: Final = ("is_", "has_", "include_", "exclude_", "with_", "allow_", "enable_", "use_", "show_", "should_")
"""Beginnings of the name of a bool that make it a question with the answer yes or no."""

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
"""Words of a name that leave a unit, a format or a choice open, even where the description repeats them."""

_SPELLED_OUT: Final = regex(
    r"YYYY|\bISO\b|\bRFC\b|\b(?:one of|either|e\.g\.|i\.e\.|such as|for example|formatted|in the form(?:at)?)\b"
    r"|\bin (?:whole )?(?:cents|dollars|euros?|usd|eur|milli\w*|seconds|minutes|hours|days|met(?:re|er)s|k?g|kilo\w*"
    r"|bytes|pixels|degrees|percent)\b|\d\s*(?:-|to|\.\.|\u2013)\s*\d",
    re.IGNORECASE,
)
"""What a description that settles a unit, a format or a choice has in it."""

_HUMP: Final = regex(r"(?<=[a-z0-9])(?=[A-Z])")
_WORD: Final = regex(r"[^\W\d_]+|\d+")
_SAYS_FORMAT: Final = frozenset(
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

SAYS: Final = "says"
OTHER: Final = "other"


def kinds(annotation: ast.expr | None, scope: Scope) -> frozenset[str]:
    """What an annotation is made of: canonical names of scalars, `SAYS` for a type that says all, else `OTHER`."""
    return frozenset(_kinds(annotation, scope, 0))


def _kinds(annotation: ast.expr | None, scope: Scope, depth: int) -> Iterator[str]:
    node = unquote(annotation)
    if node is None or depth > _DEEPEST:
        # Nothing is said about a type that is not written.
        yield "builtins.str" if annotation is None else OTHER
    elif isinstance(node, ast.Constant):
        yield SAYS if node.value is None else OTHER
    elif isinstance(node, ast.BinOp):
        yield from _kinds(node.left, scope, depth + 1)
        yield from _kinds(node.right, scope, depth + 1)
    elif isinstance(node, ast.Subscript):
        head = Resolver().expression(node.value, scope)
        name = head.name if isinstance(head, Symbol) else ""
        inner = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
        if name == "typing.Literal":
            yield SAYS
        elif name == "typing.Annotated" and inner:
            yield from _kinds(inner[0], scope, depth + 1)
        elif name in _HOLDERS:
            for each in inner:
                if not (isinstance(each, ast.Constant) and each.value is Ellipsis):
                    yield from _kinds(each, scope, depth + 1)
        else:
            yield OTHER
    elif isinstance(node, (ast.Name, ast.Attribute)):
        yield from _named(node, scope, depth)
    else:
        yield OTHER


def _named(node: ast.Name | ast.Attribute, scope: Scope, depth: int) -> Iterator[str]:
    # An alias first: what `Side = Literal[...]` evaluates to is its head alone.
    alias = Resolver().alias_of(node, scope)
    if alias is not None and alias[0] is not node:
        yield from _kinds(alias[0], alias[1], depth + 1)
        return
    value = Resolver().expression(node, scope)
    if not isinstance(value, Symbol):
        yield OTHER
    elif enum_like(value) or isinstance(value.definition, ast.ClassDef) or value.name in _SAYS_FORMAT:
        yield SAYS
    else:
        yield value.name if value.name in _SCALARS else OTHER


def type_says(name: str, of: frozenset[str]) -> bool:
    """Whether a type alone says what to fill in: a choice of values, a model, or a yes or no that its name asks for."""
    rest = of - {SAYS}
    return (bool(of) and not rest) or (rest == {"builtins.bool"} and name.startswith(FLAG_STARTS))


def is_number(name: str, of: frozenset[str]) -> bool:
    """Whether a parameter is a plain number of a calculation."""
    return name.lower() in NUMBER_NAMES and of <= {"builtins.int", "builtins.float", "decimal.Decimal", SAYS}


def is_specific(name: str, of: frozenset[str]) -> bool:
    """Whether a name says all in a tool of any size."""
    if not of <= {"builtins.str", "pathlib.Path", SAYS}:
        return False
    # `function_name_or_address`: whose it is stands before the first.
    first, *others = name.lower().split("_or_")
    return _SPECIFIC.fullmatch(first) is not None and all(
        each in PLAIN_NAMES or _SPECIFIC.fullmatch(each) is not None for each in others
    )


def words_of(text: str) -> frozenset[str]:
    """The words of a name or of a sentence, in lower case and in the singular."""
    return frozenset(_singular(each) for each in _words(text))


def _words(text: str) -> list[str]:
    return [each.lower() for each in _WORD.findall(_HUMP.sub(" ", text))]


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 3 else word


def name_says(name: str, of: frozenset[str], text: str, names: str) -> bool:
    """Whether a name says what to fill in, in a small tool.

    Args:
        name: The parameter's name.
        of: What its type is made of.
        text: What the tool says of itself.
        names: The names that the tool goes by.
    """
    if OTHER in of:
        return False
    if is_number(name, of):
        return True
    words = _words(name)
    if not words:
        return False
    if of <= {"builtins.bool", SAYS}:
        return bool(re.search(r"\b(?:true|false|whether)\b", text, re.IGNORECASE)) or words_of(name) <= words_of(text)
    if len(words) > 1 and words[-1] in COUNT_ENDINGS and of <= {"builtins.int", SAYS}:
        return True
    if not OPEN_WORDS.isdisjoint(words):
        return words_of(name) <= words_of(text) and _SPELLED_OUT.search(text) is not None
    if name.lower() in PLAIN_NAMES or words[-1] in PLAIN_ENDINGS:
        return True
    asked = frozenset(_singular(each) for each in words if each not in FILLERS)
    return asked <= words_of(text) | words_of(names)
