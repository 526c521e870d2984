"""Converts words of a command line to the arguments of a tool, by the input schema of the tool."""

from __future__ import annotations

import difflib
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from mcpcore.cli.problems import Problem
from mcpcore.values.json_schema import Schema, constants, forms, own_properties, type_names

_NULL: Final = ("null", "none")
_NAMED: Final[Mapping[str, Mapping[str, Any]]] = {
    "null": dict.fromkeys(_NULL),
    "boolean": {
        "true": True,
        "yes": True,
        "on": True,
        "1": True,
        "false": False,
        "no": False,
        "off": False,
        "0": False,
    },
}
"""The values that have names, by their types."""


def parse_arguments(words: Sequence[str], schema: Schema | None, *, tool: str) -> dict[str, Any]:
    """The arguments in `words`: one JSON object, `-` for JSON on standard input, or `key=value` pairs.

    Args:
        words: The words after the tool on the command line.
        schema: The input schema of the tool; without it, types are guessed.
        tool: The name of the tool, for messages.

    Raises:
        Problem: If a word has another form, a key is unknown, a value has the wrong type, or a file cannot be read.
    """
    if not words:
        return {}
    first = words[0].strip()
    if first == "-" or first.startswith(("{", "@")):
        if len(words) > 1:
            raise Problem(
                f"arguments of {tool}: {words[1]!r} follows arguments given as JSON.",
                hint="give either one JSON object or key=value pairs",
            )
        text, where = (first, "the arguments")
        if first == "-":
            text, where = read_stdin(), "standard input"
        elif first.startswith("@"):
            text, where = _file(first[1:], "the arguments"), first[1:]
        return _object(text, where)
    return _pairs(words, schema, tool)


def _pairs(words: Sequence[str], schema: Schema | None, tool: str) -> dict[str, Any]:
    texts: dict[str, list[str]] = {}
    raw: dict[str, Any] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key.strip(":"):
            raise Problem(
                f"arguments of {tool}: {word!r} is neither key=value nor a JSON object.",
                hint=_usage(schema) or "write key=value, key:=JSON, key=@FILE, or one JSON object: '{\"key\": 1}'",
            )
        is_json = key.endswith(":")
        key = key.removesuffix(":")
        part = _property(schema, key, tool)
        is_file = value.startswith("@") and len(value) > 1
        if is_file:
            value = _file(value[1:], key)
        if key in raw or (is_json and key in texts):
            raise Problem(f"arguments of {tool}: {key} is given twice.", hint=f"give {key} once")
        if is_json:
            raw[key] = _json(value, f"{key}:=")
        elif is_file and not {"string", "array"}.intersection(_kinds(part, schema)):
            # A file usually ends in a line feed, with which it would be no number.
            texts[key] = [value.strip()]
        else:
            texts.setdefault(key, []).append(value)
    arguments: dict[str, Any] = {}
    for word in words:  # in their order
        key = word.partition("=")[0].removesuffix(":")
        if key not in arguments:
            arguments[key] = raw[key] if key in raw else _converted(texts[key], key, tool, schema)
    return arguments


def _property(schema: Schema | None, key: str, tool: str) -> Schema | None:
    """The schema of an argument, or None if it is unknown.

    Raises:
        Problem: If the tool has no such argument.
    """
    if schema is None:
        return None
    known = own_properties(schema)
    part = known.get(key)
    if isinstance(part, Mapping):
        return part
    if key in known or schema.get("additionalProperties") not in (None, False):
        return None
    near = difflib.get_close_matches(key, known, n=1)
    if near:
        hint = f"did you mean {near[0]}?"
    elif known:
        hint = f"it has {', '.join(known)}"
    else:
        hint = "it takes none"
    raise Problem(
        f"{tool} has no argument {key!r}.",
        hint=f"{hint} (a JSON object instead of key=value is not checked)",
    )


def _converted(values: Sequence[str], key: str, tool: str, schema: Schema | None) -> Any:
    part = _property(schema, key, tool)
    if part is None:
        return _guessed(values[0]) if len(values) == 1 else [_guessed(value) for value in values]
    if "array" in _kinds(part, schema):
        return _array(values, key, tool, part, schema)
    if len(values) > 1:
        raise Problem(
            f"arguments of {tool}: {key} is given {len(values)} times and is not a list.", hint=f"give {key} once"
        )
    return _value_of(values[0], key, tool, part, schema)


def _array(values: Sequence[str], key: str, tool: str, part: Schema, schema: Schema | None) -> Any:
    kinds = _kinds(part, schema)
    if len(values) == 1:
        text = values[0].strip()
        if text.startswith("["):
            return _json(text, f"{key}=")
        if text in _NULL and "null" in kinds:
            return None
        if "string" in kinds:
            return values[0]
    items = next((form["items"] for form in forms(part, schema or {}) if "items" in form), None)
    if not isinstance(items, Mapping):
        return [_guessed(value) for value in values]
    return [_value_of(value, key, tool, items, schema) for value in values]


