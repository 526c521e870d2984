"""Arguments that do not fit a tool: which, why, and a hint made from the schema; never the rejected values."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, cast, get_args

from pydantic import ValidationError

from mcpcore.values.escaping import clean_text
from mcpcore.values.json_schema import branches, forms, own_properties, properties, resolved
from mcpcore.values.jsonable import WIDEST, clean_cut, cut_text, dumps, plain_json, to_json
from mcpcore.values.untrusted import quietly

INVALID_ARGUMENTS: Final = "invalid_arguments"
"""The reason of the failure."""

_MAX_ISSUES: Final = 20
_MAX_ERRORS: Final = 10_000
"""Errors of one validation that are read; pydantic tells all of them or none, in half a kilobyte and more each."""

_MAX_MESSAGE: Final = 200
_MAX_HINTS: Final = 4
_MAX_CHOICES: Final = 20
_MAX_KINDS: Final = 20
_MAX_PLACES: Final = 5

# Messages of validators are searched for the values that they quote. A message beyond these bounds is not shown.
_MAX_PARTS: Final = 1_000
_MAX_WORDS: Final = 4_000
_MAX_LENGTH: Final = 100_000
_LEFT_OUT: Final = "Breaks a rule of the tool's own; the rule's words are left out, as they may quote what was sent"

# pydantic's own messages for these repeat what the caller sent, or the text of an exception.
_SAYS_THE_INPUT: Final = {
    "union_tag_invalid": "Input should have one of the expected tags: {expected_tags}",
    "uuid_parsing": "Input should be a valid UUID",
    "bytes_invalid_encoding": "Data should be valid {encoding}",
    "get_attribute_error": "The attributes of the input cannot be read",
    "iteration_error": "The input cannot be iterated over",
    "mapping_type": "Input should be a valid mapping",
    "json_invalid": "Input should be valid JSON",
}

_UNKNOWN: Final = ("extra_forbidden", "unexpected_keyword_argument")
MISSING: Final = ("missing", "missing_argument", "missing_keyword_only_argument", "missing_positional_only_argument")
"""The types of issues that say that something is absent."""


class Misfit(NamedTuple):
    """The message, the issues and the hint for arguments that do not fit."""

    message: str
    issues: list[dict[str, Any]]
    """What does not fit, each as `{path, type, message}`: no rejected value, no link; at most 20, and a count."""

    hint: str
    """What to send instead, from the schema: the missing field, the allowed values, the name that was meant."""

    written: tuple[str, dict[Any, Any] | None] | None = None
    """`{"issues": …}` as compact JSON without escapes, where it is known, and where the facts are kept that failures
    with it share; None if anything in these texts or in the name of the tool may be a secret."""


def misfit(error: ValidationError, schema: Mapping[str, Any] | Places, tool: str, arguments: object = None) -> Misfit:
    """Describe arguments that pydantic rejected; `schema` is the tool's input schema, `arguments` all that was sent."""
    places = schema if isinstance(schema, Places) else Places(schema)
    count, schema = error.error_count(), places.schema
    issues: list[dict[str, Any]]
    if count > _MAX_ERRORS:
        issues = [{"path": "", "type": "more", "message": f"{count} errors"}]
        return Misfit(_summary(issues, count, tool), issues, _hint("", "", (), schema))
    errors = error.errors(include_url=False)
    key: tuple[Any, ...] = (tool,)
    for problem in errors:
        key += problem["loc"], problem["type"], problem["msg"]
    known = places.misfits.get(key)
    if known is not None:
        # The issues are copied, since the data of a failure may be changed in place.
        issues = list(map(dict.copy, known.issues))
        return Misfit(known.message, issues, known.hint, known.written)
    hints: dict[str, None] = {}
    around = _Around(schema, arguments)
    issues = []
    for problem in errors[:_MAX_ISSUES]:
        loc, kind = problem["loc"], problem["type"]
        path = _path(loc, kind, schema)
        issues.append({"path": path, "type": kind, "message": _message(problem, around)})
        if len(hints) < _MAX_HINTS:
            hints[_hint(path, kind, loc, schema)] = None
    if len(errors) > _MAX_ISSUES:
        issues.append({"path": "", "type": "more", "message": f"{len(errors) - _MAX_ISSUES} more"})
    misfit = Misfit(_summary(issues, len(errors), tool), issues, " ".join(hints))
    if len(errors) > _MAX_HINTS or len(places.misfits) >= _MAX_KNOWN or not all(map(_repeats, errors)):
        return misfit
    plain = plain_json({"issues": issues}, depth=3, room=WIDEST * _MAX_LENGTH)
    if plain is not None:
        from mcpcore.wire.redaction.wire import may_hold_secret

        is_clean = not may_hold_secret(misfit.message, misfit.hint, plain[1], tool)
        misfit = misfit._replace(written=(plain[1], {} if is_clean else None))
    places.misfits[key] = misfit
    return misfit._replace(issues=list(map(dict.copy, issues)))


