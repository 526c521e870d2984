"""The envelope of this framework, which clients of mcp-ts-core (document 004) read too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from mcpcore.envelope import Envelope
    from mcpcore.limits import Limits


class _Canonical:
    name = "canonical"

    def write(self, envelope: Envelope, *, limits: Limits) -> tuple[dict[str, Any], str]:
        return {"error": envelope.to_json()}, envelope.text(limits=limits)

    def read(self, structured: Mapping[str, Any]) -> Envelope | None:
        from mcpcore.envelope import Envelope

        error = structured.get("error")
        if not isinstance(error, Mapping):
            return None
        try:
            return Envelope.from_json(error)
        except ValueError:
            return None


CANONICAL_DIALECT: Final = _Canonical()
