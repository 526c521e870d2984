"""`taxonomy`: the error with recovery actions, hint, fallback tool and correlation id of document 002."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mcpcore.contract.codes import LATER, STRATEGIES, Code, ErrorCode, Retry, stated_advice
from mcpcore.contract.limits import Limits
from mcpcore.wire.dialects.dialect import Dialect, details_of, envelope_from, json_text, known, own_code
from mcpcore.wire.envelope import Envelope

WRITTEN: Final[Mapping[ErrorCode, str]] = {
    **dict.fromkeys(ErrorCode, "INTERNAL_ERROR"),
    ErrorCode.PARSE_ERROR: "INVALID_INPUT",
    ErrorCode.INVALID_REQUEST: "OPERATION_NOT_ALLOWED",
    ErrorCode.METHOD_NOT_FOUND: "NOT_FOUND",
    ErrorCode.INVALID_PARAMS: "INVALID_INPUT",
    ErrorCode.SERVICE_UNAVAILABLE: "SERVICE_UNAVAILABLE",
    ErrorCode.NOT_FOUND: "NOT_FOUND",
    ErrorCode.CONFLICT: "DUPLICATE_OPERATION",
    ErrorCode.RATE_LIMITED: "RATE_LIMITED",
    ErrorCode.TIMEOUT: "TIMEOUT",
    ErrorCode.FORBIDDEN: "FORBIDDEN",
    ErrorCode.UNAUTHORIZED: "UNAUTHORIZED",
    ErrorCode.VALIDATION_ERROR: "VALIDATION_FAILED",
    ErrorCode.DATABASE_ERROR: "DEPENDENCY_FAILED",
    ErrorCode.REQUEST_CANCELLED: "OPERATION_NOT_ALLOWED",
}
"""The code of the taxonomy for each code. Source of the codes: document 002, section 1."""

_BY_CATEGORY: Final = {
    "client": "BUSINESS_RULE_VIOLATION",
    "server": "INTERNAL_ERROR",
    "upstream": "DEPENDENCY_FAILED",
}

_TAXONOMY: Final[Mapping[str, tuple[ErrorCode, str]]] = {
    "INVALID_INPUT": (ErrorCode.INVALID_PARAMS, "check_input_format get_schema_info"),
    "UNAUTHORIZED": (ErrorCode.UNAUTHORIZED, "refresh_token reauthenticate"),
    "FORBIDDEN": (ErrorCode.FORBIDDEN, "check_permissions escalate_to_human"),
    "NOT_FOUND": (ErrorCode.NOT_FOUND, "verify_resource_id list_available_resources"),
    "RATE_LIMITED": (ErrorCode.RATE_LIMITED, "wait_and_retry use_cached_data"),
    "VALIDATION_FAILED": (ErrorCode.VALIDATION_ERROR, "check_input_format get_schema_info"),
    "INTERNAL_ERROR": (ErrorCode.INTERNAL_ERROR, "retry_once contact_support"),
    "SERVICE_UNAVAILABLE": (ErrorCode.SERVICE_UNAVAILABLE, "wait_and_retry use_fallback"),
    "TIMEOUT": (ErrorCode.TIMEOUT, "retry_with_timeout reduce_request_scope"),
    "CIRCUIT_OPEN": (ErrorCode.SERVICE_UNAVAILABLE, "use_fallback_service check_service_status"),
    "DEPENDENCY_FAILED": (ErrorCode.SERVICE_UNAVAILABLE, "use_fallback_service retry_later"),
    "BUSINESS_RULE_VIOLATION": (ErrorCode.VALIDATION_ERROR, "review_business_rules escalate_to_human"),
    "INSUFFICIENT_BALANCE": (ErrorCode.FORBIDDEN, "check_balance add_funds"),
    "DUPLICATE_OPERATION": (ErrorCode.CONFLICT, "get_existing_result skip_operation"),
    "OPERATION_NOT_ALLOWED": (ErrorCode.FORBIDDEN, "check_permissions escalate_to_human"),
}
"""The code for each code of the taxonomy, and its actions where the author declared none.