def _repeats(problem: Mapping[str, Any]) -> bool:
    """Whether a problem is described by its place, kind and message alone, so that the description may be kept."""
    if problem["type"] in _UNKNOWN or problem["type"] in _SAYS_THE_INPUT:
        return False
    text = problem["msg"]
    # Callers choose the keys of mappings, which must not fill the memory.
    length = sum(len(part) if isinstance(part, str) else 1 for part in problem["loc"])
    return length <= _MAX_KEY and len(text) <= _MAX_MESSAGE and _is_own(problem["type"], problem.get("ctx"), text)


class Places:
    """The places in the arguments of a tool, in words. A declared tool keeps them, since callers repeat mistakes."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        """Describe the places of `schema`, which no longer changes."""
        self.schema = schema
        self.misfits: dict[tuple[Any, ...], Misfit] = {}
        """Descriptions of arguments, by the tool and by the place, kind and message of each problem."""


_MAX_KNOWN: Final = 200
"""Descriptions that are kept for a tool."""

_MAX_KEY: Final = 100
"""Characters of a place whose description is kept."""


def _summary(issues: Sequence[Mapping[str, Any]], count: int, tool: str) -> str:
    """One sentence: the issue where there is one, else the places; the details are the issues' own."""
    if count == 1:
        path, message = issues[0]["path"], issues[0]["message"]
        return f"The arguments do not fit {tool}: {f'{path}: {message}' if path else message}"
    places = list(dict.fromkeys(issue["path"] for issue in issues if issue["path"]))
    more = f" and {len(places) - _MAX_PLACES} more" if len(places) > _MAX_PLACES else ""
    at = f": {', '.join(places[:_MAX_PLACES])}{more}" if places else ""
    return f"{count} invalid arguments for {tool}{at}"


def _path(loc: Sequence[str | int], kind: str, schema: Mapping[str, Any]) -> str:
    """A place in the arguments, such as `filter.tags.0`.

    pydantic also names the branch of a union and the key that was rejected; neither is a place that a caller knows.
    """
    last = len(loc) - 1
    current = resolved(schema, schema)
    parts: list[str] = []
    for index, part in enumerate(loc):
        if part == "[key]" or (index < last and loc[index + 1] == "[key]"):
            continue
        following = _step(current, part, schema)
        if following is not None:
            current = following
        elif isinstance(part, str) and not (index == last and kind in (*_UNKNOWN, *MISSING)):
            continue
        parts.append(str(part)[:100])
    return cut_text(clean_text(".".join(parts)), 300)


class _Around:
    """What else a validator may quote; looked up only where a message is not pydantic's own."""

    def __init__(self, schema: Mapping[str, Any], arguments: object) -> None:
        self._schema = schema
        self._arguments = arguments

    @functools.cached_property
    def names(self) -> frozenset[str]:
        return _names(self._schema)

    @functools.cached_property
    def sent(self) -> set[str] | None:
        return _texts(self._arguments)


def _message(problem: Mapping[str, Any], around: _Around) -> str:
    template = _SAYS_THE_INPUT.get(problem["type"])
    if template is not None:
        context = problem.get("ctx") or {}
        text = template.format(expected_tags=context.get("expected_tags"), encoding=context.get("encoding"))
    else:
        text = str(problem["msg"])
        if not _is_own(problem["type"], problem.get("ctx"), text):
            # A validator sees what was sent beside its own argument, too.
            text = _unquoted(text, problem.get("input"), sent=around.sent, names=around.names)
    return clean_cut(text, _MAX_MESSAGE)


_known_types: set[str] = set()


def _own_types() -> set[str]:
    """The kinds of error whose messages are pydantic's own."""
    if not _known_types:
        from pydantic_core.core_schema import ErrorType

        _known_types.update(get_args(ErrorType))
        _known_types.difference_update({"value_error", "assertion_error"})
    return _known_types


