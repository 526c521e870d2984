"""The draft `ToolFailure` of MCP (SEP-3313): the class of a failure, in `_meta` of a result.

A failure that may be repeated is of the class "reliability". Of any other, the code decides: "governance" where the
caller may not do it, which a person has to change; "capability" where the call itself cannot succeed; "reliability"
where the server or a service behind it is at fault.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Final, Literal

from mcpcore.contract.codes import Category, ErrorCode
from mcpcore.values.escaping import one_line
from mcpcore.wire.envelope import Envelope

TOOL_FAILURE: Final = "io.modelcontextprotocol/toolFailure"
"""The key in `_meta`."""

FailureClass = Literal["capability", "reliability", "governance"]

CODES: Final[dict[str, tuple[FailureClass, ErrorCode]]] = {
    "capability_unsupported": ("capability", ErrorCode.METHOD_NOT_FOUND),
    "resource_not_found": ("capability", ErrorCode.NOT_FOUND),
    "invalid_input": ("capability", ErrorCode.INVALID_PARAMS),
    "retryable_transient_error": ("reliability", ErrorCode.SERVICE_UNAVAILABLE),
    "auth_required": ("governance", ErrorCode.UNAUTHORIZED),
    "permission_denied": ("governance", ErrorCode.FORBIDDEN),
    "policy_blocked": ("governance", ErrorCode.FORBIDDEN),
    "user_action_required": ("governance", ErrorCode.FORBIDDEN),
}
"""The codes that the draft recommends, with the class and the code here; the first of a code is written for it."""

CLASSES: Final[dict[FailureClass, ErrorCode]] = {
    "reliability": ErrorCode.SERVICE_UNAVAILABLE,
    "governance": ErrorCode.FORBIDDEN,
}
"""The code of a class, where the draft's code is another; a "capability" may lack for any reason."""

_BY_CATEGORY: Final[Mapping[Category, FailureClass]] = {
    "client": "capability",
    "server": "reliability",
    "upstream": "reliability",
}
_MAX_ID: Final = 200
"""Characters of the id of another server's failure."""

# An application's own codes have an HTTP status too, so the status decides.
_REFUSED: Final = frozenset({ErrorCode.UNAUTHORIZED.http_status, ErrorCode.FORBIDDEN.http_status})
_WRITTEN: Final = {code: name for name, (_, code) in reversed(CODES.items())}


def class_of(envelope: Envelope) -> FailureClass:
    """The class of a failure: by its advice, else by its code."""
    code = envelope.error_code
    if envelope.retry.retryable or code is None:
        return "reliability"
    return "governance" if code.http_status in _REFUSED else _BY_CATEGORY[code.category]


def tool_failure(envelope: Envelope, *, now_ms: int | None = None) -> dict[str, Any]:
    """The draft's object for a failure that is sent at `now_ms`, in milliseconds since 1970, or now."""
    code = envelope.error_code
    name = _WRITTEN.get(code, envelope.name.lower()) if isinstance(code, ErrorCode) else envelope.name.lower()
    retry = envelope.retry
    failure: dict[str, Any] = {
        "class": class_of(envelope),
        "code": envelope.reason or name,
        "retryable": retry.retryable,
        "correlationId": one_line(envelope.correlation_id[:_MAX_ID]),
    }
    if retry.after_ms is not None:
        # By this program's clock: the envelope may be another server's, whose clock may say anything.
        failure["retryNotBefore"] = (time.time_ns() // 1_000_000 if now_ms is None else now_ms) + retry.after_ms
    if envelope.hint is not None:
        failure["agentGuidance"] = envelope.hint
    return failure