Source: document 002, section 1.
"""

READ: Final = {native: code for native, (code, _) in _TAXONOMY.items()}
ACTIONS: Final = {native: tuple(actions.split()) for native, (_, actions) in _TAXONOMY.items()}

_ACTIONS: Final = ("contact_support",)
"""The actions for a code that the taxonomy does not have. Source: document 002, `getDefaultRecovery`."""

_ALWAYS: Final = frozenset({"code", "message", "recovery_actions", "correlation_id", "timestamp"})
_FIELDS: Final = _ALWAYS | frozenset(
    ["details", "retry_after_ms", "fallback_tool", "recovery_hint", "userMessage", "corrective_params"]
)

HINTS: Final[Mapping[str, str]] = {strategy: strategy.upper() for strategy in STRATEGIES}
"""The recovery hint for each strategy."""

_STRATEGIES: Final = {hint: strategy for strategy, hint in HINTS.items()}


class Taxonomy(Dialect):
    """`{code, message, details?, retry_after_ms?, recovery_actions, fallback_tool?, …}`, at the root."""

    name = "taxonomy"
    schema: Mapping[str, Any] = {
        "properties": {
            "code": {"enum": list(READ)},
            "message": {"type": "string"},
            "details": {"type": "object"},
            "retry_after_ms": {"type": "number"},
            "recovery_actions": {"type": "array", "items": {"type": "string"}},
            "fallback_tool": {"type": "string"},
            "correlation_id": {"type": "string"},
            "timestamp": {"type": "string"},
            "recovery_hint": {"enum": list(_STRATEGIES)},
            "userMessage": {"type": "string"},
            "corrective_params": {"type": "object"},
        },
        "required": ["code", "message", "recovery_actions", "correlation_id", "timestamp"],
    }

    def write(self, envelope: Envelope, *, limits: Limits) -> tuple[dict[str, Any], str]:  # noqa: ARG002
        """The error with its recovery; the text is the same, indented, as the document returns it."""
        code = own_code(envelope, self.name, READ) or taxonomy_code(known(envelope))
        recovery = envelope.recovery or {}
        user_message, corrective = recovery.get("userMessage"), recovery.get("correctiveParams")
        fields = {
            "code": code,
            "message": envelope.message,
            "details": details_of(envelope),
            "retry_after_ms": envelope.retry.after_ms,
            "recovery_actions": list(envelope.actions if recovery.get("actions") else ACTIONS.get(code, _ACTIONS)),
            "fallback_tool": envelope.fallback_tool,
            "correlation_id": envelope.correlation_id,
            "timestamp": envelope.timestamp,
            # The document requires a hint, and this one advises neither to retry nor to call another tool.
            "recovery_hint": HINTS.get(envelope.strategy or "", "REPORT_TO_USER"),
            "userMessage": user_message if isinstance(user_message, str) else envelope.message,
            "corrective_params": dict(corrective) if isinstance(corrective, Mapping) else None,
        }
        written = {key: value for key, value in fields.items() if value is not None}
        return written, json_text(written, indent=2)

    def read(self, structured: Mapping[str, Any], *, is_error: bool) -> Envelope | None:
        """The failure, where its code is one of the taxonomy and the fields that are always there are."""
        native, message = structured.get("code"), structured.get("message")
        actions = structured.get("recovery_actions")
        if not isinstance(native, str) or not isinstance(message, str) or not isinstance(actions, list):
            return None
        hidden = native in READ and _ALWAYS <= structured.keys() <= _FIELDS
        if not is_error and not hidden:
            return None
        code = READ.get(native.upper(), ErrorCode.UNKNOWN_ERROR)
        correlation, timestamp = structured.get("correlation_id"), structured.get("timestamp")
        return envelope_from(
            structured.get("details"),
            message=message,
            native_code=native,
            code=code,
            dialect=self.name,
            retry=_retry(structured, code),
            recovery=_recovery(structured, actions),
            correlation_id=correlation if isinstance(correlation, str) else "",
            timestamp=timestamp if isinstance(timestamp, str) else "",
        )


def taxonomy_code(code: Code) -> str:
    """The taxonomy's code for a code; the category decides for an application's own."""
    return WRITTEN[code] if isinstance(code, ErrorCode) else _BY_CATEGORY[code.category]


def _retry(structured: Mapping[str, Any], code: ErrorCode) -> Retry | None:
    """The advice that the failure states, or None."""
    stated = stated_advice({"kind": LATER, "afterMs": structured.get("retry_after_ms")})
    if stated is None and structured.get("recovery_hint") == HINTS["retry_later"] and not code.retry.retryable:
        # The hint advises a retry and no wait is stated, but the code itself would advise against a retry.
        return Retry.now()
    return stated


def _recovery(structured: Mapping[str, Any], actions: list[Any]) -> dict[str, Any] | None:
    """The recovery as the canonical form has it; the hint is the sentence for the user, else the actions in words."""
    steps = [action for action in actions if isinstance(action, str)]
    said = structured.get("userMessage")
    hint = said if isinstance(said, str) and said.strip() else ", ".join(step.replace("_", " ") for step in steps)
    if not hint:
        return None
    tool, corrective = structured.get("fallback_tool"), structured.get("corrective_params")
    recovery = {
        "hint": hint,
        "strategy": _STRATEGIES.get(str(structured.get("recovery_hint"))),
        "actions": steps or None,
        "fallbackTool": tool if isinstance(tool, str) else None,
        "userMessage": said if isinstance(said, str) else None,
        "correctiveParams": dict(corrective) if isinstance(corrective, Mapping) else None,
    }
    return {key: value for key, value in recovery.items() if value is not None}
