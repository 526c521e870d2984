"""Names a failure after the constant part of its message, and gives it a code."""

import ast
import builtins
import json
import re
from collections.abc import Container, Sequence
from functools import cache
from typing import Final

from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.syntax.scopes import Scope
from mcpcore_lint.model import CallValue, Const, Text, options
from mcpcore_lint.patterns import SIGNS

_IN_RESPONSE: Final = re.compile(r"\bin (?:the |its |an? )?(?:\w+ )?response\b", re.IGNORECASE)
"""What a caller cannot name."""
_OF_SERVER: Final = re.compile(
    r"(?i:\b(?:binary|executable|command|program|package|library|dependency|driver|credentials?|api[ _-]?key)\b)"
    r"|(?:Binary|Executable|Command|Package|Library|Dependency|Driver|Credentials?|ApiKey|APIKey)(?=[A-Z])"
)
"""What a caller cannot name if it is a part of the server: a text with a value of the caller is about another one."""
LOCK: Final = re.compile(r"(?i:\block)|Lock")
"""What passes with time."""
VAGUE: Final = frozenset({"INTERNAL_ERROR", "UNKNOWN_ERROR"})
PLAIN: Final = frozenset(
    f"builtins.{name}" for name in ("Exception", "ValueError", "RuntimeError", "TypeError", "KeyError", "LookupError")
)
"""Classes that say less about a failure than its message does."""
_CLEAR: Final = frozenset(
    {"NOT_FOUND", "FORBIDDEN", "UNAUTHORIZED", "RATE_LIMITED", "TIMEOUT", "CONFIGURATION_ERROR", "SERVICE_UNAVAILABLE"}
)
"""Codes that a text gives only if it says so in plain words."""
_ABSENT: Final = re.compile(
    r"\W*no \w(?:(?!provided|given|specified)[^.:;])*\b(?:found|exists)\b"
    r"|[^.:;]*\b(?:not found|does not exist|doesn't exist)\b|\W*(?:could not|couldn't|cannot|can't) find\b",
    re.IGNORECASE,
)
"""A text that says that something does not exist."""
_PREFIX: Final = re.compile(
    r"^\W*(?:(?:an? )?(?:unexpected )?(?:error|failure)\b(?: occurred)?\s*[^\w\s'\"]+\s*)+", re.IGNORECASE
)
LABEL: Final = re.compile(
    rf"(?:\s*(?:{SIGNS}+\s*)?(?:\*\*)?error(?:\*\*)?\s*(?:[:!]|[-\u2013\u2014](?=\s))(?:\*\*)?\s*|\s*\[error\]\s*:?\s*"
    rf"|\s*{SIGNS}+\s*)+",
    re.IGNORECASE,
)
"""What says at the start of a message that it is one of an error: the envelope of a failure says it already."""
_OPENING: Final = re.compile(r"(\(*\s*)([fFrRuU]{0,2})(\"\"\"|'''|\"|')")
_SENTENCE: Final = re.compile(r"[.!?;:,\n](?:\s|$)|\n")
_SPELLED: Final = (
    (re.compile(r"\[\s*(-?[\d.]+)\s*,\s*(-?[\d.]+)\s*\]"), r"\1 to \2"),
    (re.compile(r"\([^()]*\)"), " "),
    (re.compile(r">="), " at least "),
    (re.compile(r"<="), " at most "),
)
"""Signs of a message as words, and what explains others."""
_WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:'[a-z]+)?|\d+")
_DROPPED: Final = frozenset({"a", "an", "the", "please"})
_CONNECTING: Final = frozenset(
    {
        "in",
        "at",
        "for",
        "of",
        "to",
        "from",
        "with",
        "and",
        "or",
        "on",
        "by",
        "via",
        "is",
        "are",
        "be",
        "was",
        "got",
        "as",
        "but",
        "than",
        "no",
        "when",
        "if",
        "that",
        "which",
        "because",
    }
)
"""Words that connect a message with a hole, and say nothing at the end of a name."""
_VERBS: Final = frozenset(
    {"is", "are", "was", "were", "must", "not", "does", "has", "have", "cannot", "should", "already"}
)
_MAX_SLUG: Final = 60
_STRING_METHODS: Final = frozenset({"format", "join", "strip", "rstrip", "lower", "replace", "upper", "title"})
_HOLE: Final = "\N{HORIZONTAL ELLIPSIS}"


