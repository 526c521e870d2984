"""`ok_envelope`: `{"ok": false, "error": {…}}` of document 001, plain (pattern A) or as the data of a success (B)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mcpcore.contract.codes import ErrorCode
from mcpcore.contract.limits import Limits
from mcpcore.wire.dialects.dialect import CONSTANT, Dialect, details_of, envelope_from, json_text, known, own_code
from mcpcore.wire.envelope import Envelope

HANDLER_ERROR: Final = "HANDLER_ERROR"

DOMAIN_CODES: Final[Mapping[ErrorCode, str]] = {
    code: f"ERR_{'VALIDATION' if code is ErrorCode.VALIDATION_ERROR else code.name}" for code in ErrorCode
}
"""The domain code of pattern B for each code. Source of the form, and of ERR_VALIDATION: document 001, section 3."""

READ: Final[Mapping[str, ErrorCode]] = {
    "INVALID_PARAMS": ErrorCode.INVALID_PARAMS,
    HANDLER_ERROR: ErrorCode.INTERNAL_ERROR,
    **{domain: code for code, domain in DOMAIN_CODES.items()},
    "ERR_WRITEBACK_REQUIRED": ErrorCode.CONFLICT,
    "ERR_INVALID_TRANSITION": ErrorCode.CONFLICT,
    "ERR_SESSION_EXISTS": ErrorCode.CONFLICT,
    "ERR_SESSION_NOT_FOUND": ErrorCode.NOT_FOUND,
    "ERR_ALREADY_FINALIZED": ErrorCode.CONFLICT,
    "ERR_NO_RECORDS": ErrorCode.NOT_FOUND,
    "ERR_NOT_FINALIZED": ErrorCode.CONFLICT,
}
"""The code for each code that the document shows; others are recognized by their ends."""

_ENDINGS: Final = (
    ("NOT_FOUND", ErrorCode.NOT_FOUND),
    ("EXISTS", ErrorCode.CONFLICT),
    ("CONFLICT", ErrorCode.CONFLICT),
    ("TIMEOUT", ErrorCode.TIMEOUT),
    ("FORBIDDEN", ErrorCode.FORBIDDEN),
    ("UNAUTHORIZED", ErrorCode.UNAUTHORIZED),
    ("VALIDATION", ErrorCode.VALIDATION_ERROR),
    ("INVALID", ErrorCode.VALIDATION_ERROR),
)


class OkEnvelope(Dialect):
    """Pattern A is `ok_envelope`, with `isError`; pattern B is `ok_envelope_b`, hidden in a success."""

    def __init__(self, *, hidden: bool) -> None:
        """Make pattern B where `hidden`, else pattern A."""
        self._hidden = hidden
        self.name = "ok_envelope_b" if hidden else "ok_envelope"
        self.is_error = not hidden
        failure: dict[str, Any] = {
            "properties": {"ok": {"const": False}, "error": {"type": "object", "required": ["code", "message"]}},
            "required": ["ok", "error"],
        }
        within = {"ok": {"const": True}, "data": {"type": "object", **failure}}
        self.schema = {"properties": within, "required": ["ok", "data"]} if hidden else failure

    def write(self, envelope: Envelope, *, limits: Limits) -> tuple[dict[str, Any], str]:  # noqa: ARG002
        """`{ok, error: {code, message, details}}`, in `{ok: true, data: …}` for pattern B."""
        error = {"code": self._code(envelope), "message": envelope.message, "details": details_of(envelope)}
        written: dict[str, Any] = {"ok": False, "error": error}
        if self._hidden:
            written = {"ok": True, "data": written}
        return written, json_text(written)

    def render_item(self, structured: dict[str, Any], envelope: Envelope) -> dict[str, Any]:  # noqa: ARG002
        """The error, without what tells it from a success."""
        error: dict[str, Any] = (structured["data"] if self._hidden else structured)["error"]
        return error

    def read(self, structured: Mapping[str, Any], *, is_error: bool) -> Envelope | None:
        """The failure; `ok` must be there, and false.

        In a result that does not say `isError` nothing else may be there: a tool that checks things may well answer
        that one of them is not `ok`.
        """
        outer = structured
        if self._hidden:
            if structured.get("ok") is not True or not isinstance(data := structured.get("data"), Mapping):
                return None
            structured = data
        error = structured.get("error")
        if structured.get("ok") is not False or not isinstance(error, Mapping):
            return None
        native, message = error.get("code"), error.get("message")
        if not isinstance(native, str) or not CONSTANT.match(native) or not isinstance(message, str):
            return None
        alone = outer.keys() <= {"ok", "data", "error"} and structured.keys() == {"ok", "error"}
        if not is_error and not (alone and error.keys() <= {"code", "message", "details"}):
            return None
        return envelope_from(
            error.get("details"), message=message, native_code=native, code=read_code(native), dialect=self.name
        )

    def _code(self, envelope: Envelope) -> str:
        # Pattern A has only two codes.
        own = own_code(envelope, self.name, READ if self._hidden else (), prefix="ERR_")
        if own is not None:
            return own
        code = known(envelope)
        if not self._hidden:
            return "INVALID_PARAMS" if code is ErrorCode.INVALID_PARAMS else HANDLER_ERROR
        return DOMAIN_CODES[code] if isinstance(code, ErrorCode) else f"ERR_{code.name}"


def read_code(native: str) -> ErrorCode:
    """The code for a code of the dialect."""
    if native in READ:
        return READ[native]
    return next((code for ending, code in _ENDINGS if native.endswith(ending)), ErrorCode.UNKNOWN_ERROR)