def _is_own(kind: str, facts: Any, text: str) -> bool:
    """Whether a message is pydantic's own; a validator may give its own error the name of one of pydantic's."""
    if kind not in _own_types():
        return False
    return _own_message(kind) == text if not facts else _message_with(kind, facts) == text


@functools.cache
def _own_message(kind: str) -> str | None:
    return _message_with(kind, None)


def _message_with(kind: str, facts: Any) -> str | None:
    from pydantic_core import PydanticKnownError

    try:
        return PydanticKnownError(cast("Any", kind), facts).message()
    except (TypeError, KeyError, ValueError):
        return None


def _unquoted(text: str, value: object, *, sent: Collection[str] | None = (), names: Collection[str] = ()) -> str:
    """A validator's own words without what they quote of `value`; none of them where not all of it can be searched.

    `sent` are the other texts of the call; `names` are words that reveal nothing: those of the tool's parameters.
    """
    texts = _texts(value) if len(text) <= _MAX_WORDS else None
    if texts is None or sent is None:
        return _LEFT_OUT
    lowered = text.lower()
    # A validator may quote what the one before it made of the value.
    quoted = {word for word in (*texts, *sent) if word in text or word.lower() in lowered}
    # The longest words come first, so that nothing is left of a quotation that contains a shorter one.
    for word in sorted(quoted.difference(names), key=len, reverse=True):
        text = re.sub(re.escape(word), "…", text.replace(word, "…"), flags=re.IGNORECASE)
        if word.lower() in text.lower():  # letters of which the two have different ideas
            return _LEFT_OUT
    return text


def _names(schema: Mapping[str, Any]) -> frozenset[str]:
    """The names of the parameters and fields that a schema has, at any depth."""
    names: set[str] = set()
    stack: list[Any] = [schema]
    while stack:
        node = stack.pop()
        if isinstance(node, list):
            stack += node
        elif isinstance(node, Mapping):
            stack += node.values()
            if isinstance(node.get("properties"), Mapping):
                names.update(node["properties"])
    return frozenset(names)


def _texts(value: object) -> set[str] | None:
    """The scalars in a rejected value, as text; too short ones would be found in any word.

    None where the value is of more parts than are searched, or of a part that may be quoted in unknown words.
    """
    texts: set[str] = set()
    stack, searched = [value], 1
    while stack:
        part = stack.pop()
        parts: Collection[Any] = ()
        if isinstance(part, Mapping):
            parts = [*part.keys(), *part.values()]
        elif isinstance(part, list | tuple | set | frozenset):
            parts = part
        elif isinstance(part, str | int | float | bytes) and not isinstance(part, bool):
            if isinstance(part, str | bytes) and len(part) > _MAX_LENGTH:
                return None
            texts.update(form for form in _forms_of(part) if len(form) > 3)
            parts = _parsed(part)
        elif part is not None and not isinstance(part, bool):
            return None
        searched += len(parts)
        if searched > _MAX_PARTS:
            return None
        stack += parts
    return texts


def _parsed(value: object) -> Collection[Any]:
    """What a text says as JSON: some hosts send lists and objects so, and validators see what is in them."""
    if not isinstance(value, str) or not value.lstrip().startswith(("{", "[")):
        return ()
    parsed = quietly(lambda: json.loads(value), None)
    return () if parsed is None else (parsed,)


def _forms_of(value: str | float | bytes) -> Iterator[str]:
    """How a message may show a scalar: as it is, as Python writes it, as JSON does."""
    text = value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)
    yield from (text, text.strip(), repr(text)[1:-1])
    if isinstance(value, str):
        # A member of an enumeration of texts may call itself by another name than its text.
        plain = str.__str__(value)
        yield from (plain, plain.strip(), repr(plain)[1:-1], json.dumps(plain)[1:-1], dumps(plain)[1:-1])
    elif isinstance(value, bytes):
        yield repr(value)[2:-1]


def _hint(path: str, kind: str, loc: Sequence[str | int], schema: Mapping[str, Any]) -> str:
    if kind in _UNKNOWN and loc:
        known = list(properties(_at(schema, loc[:-1]), schema))
        # difflib takes several milliseconds to import, which only a mistake should cost.
        import difflib

        near = difflib.get_close_matches(str(loc[-1])[:100], known, n=1, cutoff=0.5)
        if near:
            return f"There is no {path!r}; did you mean {near[0]!r}?"
        shown = ", ".join(map(repr, known[:_MAX_CHOICES]))
        return f"Leave out {path!r}; {f'known are {shown}' if shown else 'no arguments are taken'}."
    description = _described(_at(schema, loc), schema)
    if kind in MISSING:
        return f"Add {path!r}{f': {description}' if description else ''}."
    if path and description:
        return f"Send {path!r} as {description}."
    return f"Correct {path!r}." if path else "Send arguments that meet the rules of the tool together."


