"""`system_error`: the governance envelope of document 000, every field always there, null where there is nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mcpcore.contract.bound_fields import FIELDS
from mcpcore.contract.codes import ErrorCode
from mcpcore.contract.limits import Limits
from mcpcore.wire.arguments import INVALID_ARGUMENTS, MISSING
from mcpcore.wire.dialects.dialect import Dialect, json_text, known, own_code
from mcpcore.wire.envelope import Envelope

_FALLBACK: Final = "UNKNOWN_TOOL_FAILURE"

WRITTEN: Final[Mapping[ErrorCode, str]] = {
    **dict.fromkeys(ErrorCode, _FALLBACK),
    ErrorCode.PARSE_ERROR: "INVALID_INPUT_FORMAT",
    ErrorCode.INVALID_REQUEST: "POLICY_VIOLATION",
    ErrorCode.INVALID_PARAMS: "INVALID_INPUT_TYPE",
    ErrorCode.INTERNAL_ERROR: "INTERNAL_ERROR",
    ErrorCode.NOT_FOUND: "PATH_NOT_FOUND",
    ErrorCode.CONFLICT: "HASH_MISMATCH",
    ErrorCode.FORBIDDEN: "UNAUTHORIZED_ACTION",
    ErrorCode.UNAUTHORIZED: "SESSION_NOT_INITIALIZED",
    ErrorCode.VALIDATION_ERROR: "INVALID_INPUT_VALUE",
    ErrorCode.CONFIGURATION_ERROR: "BOOTSTRAP_FAILURE",
    ErrorCode.INITIALIZATION_FAILED: "SESSION_INITIALIZATION_FAILED",
}
"""The registered code for each code; the dialect's fallback where it has none of that meaning."""

READ: Final[Mapping[str, ErrorCode]] = {
    name: code
    for code, names in (
        (ErrorCode.UNAUTHORIZED, "SESSION_NOT_INITIALIZED"),
        (ErrorCode.FORBIDDEN, "SESSION_LOCKED UNAUTHORIZED_ACTION INSUFFICIENT_PERMISSIONS ROLE_MISMATCH"),
        (ErrorCode.FORBIDDEN, "PATH_TRAVERSAL_BLOCKED OUTSIDE_WORKSPACE PLAN_NOT_APPROVED PLAN_SCOPE_VIOLATION"),
        (ErrorCode.INITIALIZATION_FAILED, "SESSION_INITIALIZATION_FAILED SELF_AUDIT_FAILURE"),
        (ErrorCode.INVALID_PARAMS, "INVALID_INPUT_TYPE MISSING_REQUIRED_FIELD"),
        (ErrorCode.PARSE_ERROR, "INVALID_INPUT_FORMAT"),
        (ErrorCode.VALIDATION_ERROR, "INVALID_INPUT_VALUE INVALID_PATH PATCH_INVALID"),
        (ErrorCode.VALIDATION_ERROR, "PLAN_ENFORCEMENT_FAILED PREFLIGHT_FAILED"),
        (ErrorCode.NOT_FOUND, "PATH_NOT_FOUND FILE_NOT_FOUND PLAN_NOT_FOUND"),
        (ErrorCode.CONFLICT, "FILE_ALREADY_EXISTS PATCH_APPLY_FAILED HASH_MISMATCH"),
        (ErrorCode.INVALID_REQUEST, "POLICY_VIOLATION RUST_POLICY_VIOLATION"),
        (ErrorCode.INTERNAL_ERROR, "FILE_READ_FAILED FILE_WRITE_FAILED INVARIANT_VIOLATION"),
        (ErrorCode.INTERNAL_ERROR, "AUDIT_LOG_FAILED AUDIT_LOCK_FAILED INTERNAL_ERROR"),
        (ErrorCode.CONFIGURATION_ERROR, "BOOTSTRAP_FAILURE"),
        (ErrorCode.UNKNOWN_ERROR, _FALLBACK),
    )
    for name in names.split()
}
"""The code for each registered code. Source: document 000, section 2."""

_OWN_REASONS: Final = {"audit_failed": "AUDIT_LOG_FAILED"}
# The document allows no null here (section 1), and not every failure is about a tool.
_UNNAMED: Final = "unknown"
_ALWAYS: Final = frozenset({"error_code", "human_message", "tool_name", "cause", "timestamp", *FIELDS})
_EXPOSED: Final = frozenset({"type", "message", "causes", "traceback"})
"""The fields in which `Server(expose_internal_errors=True)` describes an exception."""
_WRAPPERS: Final = frozenset(
    {
        "mcpcore.contract.errors.CodedError",
        "mcpcore.contract.errors.FrameworkError",
        "mcp.server.mcpserver.exceptions.UnexpectedToolError",
    }
)
"""The exceptions whose first cause is the original error."""


