"""The envelope of this framework, which clients of mcp-ts-core (document 004) read too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mcpcore.contract.codes import code_numbered
from mcpcore.contract.limits import Limits
from mcpcore.wire.dialects.dialect import Dialect
from mcpcore.wire.envelope import Envelope

ERROR_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "description": "Why the call failed; present instead of the result.",
    "properties": {
        "code": {"type": "integer"},
        "name": {"type": "string"},
        "message": {"type": "string"},
        "retry": {"type": "object"},
        "data": {"type": "object"},
    },
    "required": ["code", "message", "retry"],
}
"""The envelope in an output schema: what every client may rely on, and no more, since clients pay for each keyword."""


class Canonical(Dialect):
    """`{"error": {code, name, message, retry, effects?, tool, correlationId, timestamp, context?, data?}}`."""

    name = "canonical"
    schema: Mapping[str, Any] = {"properties": {"error": ERROR_SCHEMA}, "required": ["error"]}

    def write(self, envelope: Envelope, *, limits: Limits) -> tuple[dict[str, Any], str]:
        """The envelope, and its text."""
        return {"error": envelope.to_json()}, envelope.text(limits=limits)

    def render_item(self, structured: dict[str, Any], envelope: Envelope) -> dict[str, Any]:
        """The envelope with advice about the item, and without what all items of a call have in common."""
        error: dict[str, Any] = structured["error"]
        return {key: value for key, value in error.items() if key not in _COMMON} | {"advice": envelope.item_advice}

    def read(self, structured: Mapping[str, Any], *, is_error: bool) -> Envelope | None:
        """The envelope; in a result that does not say `isError`, only where nothing else can be meant."""
        error = structured.get("error")
        if not isinstance(error, Mapping):
            return None
        if not is_error and not (structured.keys() == {"error"} and error.keys() >= _HIDDEN):
            return None
        if not isinstance(error.get("name"), str) and not _is_known(error.get("code")):
            return None  # a number of another kind, such as an HTTP status
        try:
            return Envelope.from_json(error)
        except ValueError:
            return None


_COMMON: Final = frozenset({"tool", "timestamp"})
"""The keys that are the same for all items of a batch."""

_HIDDEN: Final = frozenset({"code", "name", "message", "retry", "correlationId"})
"""The keys that a failure has to have in a result that does not say `isError`; no other form has all of them."""


def _is_known(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and code_numbered(number) is not None
