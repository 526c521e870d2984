"""`tool_error`: `{code, message, retry, suggestion?, details?}` of document 003, the retry union always there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mcpcore.contract.codes import ErrorCode, code_named, stated_advice
from mcpcore.contract.limits import Limits
from mcpcore.wire.dialects.dialect import CONSTANT, Dialect, details_of, envelope_from, json_text, own_code
from mcpcore.wire.envelope import Envelope

_FIELDS: Final = frozenset({"code", "message", "retry", "suggestion", "details"})


class ToolErrorDialect(Dialect):
    """`{code, message, retry, suggestion?, details?}`, at the root; the codes have the names that they have here."""

    name = "tool_error"
    schema: Mapping[str, Any] = {
        "properties": {"code": {"type": "string"}, "message": {"type": "string"}, "retry": {"type": "object"}},
        "required": ["code", "message", "retry"],
    }

    def write(self, envelope: Envelope, *, limits: Limits) -> tuple[dict[str, Any], str]:  # noqa: ARG002
        """The error; the suggestion is the recovery hint."""
        written: dict[str, Any] = {
            # The document lists no codes, so a failure without a native code gets the name of ours.
            "code": own_code(envelope, self.name, ()) or envelope.name,
            "message": envelope.message,
            "retry": envelope.retry.to_json(),
        }
        if envelope.hint is not None:
            written["suggestion"] = envelope.hint
        written["details"] = details_of(envelope)
        return written, json_text(written)

    def read(self, structured: Mapping[str, Any], *, is_error: bool) -> Envelope | None:
        """The failure, where the retry union is there and nothing that the dialect does not have."""
        native, message, advice = (
            structured.get("code"),
            structured.get("message"),
            stated_advice(structured.get("retry")),
        )
        if not isinstance(native, str) or not isinstance(message, str) or advice is None:
            return None
        # In a success, a code such as `E501` is what a linter reports, and no failure of the call.
        if not structured.keys() <= _FIELDS or not (is_error or CONSTANT.match(native)):
            return None
        suggestion = structured.get("suggestion")
        code = code_named(native)
        return envelope_from(
            structured.get("details"),
            message=message,
            native_code=native,
            code=ErrorCode.UNKNOWN_ERROR if code is None else code,
            dialect=self.name,
            retry=advice,
            recovery={"hint": suggestion} if isinstance(suggestion, str) and suggestion.strip() else None,
        )