def _value_of(text: str, key: str, tool: str, part: Schema, schema: Schema | None) -> Any:
    """`text` as the first type that `part` allows and that fits; a string last, since any text is a string."""
    kinds, choices = _kinds(part, schema), _choices(part, schema)
    # The choices come first, since they tell whether `1` is a text or a number.
    for choice in choices:
        if choice == text or (not isinstance(choice, str) and _plain(choice) == text):
            return choice
    for kind in _TYPES:
        if kind in kinds and (value := _read(text.strip(), kind)) is not _UNFIT:
            return value
    if not choices and ("string" in kinds or not kinds):
        return text if "string" in kinds else _guessed(text)
    raise _unfit(text, key, tool, kinds, choices)


def _unfit(text: str, key: str, tool: str, kinds: Sequence[str], choices: Sequence[Any]) -> Problem:
    shown = text if len(text) <= 60 else f"{text[:59]}…"
    if choices:
        near = difflib.get_close_matches(text, [str(choice) for choice in choices], n=1)
        meant = f"did you mean {key}={near[0]}?" if near else f"choose one of {', '.join(map(_plain, choices))}"
        return Problem(
            f"arguments of {tool}: {key} cannot be {shown!r}.", hint=f"{meant} ({key}:=JSON sends any value)"
        )
    wanted = " or ".join(_WORDS.get(kind, kind) for kind in dict.fromkeys(kinds))
    return Problem(f"arguments of {tool}: {key} must be {wanted}, got {shown!r}.", hint=f"{key}:=JSON sends any value")


def _kinds(part: Schema | None, schema: Schema | None) -> list[str]:
    """The types that `part` allows."""
    return [kind for form in forms(part, schema or {}) for kind in type_names(form)]


def _choices(part: Schema, schema: Schema | None) -> list[Any]:
    return [choice for form in forms(part, schema or {}) for choice in constants(form) or ()]


_UNFIT: Final = object()


# The types are tried in this order: each integer is a number too.
_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "null": (type(None),),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "object": (dict,),
    "array": (list,),
}


def _read(text: str, kind: str) -> Any:
    """`text` as a value of the type `kind`, or `_UNFIT`."""
    words = _NAMED.get(kind)
    value = _guessed(text) if words is None else words.get(text.lower(), _UNFIT)
    # true is an integer to Python, so the exact type counts.
    return value if type(value) in _TYPES[kind] else _UNFIT


_WORDS: Final = {
    "null": "null",
    "boolean": "true or false",
    "integer": "an integer",
    "number": "a number",
    "object": "a JSON object",
    "array": "a JSON list",
    "string": "text",
}


def _guessed(text: str) -> Any:
    """`text` without a schema: its value if it is JSON, else the text."""
    try:
        return _loaded(text)
    except (ValueError, RecursionError):
        return text


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _loaded(text: str) -> Any:
    value = json.loads(text)
    # Python reads NaN and Infinity, and 1e400 as infinity. The server would get null for them.
    json.dumps(value, allow_nan=False)
    return value


def _json(text: str, where: str) -> Any:
    try:
        return _loaded(text)
    except (ValueError, RecursionError) as exc:
        raise Problem(
            f"{where}: this is not JSON: {exc}.",
            hint='put strings in double quotes, within shell quotes: \'{"key": "a"}\'',
        ) from exc


def _object(text: str, where: str) -> dict[str, Any]:
    value = _json(text, where)
    if not isinstance(value, dict):
        raise Problem(
            f"{where}: the arguments of a tool are a JSON object, not {_WORDS_OF.get(type(value), 'null')}.",
            hint="write '{\"key\": value}'",
        )
    return value


_WORDS_OF: Final = {list: "a list", str: "a string", int: "a number", float: "a number", bool: "true or false"}


def _file(name: str, key: str) -> str:
    if name == "-":
        return read_stdin()
    try:
        return Path(name).expanduser().read_text(encoding="utf-8")
    except UnicodeDecodeError as exc:
        raise Problem(f"{key}: {name} is not UTF-8 text (byte {exc.start}).", hint="give a text file") from exc
    except (OSError, ValueError) as exc:
        reason = exc.strerror if isinstance(exc, OSError) else exc
        raise Problem(
            f"{key}: {name} cannot be read: {reason}.",
            hint=f"check the path; a value that begins with @ is written {key}:='\"@…\"'",
        ) from exc


def read_stdin() -> str:
    """All of standard input, as UTF-8.

    Raises:
        Problem: If it is not UTF-8.
    """
    data = sys.stdin.buffer.read() if sys.stdin else b""  # None where the descriptor was closed before the start
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as exc:
        raise Problem(f"standard input is not UTF-8 (byte {exc.start}).", hint="pipe UTF-8 text") from exc


def _usage(schema: Schema | None) -> str | None:
    """A hint at the arguments of a tool, for a word without a key."""
    properties = own_properties(schema or {})
    if not properties:
        return None
    return f"write {' '.join(f'{name}=…' for name in properties)}, or one JSON object"
