"""Envelopes in the field, written and read: one module each, found by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

from mcpcore.dialects.canonical import CANONICAL_DIALECT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpcore.envelope import Envelope
    from mcpcore.limits import Limits


class Dialect(Protocol):
    """A way to write a failure down."""

    name: str

    def write(self, envelope: Envelope, *, limits: Limits) -> tuple[dict[str, Any], str]:
        """The structured content and the text block of a failed call."""

    def read(self, structured: Mapping[str, Any]) -> Envelope | None:
        """The failure in the structured content of a call; None where it is not of this dialect."""


DIALECTS: Final[dict[str, Dialect]] = {CANONICAL_DIALECT.name: CANONICAL_DIALECT}


def dialect_named(name: str) -> Dialect:
    """The dialect of a name.

    Raises:
        ValueError: If there is none.
    """
    if name not in DIALECTS:
        raise ValueError(f"dialect must be one of {', '.join(DIALECTS)}, not {name!r}")
    return DIALECTS[name]


def read_result(result: object) -> Envelope | None:
    """The failure in a `CallToolResult` or its JSON; None for a success."""
    structured = getattr(result, "structured_content", None)
    if structured is None and isinstance(result, dict):
        structured = result.get("structuredContent")
    if not isinstance(structured, dict):
        return None
    for dialect in DIALECTS.values():
        found = dialect.read(structured)
        if found is not None:
            return found
    return None