def parts_of(node: ast.expr | None, scope: Scope) -> list[str | ast.expr | None]:
    """The constant pieces of a text, with the expression of each hole, or None for a hole that is not known."""
    match node:
        case None:
            return []
        case ast.Constant(value=str(text)):
            return [text]
        case ast.JoinedStr(values=values):
            return [
                str(part.value) if isinstance(part, ast.Constant) else getattr(part, "value", None) for part in values
            ]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return [*parts_of(left, scope), *parts_of(right, scope)]
        case ast.BinOp(left=ast.Constant(value=str(text)), op=ast.Mod(), right=right):
            values = right.elts if isinstance(right, ast.Tuple) else [right]
            return _filled(re.split(r"%(?:\(\w+\))?[-#0 +]?\d*(?:\.\d+)?[a-zA-Z]", text), values)
        case ast.Call(func=ast.Attribute(value=template, attr="format"), args=values):
            texts = parts_of(template, scope)
            if len(texts) == 1 and isinstance(texts[0], str):
                return _filled(re.split(r"\{[^{}]*\}", texts[0]), values)
        case ast.Name(id=name):
            match = scope.lookup(name)
            written = match[1][0].value if match is not None and len(match[1]) == 1 else None
            if isinstance(written, (ast.JoinedStr, ast.BinOp, ast.Call)) and is_text(written, scope):
                return parts_of(written, scope)
            value = evaluate(node, scope)
            if isinstance(value, Const) and isinstance(value.value, str):
                return [value.value]
            if isinstance(value, Text):
                return list(value.parts)
    return [node]


def pieces(node: ast.expr | None, scope: Scope) -> list[str | None]:
    """The constant pieces of a text, with None for each hole; a single None if nothing is known."""
    return [part if isinstance(part, str) else None for part in parts_of(node, scope)]


def is_token(parts: list[str | None]) -> bool:
    """Whether a message is one word for programs, such as `not_found`."""
    return None not in parts and re.fullmatch(r"[a-z\d]+(?:[_.-][a-z\d]+)*", constant_text(parts)) is not None


def shows(node: ast.expr | None, scope: Scope, names: Container[str]) -> bool:
    """Whether a text shows the value of one of some names."""
    return any(isinstance(part, ast.Name) and part.id in names for part in parts_of(node, scope))


def _filled(texts: list[str], values: Sequence[ast.expr]) -> list[str | ast.expr | None]:
    """Some texts, with a value between each two."""
    known = [*values] if len(values) == len(texts) - 1 else [None] * (len(texts) - 1)
    parts: list[str | ast.expr | None] = [texts[0]]
    for value, text in zip(known, texts[1:], strict=True):
        parts += [value, text]
    return parts


def is_text(node: ast.expr | None, scope: Scope) -> bool:
    """Whether an expression is certainly a string."""
    match node:
        case ast.Constant(value=value):
            return isinstance(value, str)
        case ast.JoinedStr() | ast.Call(func=ast.Name(id="str" | "repr")):
            return True
        case ast.BinOp(left=left, op=ast.Add() | ast.Mod()):
            return is_text(left, scope)
        case ast.IfExp(body=body, orelse=orelse):
            return is_text(body, scope) and is_text(orelse, scope)
        case ast.BoolOp(op=ast.Or(), values=values):
            return all(is_text(value, scope) for value in values)
        case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in _STRING_METHODS:
            return is_text(value, scope)
        case ast.Name():
            alternatives = options(evaluate(node, scope))
            return all(
                isinstance(value, Text) or isinstance(getattr(value, "value", None), str) for value in alternatives
            )
    return False


def is_json(node: ast.expr | None, scope: Scope) -> bool:
    """Whether an expression is a text that `json.dumps` writes, so that clients may parse it."""
    value = evaluate(node, scope) if isinstance(node, (ast.Name, ast.Call)) else None
    return isinstance(value, CallValue) and value.func.name == "json.dumps"


def may_be_text(node: ast.expr) -> bool:
    """Whether `str(...)` of an expression is its message: not of a display of several values."""
    return isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.BoolOp, ast.IfExp, ast.BinOp))


