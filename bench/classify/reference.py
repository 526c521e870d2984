"""The reference table alone: the resolution order of the reference design, carried over to Python as it stands."""

from __future__ import annotations

import re
from typing import Final

from mcpcore.contract.codes import ErrorCode

C = ErrorCode

NAMES: Final = {"SyntaxError": C.VALIDATION_ERROR, "RangeError": C.VALIDATION_ERROR, "URIError": C.VALIDATION_ERROR,
                "ZodError": C.VALIDATION_ERROR, "ReferenceError": C.INTERNAL_ERROR, "EvalError": C.INTERNAL_ERROR,
                "AggregateError": C.INTERNAL_ERROR}  # fmt: skip

PATTERNS: Final = [(re.compile(pattern, re.IGNORECASE), code) for pattern, code in (
    # provider-specific
    (r"ThrottlingException|TooManyRequestsException", C.RATE_LIMITED),
    (r"AccessDenied|UnauthorizedOperation", C.FORBIDDEN),
    (r"ResourceNotFoundException", C.NOT_FOUND),
    (r"status code 401", C.UNAUTHORIZED),
    (r"status code 403", C.FORBIDDEN),
    (r"status code 404", C.NOT_FOUND),
    (r"status code 409", C.CONFLICT),
    (r"status code 429", C.RATE_LIMITED),
    (r"status code 5\d\d", C.SERVICE_UNAVAILABLE),
    (r"ECONNREFUSED|connection refused", C.SERVICE_UNAVAILABLE),
    (r"ETIMEDOUT|connection timeout", C.TIMEOUT),
    (r"unique constraint|duplicate key", C.CONFLICT),
    (r"foreign key constraint", C.VALIDATION_ERROR),
    (r"JWT expired", C.UNAUTHORIZED),
    (r"row level security", C.FORBIDDEN),
    (r"insufficient_quota|quota exceeded", C.RATE_LIMITED),
    (r"model_not_found", C.NOT_FOUND),
    (r"context_length_exceeded", C.VALIDATION_ERROR),
    (r"ENOTFOUND|DNS", C.SERVICE_UNAVAILABLE),
    (r"ECONNRESET|connection reset", C.SERVICE_UNAVAILABLE),
    # common
    (r"unauthorized|unauthenticated|not\s+authorized|not.*logged.*in|invalid[\s_-]+token|expired[\s_-]+token",
     C.UNAUTHORIZED),
    (r"permission|forbidden|access.*denied|not.*allowed", C.FORBIDDEN),
    (r"not found|no such|doesn't exist|couldn't find", C.NOT_FOUND),
    (r"invalid|validation|malformed|bad request|wrong format|missing\s+(?:required|param|field|input|value|arg)",
     C.VALIDATION_ERROR),
    (r"conflict|already exists|duplicate|unique constraint", C.CONFLICT),
    (r"rate limit|too many requests|throttled", C.RATE_LIMITED),
    (r"timeout|timed out|deadline exceeded", C.TIMEOUT),
    (r"abort(ed)?|cancell?ed", C.TIMEOUT),
    (r"service unavailable|bad gateway|gateway timeout|upstream error", C.SERVICE_UNAVAILABLE),
    (r"zod|zoderror|schema validation", C.VALIDATION_ERROR),
)]  # fmt: skip


def classify_by_reference(exc: BaseException) -> ErrorCode:
    """The code by class name, then by pattern over message and name, then INTERNAL_ERROR."""
    name = type(exc).__name__
    if name in NAMES:
        return NAMES[name]
    try:
        message = str(exc)[:20_000]
    except Exception:
        message = ""
    matching = (code for pattern, code in PATTERNS if pattern.search(message) or pattern.search(name))
    return next(matching, C.TIMEOUT if name == "AbortError" else C.INTERNAL_ERROR)