def _at(schema: Mapping[str, Any], loc: Sequence[str | int]) -> Mapping[str, Any]:
    """The schema of a place; that of the nearest place around it where the schema says nothing of it."""
    current = resolved(schema, schema)
    for part in loc:
        following = _step(current, part, schema)
        if following is not None:
            current = following
    return current


def _step(node: Mapping[str, Any], part: str | int, root: Mapping[str, Any]) -> Mapping[str, Any] | None:
    for branch in forms(node, root):
        declared = own_properties(branch)
        if isinstance(part, str) and part in declared:
            return resolved(declared[part], root)
        if isinstance(part, int):
            prefix = branch.get("prefixItems")
            if isinstance(prefix, Sequence) and part < len(prefix):
                return resolved(prefix[part], root)
            if isinstance(branch.get("items"), Mapping):
                return resolved(branch["items"], root)
        elif isinstance(branch.get("additionalProperties"), Mapping):
            return resolved(branch["additionalProperties"], root)
    return None


def _described(node: Mapping[str, Any], root: Mapping[str, Any]) -> str:
    """A schema in words: its kind, its bounds, its description."""
    words = _kind(node, root, depth=3)
    description = node.get("description")
    if isinstance(description, str) and description.strip():
        first = cut_text(" ".join(description.split()), 160).rstrip(".")
        words = f"{words} ({first})" if words else first
    return words


def _kind(node: Mapping[str, Any], root: Mapping[str, Any], *, depth: int, many: bool = False) -> str:
    """What kind of value a schema describes, with its bounds: one of it, or with `many` several."""
    if "const" in node:
        return dumps(to_json(node["const"]))
    if isinstance(node.get("enum"), list):
        choices = _choices([dumps(to_json(value)) for value in node["enum"]])
        return f"values out of {choices}" if many else f"one of {choices}" if len(node["enum"]) > 1 else choices
    kind = node.get("type")
    if isinstance(kind, str):
        noun = kind
        if kind != "null":
            noun = f"{kind}s" if many else f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"
        if kind == "array" and depth > 0:
            items = _kind(resolved(node.get("items", {}), root), root, depth=depth - 1, many=True)
            noun = f"{noun} of {items}" if items else noun
        return " ".join([noun, *_bounds(node)])
    if depth <= 0:
        return ""
    kinds = [_kind(branch, root, depth=depth - 1, many=many) for branch in branches(node, root)[:_MAX_KINDS]]
    return " or ".join(dict.fromkeys(filter(None, kinds)))


def _bounds(node: Mapping[str, Any]) -> list[str]:
    limits = []
    for least, most, between, at_least, at_most, unit in _RANGES:
        low, high = node.get(least), node.get(most)
        if low is not None and high is not None:
            amount = f"{low}" if unit and low == high else f"{low} to {high}"
            limits.append(f"{between} {_counted(amount, unit, singular=low == high == 1)}")
        elif low is not None:
            limits.append(f"{at_least} {_counted(str(low), unit, singular=low == 1)}")
        elif high is not None:
            limits.append(f"{at_most} {_counted(str(high), unit, singular=high == 1)}")
    limits += [words.format(node[key]) for key, words in _RULES.items() if isinstance(node.get(key), str | int | float)]
    return limits


def _counted(amount: str, unit: str, *, singular: bool) -> str:
    return f"{amount} {unit if singular else f'{unit}s'}" if unit else amount


_RANGES: Final = (
    ("minimum", "maximum", "from", "of at least", "of at most", ""),
    ("minLength", "maxLength", "of", "of at least", "of at most", "character"),
    ("minItems", "maxItems", "with", "with at least", "with at most", "item"),
    ("minProperties", "maxProperties", "with", "with at least", "with at most", "field"),
)
_RULES: Final = {
    "exclusiveMinimum": "greater than {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "that is a multiple of {}",
    "pattern": "matching {}",
    "format": "in the format {}",
}


def _choices(values: list[str]) -> str:
    shown = values[:_MAX_CHOICES]
    more = f", … ({len(values) - len(shown)} more)" if len(values) > len(shown) else ""
    return f"{', '.join(shown)}{more}"