def unlabelled(code: str, parts: list[str | None]) -> str:
    """The code of a message without "Error: " at its start; the same code if nothing is left, or if it is not clear.

    Args:
        code: The expression, as it is written.
        parts: Its constant pieces.
    """
    label = LABEL.match(parts[0] or "") if parts else None
    if label is None or parts == [label[0]]:
        return code
    if code.isidentifier():
        return f"{code}.removeprefix({json.dumps(label[0], ensure_ascii=False)})"
    opening = _OPENING.match(code)
    if opening is None or not code.startswith(label[0], opening.end()):
        return code
    rest, quote = code[opening.end() + len(label[0]) :], opening[3]
    if rest.startswith(quote):
        # The literal held nothing else. The message follows, next to it or behind a plus sign.
        rest = opening[1] + rest[len(quote) :].lstrip().removeprefix("+").lstrip()
    else:
        rest = opening[0] + rest
    return rest


def constant_text(parts: list[str | None]) -> str:
    """The constant pieces of a message, with an ellipsis for each hole."""
    return "".join(_HOLE if part is None else part for part in parts)


def slug(parts: list[str | None], most: int) -> str:
    """The reason: up to `most` words of the first sentence of the message; empty if it has none, or has numbers."""
    text = _PREFIX.sub("", "".join(" " if part is None else part for part in parts).lstrip())
    for sign, spelled in _SPELLED:
        text = sign.sub(spelled, text)
    words: list[str] = []
    for sentence in _SENTENCE.split(text):
        words += [word.lower().replace("'", "") for word in _WORD.findall(sentence)]
        words = [word for word in words if word not in _DROPPED]
        if len(words) > 1:
            break
    if len(words) > most + 2:
        # A phrase that has begun would end in the middle.
        last = max((at for at, word in enumerate(words[:most]) if word in _CONNECTING), default=0)
        words = words[:last] if last > most // 2 else []
    while len(words) > 1 and words[-1] in _CONNECTING:
        words.pop()
    # Without the noun that a hole has, a reason names nothing.
    joined = "_".join(words) if not words or words[0] not in _VERBS else ""
    return joined if 3 < len(joined) <= _MAX_SLUG and not re.search(r"\d", joined) else ""


# -- codes, from the tables by which the runtime classifies exceptions ------------------------------------------------


@cache
def code_of(class_name: str, message: str, *, names_value: bool = False) -> str:
    """The name of the code for an exception class and the constant part of a message; both may be empty.

    With `names_value`, the message also shows a value that the caller passed.
    """
    code = _code_of(class_name, message)
    # A lock passes with time, so the advice of CONFLICT not to retry would be false.
    vague = {"CONFLICT": (LOCK,), "NOT_FOUND": (_IN_RESPONSE, *([] if names_value else [_OF_SERVER]))}.get(code, ())
    return "INTERNAL_ERROR" if any(part.search(f"{class_name} {message}") for part in vague) else code


def _code_of(class_name: str, message: str) -> str:
    from mcpcore.classification import classify, explain

    explanation = explain(_exception(class_name, message))
    by_class = explanation.code.name if class_name else ""
    by_text = classify(Exception(message)).name
    absent = _ABSENT.match(message) is not None
    if absent and by_text in {*VAGUE, "DATABASE_ERROR"}:
        by_text = "NOT_FOUND"
    elif explanation.matched.layer == "default":
        return explanation.code.name  # nothing in the message helps
    # "Not found" is no wrong form of an argument, whatever the class is called.
    if (
        by_class
        and by_class not in VAGUE
        and class_name not in PLAIN
        and not (absent and by_class == "VALIDATION_ERROR")
    ):
        return by_class
    if by_text in VAGUE or not by_class:
        return by_class or by_text
    # A ValueError is about an argument, unless its text says more than that.
    return by_text if by_class in VAGUE or by_text in _CLEAR else by_class


def _exception(class_name: str, message: str) -> Exception:
    """An exception with the name of a class, made without importing the library that defines it."""
    module, _, name = class_name.rpartition(".")
    known = getattr(builtins, name, None) if module == "builtins" else None
    if isinstance(known, type) and issubclass(known, Exception):
        try:
            return known(message)
        except TypeError:  # such as UnicodeDecodeError
            return ValueError(message)
    made: type[Exception] = type(name or "Exception", (Exception,), {"__module__": module})
    return made(message)
