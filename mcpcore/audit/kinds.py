"""The kinds of broken contracts in records, shared by the code that writes records and the code that counts them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

BreachKind: TypeAlias = Literal["undeclared_reason", "wrong_code", "data", "lost", "other"]
"""How a contract was broken: the reason is not declared; the code is not the declared one; the data breaks its model or
uses a reserved key; a failure was made and lost; anything else, such as a failure that cannot be read."""

BREACH_KINDS: Final[Mapping[BreachKind, str]] = {
    "undeclared_reason": "undeclared reason",
    "wrong_code": "wrong code",
    "data": "data",
    "lost": "lost",
    "other": "other",
}
"""The kinds in records, with the words for people."""

LOST: Final = "lost"
"""`outcome` in the record of a lost failure, which no client received."""

REFUSED: Final = "refused"
"""`outcome` in the record of HTTP requests that the server refused. The record of a failed call has no outcome."""

_MAX_COUNT: Final = 10_000_000
"""A server cannot refuse more requests in a minute: a record with a higher count was forged, and counts as one."""

_MAX_BREACHES: Final = 1_000
"""One call cannot lose more failures: a record with a higher count was forged, and counts as one."""

_MAX_MISSING: Final = 1_000_000_000
"""An event with a higher number of missing records was forged, and counts as none."""


def count_of(record: Mapping[str, Any]) -> int:
    """The number of failures that a record counts: more than one for refused requests."""
    count = record.get("count") if record.get("outcome") == REFUSED else 1
    return count if type(count) is int and 0 < count <= _MAX_COUNT else 1


def missing_of(record: Mapping[str, Any]) -> int:
    """The number of records that could not be written before the event `lost` of a trail; 0 for any other record."""
    count = record.get("records") if record.get("event") == LOST else 0
    return count if type(count) is int and 0 < count <= _MAX_MISSING else 0


def breach_kinds_of(record: Mapping[str, Any]) -> list[BreachKind]:
    """How a record says that a contract was broken; empty for a record of a failure that kept it."""
    if "broken_contract" not in record:
        return []
    kinds = record.get("broken_contract_kinds")
    # Earlier versions wrote no kinds, and a forged line may have anything here.
    known: list[BreachKind] = [kind for kind in BREACH_KINDS if kind in kinds] if isinstance(kinds, list) else []
    return known or ["other"]


def breach_count_of(record: Mapping[str, Any]) -> int:
    """The number of lost failures that a record counts."""
    count = record.get("count")
    return count if type(count) is int and 0 < count <= _MAX_BREACHES else 1


def is_lost(record: Mapping[str, Any]) -> bool:
    """Whether the failure in a record was lost, so that no client received it."""
    return record.get("outcome") == LOST
