"""Contracts in `tools/list`: reads the entries that another program advertises, and skips what is broken."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from mcpcore.contract.codes import Code, Retry, code_named, code_numbered, foreign_code, stated_advice
from mcpcore.contract.effects import as_effects
from mcpcore.values.escaping import clean_text
from mcpcore.values.jsonable import to_json
from mcpcore.values.untrusted import quietly

MAX_ENTRIES: Final = 500
"""The most entries of one tool that are read."""

MAX_TEXT: Final = 4_000
"""Characters of a sentence in an entry."""

_DEPTH: Final = 40


class ListedSchema(NamedTuple):
    """The schema that a server publishes for the data of a failure, whose model this program does not have."""

    schema: dict[str, Any]


def listed_entries(tool: object, key: str) -> list[tuple[dict[str, Any], ListedSchema | None]]:
    """The readable entries of a listed tool: the arguments of a `FailureMode`, and the schema of its data.

    Args:
        tool: A `Tool` of the SDK or of FastMCP, or the JSON of one.
        key: The key of the contract in the `_meta` of the tool.
    """
    # Lists come from other programs; a value may be of any type, and its methods may raise.
    plain = quietly(lambda: to_json(_meta_of(tool).get(key), depth=_DEPTH), None)
    if not isinstance(plain, list):
        return []
    read = [_entry(entry) for entry in plain[:MAX_ENTRIES] if isinstance(entry, dict)]
    return [entry for entry in read if entry is not None]


def _meta_of(tool: Any) -> Mapping[str, Any]:
    meta = tool.get("_meta") if isinstance(tool, Mapping) else getattr(tool, "meta", None)
    return meta if isinstance(meta, Mapping) else {}


def _entry(entry: Mapping[str, Any]) -> tuple[dict[str, Any], ListedSchema | None] | None:
    """One entry; None if a part of it is not of the form that `FailureMode.to_json` writes."""
    reason, when, recovery = (entry.get(part) for part in ("reason", "when", "recovery"))
    if not (isinstance(reason, str) and isinstance(when, str) and (recovery is None or isinstance(recovery, str))):
        return None
    retry = stated_advice(entry.get("retry"))
    # Without its advice, the entry would get the default of its code, which may be to call again.
    if retry is None and entry.get("retry") is not None:
        return None
    code = _code(entry.get("name"), entry.get("code"), retry, when)
    if code is None:
        return None
    values: dict[str, Any] = {
        "reason": reason,
        "code": code,
        "when": clean_text(when)[:MAX_TEXT],
        "recovery": None if recovery is None else clean_text(recovery)[:MAX_TEXT],
        "retry": retry,
        "effects": as_effects(entry.get("effects")),
        "fallback_tool": entry.get("fallbackTool"),
        "fallback_arguments": entry.get("fallbackArguments"),
        "corrective_params": entry.get("correctiveParams"),
    }
    if isinstance(example := entry.get("example"), Mapping):
        values["example"] = example
    schema = entry.get("dataSchema")
    return values, ListedSchema(dict(schema)) if isinstance(schema, Mapping) else None


def _code(name: object, number: object, retry: Retry | None, sentence: str) -> Code | None:
    """The code of that name, else of that number; one of another application where this program has neither."""
    known = code_named(name)
    if known is not None or isinstance(number, bool) or not isinstance(number, int):
        return known
    known = code_numbered(number)
    if known is None and isinstance(name, str):
        return foreign_code(name, number, retry=retry, sentence=sentence)
    return known
