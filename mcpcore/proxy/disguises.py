"""Failures in disguise: successful results that say that they failed, where that is certain.

A result may hold a file, a page or a line of a log, whose words are not the tool's own. So an object counts as a
failure only if nothing else is in it, and a text only if it is the whole result and its tool is not one that shows
texts of others. A flag such as `"ok": false` may be the answer to a question, so words have to come with it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from mcpcore.values.untrusted import quietly

if TYPE_CHECKING:
    from mcpcore.proxy.messages import Json


_PREFIX: Final = re.compile(
    r"^(?:Error (?:executing|calling) tool '?[A-Za-z0-9._-]{1,128}'?|MCP error -?\d{1,6}|Error|ERROR): "
)

_CRASH: Final = re.compile(
    r"^Error (?:executing|calling) tool '?[A-Za-z0-9._-]{1,128}'?$"
    r"|^panic: |nil pointer dereference|Segmentation fault|core dumped"
    r"|^(?:\w{1,60}\.){0,6}(?:AttributeError|NameError|UnboundLocalError|KeyError|IndexError|ZeroDivisionError|"
    r"RecursionError|AssertionError|ReferenceError|NullPointerException|NullReferenceException)\b"
    r"|'\w{1,60}' object has no attribute '|object is not (?:subscriptable|callable|iterable)"
    r"|(?:unexpected keyword argument|required positional arguments?:) '"
    r"|Cannot (?:read|set) propert(?:y|ies) of (?:undefined|null)|\bis not a function$"
    r"|^(?:list|tuple|string) index out of range$|local variable '\w{1,60}' referenced before",
    re.MULTILINE,
)
"""Texts that nobody wrote for a client: of exceptions that a program did not expect."""

_ANY_TRACE: Final = re.compile(
    r"""Traceback \(most recent call last\)"""
    r"""|(?:^|")[ \t]++at .{1,300}:\d+:\d+\)?(?:$|")"""
    r"""|(?:^|")[ \t]*+File "[^"\n]{1,300}", line \d"""
    r"""|(?:^|")goroutine \d+ \[""",
    re.MULTILINE,
)
"""Tracebacks of Python, JavaScript and Go, also in JSON whose escapes were undone."""

_ESCAPED: Final = re.compile(r"(?<!\\)\\++([nrt\"])")
_PLAIN: Final = {"n": "\n", "r": "\n", "t": "\t", '"': '"'}

MAX_SEARCHED: Final = 20_000
"""Characters of a text that are searched for words; tracebacks are found anywhere."""


def cleaned(text: str) -> str:
    """A message without the words that SDKs put before it; one SDK may have wrapped the text of another."""
    for _ in range(3):
        text = _PREFIX.sub("", text, count=1) or text
    return text


def is_crash(text: str) -> bool:
    """Whether a text is that of an exception that the server did not expect."""
    head = text[:MAX_SEARCHED]
    return _CRASH.search(cleaned(head)) is not None or _CRASH.search(head) is not None or _is_trace(head)


def traces_in(value: object) -> Iterator[str]:
    """The strings in `value`, which is JSON, that hold a traceback; keys of objects count, and JSON in strings.

    A list of strings counts as one of lines.
    """
    waiting = [value]
    while waiting:
        current = waiting.pop()
        if isinstance(current, str):
            if _is_trace(current):
                yield current
        elif isinstance(current, dict):
            waiting += (*current.keys(), *current.values())
        elif isinstance(current, list):
            is_text = all(isinstance(part, str) for part in current)
            waiting += ["\n".join(current)] if is_text else current


def _is_trace(text: str) -> bool:
    lines = text.replace("\r", "\n")
    if _ANY_TRACE.search(lines):
        return True
    return "\\" in lines and _ANY_TRACE.search(_ESCAPED.sub(lambda match: _PLAIN[match[1]], lines)) is not None


_MAX_TEXT: Final = 4_000
"""Characters of a text that can be a failure; a longer one has more to say."""

_FLAGS: Final = ("success", "ok", "succeeded")
_ERRORS: Final = ("error", "error_message", "errorMessage")
_WORDS: Final = frozenset(
    {
        *_FLAGS, *_ERRORS, "errors", "message", "msg", "detail", "details", "code", "error_code", "errorCode",
        "error_type", "errorType", "status", "status_code", "statusCode", "type", "isError", "is_error", "hint",
        "suggestion", "reason", "timestamp", "request_id", "requestId", "traceback", "stack",
        "retry_after", "retryAfter",
    }
)  # fmt: skip
"""Keys that belong to a failure; a result with any other key that has a value may be one of success."""

_MESSAGES: Final = ("message", "msg")
_FAILED_STATUS: Final = ("error", "Error", "ERROR")

_DOING: Final = (
    "accessing|adding|appending|applying|calculating|calling|cancelling|closing|communicating|computing|"
    "connecting|converting|copying|creating|deleting|deploying|describing|disconnecting|discovering|downloading|editing|"
    "evaluating|executing|extracting|fetching|flushing|generating|getting|initializing|inserting|installing|"
    "invoking|loading|looking|making|merging|moving|opening|performing|publishing|pushing|querying|registering|"
    "removing|renaming|requesting|resolving|retrieving|running|saving|sending|starting|stopping|storing|"
    "submitting|subscribing|transitioning|unsubscribing|updating|uploading|validating|writing"
)
"""Activities that public servers name before the error that ended them."""

_DOING_OR_NOUN: Final = (
    "analyzing|building|finding|formatting|listing|parsing|processing|reading|rendering|searching|setting"
)
"""Such words that also make a noun of "error", as in `Error processing guide: …`."""

_TITLES: Final = (
    "chapter|docs|documentation|format|guide|guidelines|handbook|level|manual|mode|policy|rules|strategy|tips"
)

_TEXT: Final = re.compile(
    r"""(?:[❌✗✖⚠️]+\s*)?(?:(?:"""
    r"""Database|SQL|Query|Internal|Server|Network|Connection|API|HTTP|Request|Tool|Unexpected|Unknown|"""
    r"""Configuration) )?(?:ERROR|[Ee]rror)"""
    rf"""(?: (?:(?:{_DOING})(?: [^:\n]{{1,80}})?|(?:{_DOING_OR_NOUN}) (?!(?:{_TITLES})\b)[^:\n]{{1,80}}"""
    r"""|(?:in|while|when|from|during) [^:\n]{1,80}|occurred(?: [^:\n]{1,80})?))?"""
    r""": ?(?P<message>\S.*)"""
)
"""Texts that a program writes when it fails; other words between "error" and the colon make a title or a quantity."""

_QUANTITY: Final = re.compile(r"(?i:none|null|n/a|no|off|[±+~≈<>-]*\s*\d[\d.,]*(?:e[+-]?\d+)?\s?\S{0,3})[.!]?")
"""Values that make a measurement of the text, such as `Error: 3 cm`."""

_FRAME: Final = re.compile(r"\s+at .+|\s*File \".+\", line \d+.*|LINE \d+: .*|Did you mean .*|\s*\^?[~^]*\s*")

_TRACE: Final = re.compile(
    r"""Traceback \(most recent call last\):\n[ \t]+File ".*\n(?:[ \t].*\n)*"""
    r"""(?:\w+\.)*\w+(?:: .*|:)?(?:\n(?:[ \t].*|[\[(].*[\])]|[\w.]+))*"""
)
"""A traceback of Python: frames, the exception, and lines that libraries add to its message."""

_CHAINED: Final = re.compile(
    r"\n\n(?:During handling of the above exception, another exception occurred"
    r"|The above exception was the direct cause of the following exception):\n\n"
)

_SHOWS_TEXTS: Final = frozenset(
    {
        "bash", "cat", "command", "content", "contents", "diff", "document", "echo", "eval", "exec", "execute", "file",
        "files", "grep", "head", "log", "logs", "message", "messages", "note", "notes", "page", "print", "read",
        "render", "run", "script", "shell", "show", "summarize", "tail", "text", "transcript", "translate", "view",
    }
)  # fmt: skip
"""Words in the names of tools that return the texts of others."""

_ASKS: Final = frozenset({"query", "sql", "table", "database"})
"""Words in the names of tools that read rows, and not texts."""


def shows_texts(tool: str) -> bool:
    """Whether a tool, by its name, returns texts that others wrote."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", tool).lower()
    parts = set(re.split(r"[^a-z]+", words))
    return not _SHOWS_TEXTS.isdisjoint(parts) and _ASKS.isdisjoint(parts)


def object_of(result: Json) -> Json | None:
    """The object that a result consists of: its structured content, else the JSON in its only text."""
    structured = result.get("structuredContent")
    if isinstance(structured, dict):
        # The Python SDKs wrap the value of a handler without a model.
        inner = structured.get("result") if structured.keys() == {"result"} else structured
        return inner if isinstance(inner, dict) else _parsed(inner) if isinstance(inner, str) else None
    return _parsed(text_alone(result))


def text_alone(result: Json) -> str | None:
    """The text of a result that consists of one text and nothing else."""
    content, structured = result.get("content"), result.get("structuredContent")
    if not isinstance(content, list) or len(content) != 1 or not isinstance(content[0], dict):
        return None
    text = content[0].get("text")
    if not isinstance(text, str) or content[0].get("type") != "text":
        return None
    return text if structured is None or structured == {"result": text} else None


def _parsed(text: str | None) -> Json | None:
    if text is None or len(text) > _MAX_TEXT or not text.lstrip().startswith("{"):
        return None
    parsed = quietly(lambda: json.loads(text), None)
    return parsed if isinstance(parsed, dict) else None


def disguised_failure(
    result: Json, tool: str, arguments: Mapping[str, Any], *, declared: Collection[str] = ()
) -> tuple[str, Json | None] | None:
    """The words and the object of a failure that `result`, a success, certainly is; None for any other result.

    `declared` are the fields in the output schema of the tool, which then need not say that it failed.
    """
    structured = isinstance(result.get("structuredContent"), dict)
    alone = text_alone(result)
    if alone is not None and shows_texts(tool):
        return None
    plain = object_of(result)
    if plain is not None and (structured or len(result.get("content") or ()) == 1):
        message = _failure_in(plain, arguments, declared)
        return None if message is None else (message, plain)
    said = None if alone is None else _said_in(alone.strip())
    # An answer that repeats the caller's words is not about a failure.
    if alone is None or said is None or any(said in text for text in _texts_in(arguments)):
        return None
    return alone.strip(), None


def _said_in(text: str) -> str | None:
    """The words of the failure that a text certainly is; None if it may be a success."""
    if text.startswith("Traceback "):
        parts = _CHAINED.split(text.replace("\r\n", "\n")) if len(text) <= MAX_SEARCHED else ["too long"]
        return text if all(map(_TRACE.fullmatch, parts)) else None
    first, *others = text.split("\n")
    match = _TEXT.fullmatch(first.strip()) if len(text) <= _MAX_TEXT else None
    if match is None or not all(map(_FRAME.fullmatch, others)):
        return None
    said = match["message"].strip()
    return None if _QUANTITY.fullmatch(said) else said


def _failure_in(plain: Json, arguments: Mapping[str, Any], declared: Collection[str]) -> str | None:
    """The words of the failure that an object certainly is; None if it may be a success."""
    if any(plain.get(key) is True for key in _FLAGS):
        return None
    own = _texts_in(arguments)
    # A report about something that failed, such as a test run, has other facts than the words of a failure.
    if not all(key in _WORDS or value in (None, "", [], {}, False) or value in own for key, value in plain.items()):
        return None
    error = next((words for key in _ERRORS if (words := _words(plain.get(key)))), None)
    flags = [key for key in _FLAGS if plain.get(key) is False]
    flags += [key for key in ("isError", "is_error") if plain.get(key) is True]
    statuses = ["status"] if plain.get("status") in _FAILED_STATUS else []
    if not flags and not statuses:
        # A list of errors may be what a checker found.
        return None if "errors" in plain or "error" in declared else error
    if any(key in declared for key in (*flags, *statuses)):
        return error if flags else None  # a value that the tool promises is its answer: whether a signature is valid
    return error or next((words for key in _MESSAGES if (words := _words(plain.get(key)))), None)


def _words(value: object) -> str:
    """The sentence in the value of `error`: a text, an object with a message, or a list of such."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, Mapping):
        return next((words for key in ("message", "msg", "detail", "error") if (words := _words(value.get(key)))), "")
    if isinstance(value, list) and value:
        return "; ".join(filter(None, map(_words, value[:5])))
    return ""


def _texts_in(arguments: object, depth: int = 0) -> list[str]:
    if isinstance(arguments, str):
        return [arguments]
    if depth > 5 or not isinstance(arguments, Mapping | list):
        return []
    parts = arguments.values() if isinstance(arguments, Mapping) else arguments
    return [text for part in parts for text in _texts_in(part, depth + 1)]
