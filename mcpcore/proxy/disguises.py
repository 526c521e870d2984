"""Failures in disguise: successful results whose structure says that they failed, and texts of crashes.

Words never make a failure of a success: a text that begins with "Error:" may be what the tool was asked for, and a flag
such as `"ok": false` may be the answer to a question. Such results are only suspected, which changes nothing in them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from mcpcore.proxy.messages import Json, texts_of
from mcpcore.proxy.overlay import place
from mcpcore.values.untrusted import quietly
from mcpcore.wire.envelope import Envelope

_PREFIX: Final = re.compile(
    r"^(?:Error (?:executing|calling) tool '?[A-Za-z0-9._-]{1,128}'?|MCP error -?\d{1,6}|Error|ERROR): "
)

# Texts that nobody wrote for a client: of exceptions that a program did not expect.
_CRASH: Final = re.compile(
    r"^Error (?:executing|calling) tool '?[A-Za-z0-9._-]{1,128}'?$"
    r"|^panic: |nil pointer dereference"
    r"|^(?:\w{1,60}\.){0,6}(?:AttributeError|NameError|UnboundLocalError|KeyError|IndexError|ZeroDivisionError|"
    r"RecursionError|AssertionError|ReferenceError|NullPointerException|NullReferenceException)\b"
    r"|'\w{1,60}' object has no attribute '|object is not (?:subscriptable|callable|iterable)"
    r"|(?:unexpected keyword argument|required positional arguments?:) '"
    r"|Cannot (?:read|set) propert(?:y|ies) of (?:undefined|null)|\bis not a function$"
    r"|^(?:list|tuple|string) index out of range$|local variable '\w{1,60}' referenced before",
    re.MULTILINE,
)

# Tracebacks of Python, JavaScript and Go, also in JSON whose escapes were undone.
_ANY_TRACE: Final = re.compile(
    r"""Traceback \(most recent call last\)"""
    r"""|(?:^|")[ \t]++at .{1,300}:\d+:\d+\)?(?:$|")"""
    r"""|(?:^|")[ \t]*+File "[^"\n]{1,300}", line \d"""
    r"""|(?:^|")goroutine \d+ \[""",
    re.MULTILINE,
)

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
    """Whether a text is that of an exception that the server did not expect.

    Such an exception has one line without its traceback; of more lines, each may be the output of a program.
    """
    head = text[:MAX_SEARCHED]
    if "\n" in head.strip():
        return _is_trace(head)
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


# Characters of a text that can be the JSON of a failure; a longer one has more to say.
_MAX_TEXT: Final = 4_000

# The flags of a failure, and the values that they have in one.
_FLAGS: Final[Mapping[str, bool]] = {"isError": True, "is_error": True, "ok": False, "success": False}

_SAYS_SO: Final = frozenset({"isError", "is_error"})

# Where an error says of what kind it is.
_TYPES: Final = frozenset({"code", "type", "error_code", "errorCode", "error_type", "errorType"})

_NO_ERROR: Final = re.compile(r"0*|[23]\d\d")

_OF_ERROR: Final = _TYPES | {"error", "message"}
_OF_RESULT: Final = frozenset({"content", "structuredContent", "structured_content", "_meta"})

# Fields of a failure that make an answer of it if the output schema of the tool declares them.
_PROMISED: Final = frozenset({"error", "code", "error_code"})

# Values of `status` that make a result suspect.
_FAILED: Final = frozenset({"error", "failed", "failure"})

# How texts begin that may be failures; since words decide nothing, nobody sees more of it than a count.
_SUSPECT: Final = re.compile(
    r"\W{0,8}(?:\w{1,40} ){0,3}?(?:error|failed|failure|exception|traceback|cannot|could not|unable to)\b",
    re.IGNORECASE,
)

# Signs of a file or an address in the JSON of arguments: a separator, a suffix, a port, or the name of a hidden file.
_PLACE: Final = re.compile(r'[/~]|\\\\|[^\W\d]\.\w|\w\.[^\W\d]|\w:\d|"\.')

# A frame of Python or of JavaScript with its file, and the name that code has which was not read from a file.
_FRAME: Final = re.compile(
    r"""File "([^"\n]{1,300})", line \d|^[ \t]*+at (?:[^\n(]{1,200}\()?([^\s()]{1,300}):\d+:\d""", re.MULTILINE
)
_NO_FILE: Final = re.compile(r"(?:evalmachine\.)?<(?!frozen)[^>]{0,80}>|\[eval\]")
_MAX_FILES: Final = 50
_FOLDER: Final = re.compile(r"^.*[/\\]")
_NAMED: Final = r"(?<![\w.-])%s(?![\w-])"
_OF_LANGUAGE: Final = re.compile(r"node:.*|.*[/\\]lib(?:64)?[/\\]python3\.\d+[/\\](?!(?:site|dist)-packages).*")


def is_of_caller(text: str, arguments: Mapping[str, Any]) -> bool:
    """Whether a traceback is that of a program of the caller, of which the arguments name each file.

    They may name it without its folder. Code that they hold has no file, and the frames of the language's own library
    are nobody's. A text that is longer than what is searched counts as the server's.
    """
    asked = json.dumps(arguments)
    frames = {python or other for python, other in _FRAME.findall(text[:MAX_SEARCHED])}
    own = {_FOLDER.sub("", file) for file in frames if not _OF_LANGUAGE.fullmatch(file)}
    return (
        0 < len(own) <= _MAX_FILES
        and len(text) <= MAX_SEARCHED
        and all(_NO_FILE.fullmatch(file) or re.search(_NAMED % re.escape(file), asked) for file in own)
    )


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


def disguised_failure(result: Json, arguments: Mapping[str, Any], *, declared: Collection[str] = ()) -> Json | None:
    """The object of a failure that `result`, a success, is beyond doubt; None for any other result.

    That is exactly one of the dialects, or an object that holds only an error, which has its own type or code.

    Args:
        result: The result.
        arguments: The arguments of the call. What repeats them says nothing, nor does a text if they name a place from
            which it may come.
        declared: The fields in the output schema of the tool. An error that it promises is its answer.
    """
    facts, text = object_of(result), text_alone(result)
    if facts is None or not _PROMISED.isdisjoint(declared) or facts in arguments.values():
        return None
    # The only text may be that of a file or a page that the arguments name, or their own.
    asked = json.dumps(arguments, ensure_ascii=False)
    if text is not None and (_PLACE.search(asked) or json.dumps(text.strip(), ensure_ascii=False)[1:-1] in asked):
        return None
    is_alone = isinstance(result.get("structuredContent"), dict) or len(result.get("content") or ()) == 1
    return facts if is_alone and (_holds_error(facts) or envelope_in(facts) is not None) else None


def envelope_in(facts: Mapping[str, Any]) -> Envelope | None:
    """The failure that an object is: exactly one of the dialects, or a failed result."""
    is_result = "content" in facts and any(facts.get(flag) is True for flag in _SAYS_SO)
    return Envelope.from_result(facts if is_result else {"structuredContent": facts})


def _holds_error(facts: Json) -> bool:
    """Whether an object holds only an error, which has its own type or code. A key with null counts as absent."""
    held = {key: value for key, value in facts.items() if value is not None}
    flags = {key for key, failed in _FLAGS.items() if held.get(key) is failed}
    others = held.keys() - flags
    if flags & _SAYS_SO:
        return set() < others <= _OF_ERROR | _OF_RESULT
    error = held.get("error")
    inner, allowed = (error, {"error"}) if isinstance(error, dict) else ({**held, "message": error}, _OF_ERROR)
    # A code such as 0 or 200 says that there is no error, and an entry of a log has a type and an error too.
    of_error = _TYPES if flags or inner is error else _TYPES - {"type"}
    types = [inner[key] for key in of_error & inner.keys() if not _NO_ERROR.fullmatch(str(inner[key]))]
    has_type = any(isinstance(kind, str | int) and kind is not True for kind in types)
    return others <= allowed and _words(inner.get("message")) and has_type


def suspected_failure(result: Json) -> tuple[str, str, Json] | None:
    """The words, their path in the object, and the flags for which `result`, a success, may be a failure.

    None without any of them. The path is empty where the words are the text.
    """
    facts, text = object_of(result), texts_of(result)
    if facts is None:
        return (text, "", {}) if _SUSPECT.match(text) else None
    flags = {key: facts[key] for key, failed in _FLAGS.items() if facts.get(key) is failed}
    flags |= {"status": facts["status"]} if str(facts.get("status")).lower() in _FAILED else {}
    # A message alone is no sign of a failure; beside a flag, it says what failed.
    paths = ("error", "error.message", *(["message"] if flags else []))
    values = ((place(facts, path.split(".")), path) for path in paths)
    words, path = next(((words, path) for words, path in values if _words(words)), ("", ""))
    return (words, path, flags) if words or flags else None


def _words(value: object) -> bool:
    return isinstance(value, str) and not value.isspace() and value != ""
