"""Failures in disguise: successful results that say that they failed, where that is certain.

A result may hold a file, a page or a line of a log, whose words are not the tool's own. So an object counts as a
failure only if nothing else is in it, and a text only if it is the whole result and its tool is not one that shows
texts of others.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from mcpcore.foreign import quietly

if TYPE_CHECKING:
    from mcpcore.proxy.messages import Json

_MAX_TEXT: Final = 4_000
"""Characters of a text that can be a failure; a longer one has more to say."""

_FLAGS: Final = ("success", "ok", "succeeded")
_ERRORS: Final = ("error", "error_message", "errorMessage", "errors")
_WORDS: Final = frozenset(
    {
        *_FLAGS, *_ERRORS, "message", "msg", "detail", "details", "code", "error_code", "errorCode", "error_type",
        "errorType", "status", "status_code", "statusCode", "type", "isError", "is_error", "hint", "suggestion",
        "reason", "timestamp", "request_id", "requestId", "traceback", "stack", "retry_after", "retryAfter",
    }
)  # fmt: skip
"""Keys that belong to a failure; a result with any other key that has a value may be one of success."""

_MESSAGES: Final = ("message", "msg", "detail", "details")
_FAILED_STATUS: Final = ("error", "Error", "ERROR")

_TEXT: Final = re.compile(
    r"""(?:[❌✗✖⚠️]+\s*)?(?:(?:"""
    r"""Database|SQL|Query|Internal|Server|Network|Connection|API|HTTP|Request|Tool|Unexpected|Unknown|"""
    r"""Configuration) )?"""
    r"""(?:ERROR|[Ee]rror)(?: (?P<what>[^:\n]{1,80}))?: ?(?P<message>\S.*)"""
)
_FRAME: Final = re.compile(r"\s+at .+|\s*File \".+\", line \d+.*|LINE \d+: .*|Did you mean .*|\s*\^?[~^]*\s*")

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
    result: Json, tool: str, arguments: Mapping[str, Any], *, has_error_field: bool
) -> tuple[str, Json | None] | None:
    """The words and the object of a failure that `result`, a success, certainly is; None for any other result.

    `has_error_field` says that the output schema of the tool has a field `error`, which then need not be a failure.
    """
    structured = isinstance(result.get("structuredContent"), dict)
    alone = text_alone(result)
    if alone is not None and shows_texts(tool):
        return None
    found = object_of(result)
    if found is not None and (structured or len(result.get("content") or ()) == 1):
        message = _failure_in(found, arguments, has_error_field=has_error_field)
        return None if message is None else (message, found)
    if alone is None or len(alone) > _MAX_TEXT:
        return None
    first, *others = alone.strip().split("\n")
    match = _TEXT.fullmatch(first.strip())
    if match is None or not all(map(_FRAME.fullmatch, others)):
        return None
    said = match["message"].strip()
    # An answer that repeats the caller's words is not about a failure.
    if any(said in text for text in _texts_in(arguments)):
        return None
    return alone.strip(), None


def _failure_in(found: Json, arguments: Mapping[str, Any], *, has_error_field: bool) -> str | None:
    """The words of the failure that an object certainly is; None if it may be a success."""
    if any(found.get(key) is True for key in _FLAGS):
        return None
    own = _texts_in(arguments)
    # A report about something that failed, such as a test run, has other facts than the words of a failure.
    if not all(key in _WORDS or value in (None, "", [], {}, False) or value in own for key, value in found.items()):
        return None
    error = next((words for key in _ERRORS if (words := _words(found.get(key)))), "")
    said = next((words for key in _MESSAGES if (words := _words(found.get(key)))), "")
    flagged = any(found.get(key) is False for key in _FLAGS) or found.get("isError") is True
    if flagged or found.get("status") in _FAILED_STATUS:
        return error or said or "The tool says that it failed, and not why."
    if "errors" in found or has_error_field:
        return None  # a list of errors may be what a checker found
    return error or None


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
