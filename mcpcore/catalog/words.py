"""The words that the Markdown and the HTML of a catalogue share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mcpcore.catalog.schemas import fields_of
from mcpcore.contract.effects import phrase_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcpcore.catalog.model import Failure, Item, Place


_MAX_FIELDS: Final = 100
_CONTRACTS: Final = {
    "declared": "",
    "none": "It declares no contract.",
    "unknown": "Its contract could not be read in full.",
}
_FAILURES: Final[Mapping[tuple[str, ...], str]] = {
    ("raised",): "Failures are raised, so clients recognise them.",
    ("returned",): "Failures are returned as data, so clients take them for successful results.",
    ("raised", "returned"): "Some failures are raised, others are returned as data, which clients take for results.",
}
_HINTS: Final = (("read_only", "read-only"), ("idempotent", "idempotent"), ("destructive", "destructive"))


def contract_words(item: Item) -> str:
    """What is to be said of the contract as a whole; empty if it is declared."""
    return _CONTRACTS[item.contract]


def failure_words(item: Item) -> str:
    """How the item fails, as a sentence; empty if that is not known."""
    return _FAILURES.get(tuple(sorted(set(item.failures))), "")


def hint_words(item: Item) -> list[str]:
    """The hints of its annotations that hold."""
    return [words for name, words in _HINTS if getattr(item, name) is True]


def effects_words(error: Failure) -> str:
    """The effects of a failure in words; empty if nothing is said."""
    if error.effects is None:
        return ""
    return phrase_of(error.effects, retryable=error.retry is not None and error.retry.retryable)


def recovery_details(error: Failure) -> list[tuple[str, str]]:
    """The parts of the recovery that programs read, each with its name."""
    details = [
        ("Strategy", error.strategy or ""),
        ("Actions", ", ".join(error.actions)),
        ("Fallback tool", error.fallback_tool or ""),
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