class SystemError_(Dialect):  # noqa: N801 - the name without the underscore is a builtin's
    """`{error_code, human_message, role, session_id, …, cause, timestamp, stack_trace?}`, at the root."""

    name = "system_error"
    schema: Mapping[str, Any] = {
        "properties": {
            **{name: {"type": "string"} for name in ("error_code", "human_message", "tool_name", "timestamp")},
            **{name: {"type": ["string", "null"]} for name in FIELDS},
            "cause": {"type": ["string", "object", "null"]},
            "stack_trace": {"type": "string"},
        },
        "required": sorted(_ALWAYS),
    }

    def write(self, envelope: Envelope, *, limits: Limits) -> tuple[dict[str, Any], str]:  # noqa: ARG002
        """All required fields; `cause` and `stack_trace` only where exceptions are exposed."""
        context = envelope.context or {}
        cause, trace = _cause_and_trace(envelope)
        written: dict[str, Any] = {
            "error_code": registered_code(envelope),
            "human_message": envelope.message,
            **{field: context.get(field) for field in ("role", "session_id", "workspace_root")},
            "tool_name": envelope.tool or _UNNAMED,
            **{field: context.get(field) for field in ("invariant_id", "phase_id", "plan_hash")},
            "cause": cause,
            "timestamp": envelope.timestamp,
        }
        if trace is not None:
            written["stack_trace"] = trace
        if envelope.injected:  # the dialect has no place for it, and a test must not be taken for the truth
            written["injected"] = True
        return written, json_text(written)

    def read(self, structured: Mapping[str, Any], *, is_error: bool) -> Envelope | None:
        """The failure, where the fields that only this dialect has are there.

        In a result that does not say `isError`, all that the dialect always has and nothing else.
        """
        native, message = structured.get("error_code"), structured.get("human_message")
        is_failure = is_error or _ALWAYS <= structured.keys() <= _ALWAYS | {"stack_trace"}
        if not isinstance(native, str) or not isinstance(message, str) or not is_failure:
            return None
        code = READ.get(native, ErrorCode.UNKNOWN_ERROR)
        data: dict[str, Any] = {}
        # A registered code that is written for one of ours says no more than ours; any other is more exact.
        if native in READ and native not in WRITTEN.values():
            data["reason"] = native.lower()
        exception = _exception(structured)
        if exception:
            data["exception"] = exception
        if data:
            data["retryable"] = code.retry.retryable
        tool, timestamp = structured.get("tool_name"), structured.get("timestamp")
        context = {field: structured[field] for field in FIELDS if isinstance(structured.get(field), str)}
        return Envelope(
            code=int(code),
            name=code.name,
            message=message,
            retry=code.retry,
            tool=tool if isinstance(tool, str) and tool != _UNNAMED else None,
            timestamp=timestamp if isinstance(timestamp, str) else "",
            data=data or None,
            context=context or None,
            dialect=self.name,
            native_code=native,
            injected=structured.get("injected") is True,
        )


def registered_code(envelope: Envelope) -> str:
    """The reason or the application's code where it is registered, an invariant's where one is bound, else by table."""
    own = own_code(envelope, SystemError_.name, READ)
    if own is not None:
        return own
    reason = envelope.reason or ""
    if reason in _OWN_REASONS:
        return _OWN_REASONS[reason]
    if (envelope.context or {}).get("invariant_id"):
        return "INVARIANT_VIOLATION"
    if reason == INVALID_ARGUMENTS and _only_missing(envelope):
        return "MISSING_REQUIRED_FIELD"
    code = known(envelope)
    return WRITTEN[code] if isinstance(code, ErrorCode) else _FALLBACK


def _only_missing(envelope: Envelope) -> bool:
    issues = envelope.details.get("issues")
    if not isinstance(issues, list) or not issues:
        return False
    return all(isinstance(issue, Mapping) and issue.get("type") in MISSING for issue in issues)


def _cause_and_trace(envelope: Envelope) -> tuple[Any, str | None]:
    """The cause and the stack trace, where the server exposes them or whoever it was read from did."""
    exposed = (envelope.data or {}).get("exception")
    if not isinstance(exposed, Mapping):
        return None, None
    if envelope.dialect == SystemError_.name:
        trace = exposed.get("traceback")
        return _read_cause(exposed), trace if isinstance(trace, str) else None
    if exposed.keys() != _EXPOSED:  # data of the author's own, under a key of that name
        return None, None
    return _cause(exposed), str(exposed["traceback"])


def _cause(exposed: Mapping[str, Any]) -> dict[str, Any] | None:
    """The original error as the document normalises it, `{message, code, name}`: the cause of a coded error."""
    original: Any = exposed
    if str(exposed["type"]) in _WRAPPERS:
        causes = exposed["causes"]
        original = causes[0] if isinstance(causes, list | tuple) and causes else None
    if not isinstance(original, Mapping):
        return None
    return {"message": original.get("message"), "code": None, "name": original.get("type")}


_PARTS: Final = {"message": "message", "code": "code", "name": "type"}
"""The parts of a cause, and what each is called here."""


def _exception(structured: Mapping[str, Any]) -> dict[str, Any]:
    """The cause and the stack trace of an envelope that was read; `_read_cause` makes the same cause of it again."""
    exception: dict[str, Any] = {}
    cause, trace = structured.get("cause"), structured.get("stack_trace")
    if isinstance(cause, str):
        exception["message"] = cause
    elif isinstance(cause, Mapping):
        exception |= {ours: cause[theirs] for theirs, ours in _PARTS.items() if cause.get(theirs) is not None}
        if "type" not in exception or not cause.keys() <= _PARTS.keys():
            exception["original"] = dict(cause)
    if isinstance(trace, str):
        exception["traceback"] = trace
    return exception


def _read_cause(exception: Mapping[str, Any]) -> Any:
    if "original" in exception:
        return exception["original"]
    if exception.keys() <= {"message", "traceback"}:
        return exception.get("message")
    return {theirs: exception.get(ours) for theirs, ours in _PARTS.items()}
