"""What records say of broken contracts, for those who write the records and those who count them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

BreachKind: TypeAlias = Literal["undeclared_reason", "wrong_code", "data", "lost", "other"]
"""What broke: the reason is not declared; it was raised with a code that is not the declared one; the data breaks its
model or uses a reserved key; a failure was made and lost; anything else, such as a failure that cannot be read."""

BREACH_KINDS: Final[Mapping[BreachKind, str]] = {
    "undeclared_reason": "undeclared reason",
    "wrong_code": "wrong code",
    "data": "data",
    "lost": "lost",
    "other": "other",
}
"""The kinds as records have them, and as people read them."""

LOST: Final = "lost"
"""`outcome` in the record of a lost failure, which no client received. The records of other failures have none."""


def is_lost(record: Mapping[str, Any]) -> bool:
    """Whether the failure of a record was made and lost, so that no client received it."""
    return record.get("outcome") == LOST
