"""The catalog as Markdown, for repositories and reviews, and the words that its HTML shares. Texts are escaped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from mcpcore.catalog.model import Catalog, Failure, Item, Place, ServerCatalog
from mcpcore.catalog.schemas import fields_of
from mcpcore.contract.effects import PHRASES
from mcpcore.reports import counted
from mcpcore.reports.markdown import block, code, escaped, table
from mcpcore.values.jsonable import dumps

_MAX_FIELDS: Final = 100
# The sentence about the contract as a whole.
CONTRACT_WORDS: Final = {
    "declared": "",
    "none": "It declares no contract.",
    "unknown": "Its contract could not be read in full.",
}
_FAILURES: Final[Mapping[tuple[str, ...], str]] = {
    ("raised",): "Failures are raised, so clients recognize them.",
    ("returned",): "Failures are returned as data, so clients take them for successful results.",
    ("raised", "returned"): "Some failures are raised, others are returned as data, which clients take for results.",
}
_HINTS: Final = (("read_only", "read-only"), ("idempotent", "idempotent"), ("destructive", "destructive"))


def failure_words(item: Item) -> str:
    """How the item fails, as a sentence; empty if that is not known."""
    return _FAILURES.get(tuple(sorted(set(item.failures))), "")


def hint_words(item: Item) -> list[str]:
    """The hints of its annotations that hold."""
    return [words for name, words in _HINTS if getattr(item, name) is True]


def effects_words(error: Failure) -> str:
    """The effects of a failure in words; empty if nothing is said."""
    return "" if error.effects is None else PHRASES[error.effects]


def recovery_details(error: Failure) -> list[tuple[str, str]]:
    """The parts of the recovery that programs read, each with its name."""
    details = [
        ("Strategy", error.strategy or ""),
        ("Actions", ", ".join(error.actions)),
        ("Fallback tool", error.fallback_tool or ""),
        ("Its arguments", "" if error.fallback_arguments is None else dumps(error.fallback_arguments)),
        ("For the user", error.user_message or ""),
    ]
    return [(name, words) for name, words in details if words]


def data_fields(error: Failure) -> list[tuple[str, str]]:
    """The fields of the data, each with its type."""
    fields = fields_of(error.data_schema or {})
    return [
        (name, field.label + ("" if field.required else ", optional"))
        for name, field in list(fields.items())[:_MAX_FIELDS]
    ]


def place_words(places: Sequence[Place]) -> list[tuple[str, str]]:
    """Each place with the functions on the way there."""
    return [(place.label, " > ".join(filter(None, [*place.through, place.function]))) for place in places]


def to_markdown(catalog: Catalog) -> str:
    """The catalog as Markdown."""
    parts = ["# Failure contracts"]
    for server in catalog.servers:
        parts += _server(server)
    return "\n\n".join(parts) + "\n"


def _server(server: ServerCatalog) -> Iterator[str]:
    yield f"## {escaped(server.name)}"
    kinds = [(kind, sum(item.kind == kind for item in server.items)) for kind in ("tool", "resource", "prompt")]
    reasons = sum(len(item.errors) for item in server.items)
    yield (
        ", ".join(counted(number, kind) for kind, number in kinds if number) + f"; {counted(reasons, 'failure mode')}."
    )
    yield from _problems(server.problems)
    for item in server.items:
        yield from _item(item)


def _item(item: Item) -> Iterator[str]:
    yield f"### {item.kind} {code(item.name, cell=False)}"
    if item.description:
        yield escaped(item.description)
    hints = hint_words(item)
    words = [CONTRACT_WORDS[item.contract], failure_words(item), f"It is {' and '.join(hints)}." if hints else ""]
    if any(words):
        yield " ".join(filter(None, words))
    yield from _problems(item.problems)
    if item.errors:
        rows = [
            [
                code(error.reason),
                code(error.code_label),
                escaped(error.when),
                escaped(error.recovery),
                error.retry.phrase if error.retry is not None else "",
                effects_words(error),
            ]
            for error in item.errors
        ]
        yield table(["reason", "code", "when", "recovery", "retry", "effects"], rows)
        for error in item.errors:
            details = list(_details(error))
            if details:
                yield f"#### {code(error.reason, cell=False)}"
                yield from details
    if item.undeclared:
        lines = [f"- {code(entry.label, cell=False)}{_at(place_words(entry.raised))}" for entry in item.undeclared]
        yield "Raised without a declared reason:\n\n" + "\n".join(lines)
    if item.returned:
        yield f"Returned as data{_at(place_words(item.returned))}."


def _details(error: Failure) -> Iterator[str]:
    lines = [f"- {name}: {escaped(words)}" for name, words in recovery_details(error)]
    if error.raised:
        lines.append(f"- Raised{_at(place_words(error.raised))}")
    if lines:
        yield "\n".join(lines)
    if error.corrective_params is not None:
        yield "Corrective parameters:\n\n" + block(error.corrective_params)
    fields = data_fields(error)
    if fields:
        yield table(["data", "type"], [[code(name), escaped(words)] for name, words in fields])
    if error.example is not None:
        yield "Example of the data:\n\n" + block(error.example)


def _at(places: Sequence[tuple[str, str]]) -> str:
    if not places:
        return ""
    shown = [code(label, cell=False) + (f" ({escaped(way)})" if way else "") for label, way in places]
    return " at " + ", ".join(shown)


def _problems(problems: Sequence[str]) -> Iterator[str]:
    if problems:
        yield "\n".join(f"- **Problem:** {escaped(problem)}" for problem in problems)
