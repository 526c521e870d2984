"""The catalogue as Markdown, for repositories and reviews. All texts are foreign, and escaped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpcore.catalog.words import (
    contract_words,
    data_fields,
    effects_words,
    failure_words,
    hint_words,
    place_words,
    recovery_details,
)
from mcpcore.reports import counted
from mcpcore.reports.markdown import block, code, escaped, table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcpcore.catalog.model import Catalog, Failure, Item, ServerCatalog


def to_markdown(catalog: Catalog) -> str:
    """The catalogue as Markdown."""
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
    words = [contract_words(item), failure_words(item), f"It is {' and '.join(hints)}." if hints else ""]
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
        rows = [[code(name), escaped(words)] for name, words in fields]
        yield table(["data", "type"], rows)
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
