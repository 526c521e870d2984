"""What the name of a class says: the words of `UserNotFoundError` are "user not found error".

For classes that no table of types knows, outside the standard library, and that are no programmer's mistake. The
phrases are those of `phrases.py`, read in order, first match first. `NAMES` decide before the message is read; a
name of `VAGUE_NAMES` tells only what the exception is about, so that it counts where the message says nothing.
"""

from __future__ import annotations

from typing import Final

from mcpcore.classification.by_message import MessageRow
from mcpcore.codes import ErrorCode

_C = ErrorCode

# fmt: off
NAMES: Final[tuple[MessageRow, ...]] = (
    MessageRow(_C.INTERNAL_ERROR, (
        "bug", "programming|programmer|coding", "not implemented", "assertion", "unexpected state|none|condition",
        "illegal state", "invalid state|operation|usage", "invariant", "unreachable code|state", "internal error",
        "should not happen", "contract violation",
    )),
    MessageRow(_C.SERVICE_UNAVAILABLE, (
        "connection|connect|socket aborted|refused|reset|closed|lost|dropped|failed|error|failure|exception",
        "retries|retry exceeded|exhausted|failed", "max|maximum|many retries|tries", "circuit breaker|open",
        "host|network|server unreachable", "unreachable",
    )),
    MessageRow(_C.TIMEOUT, ("time limit",)),
    MessageRow(_C.REQUEST_CANCELLED, (
        "task|job|request|call revoked",
        "cancelled|canceled|cancellation|cancel", "abort|aborted [error]", "interrupted by user", "user interrupt",
    )),
    MessageRow(_C.RATE_LIMITED, (
        "rate limit|limited|limiting|limits|exceeded", "ratelimit|ratelimited|ratelimiting", "too many requests|calls",
        "toomanyrequests", "throttled|throttling|throttle", "quota exceeded|exhausted|error|reached", "quota",
        "usage limit|cap", "request limit", "out of credits|quota", "too many .. attempts|logins",
        "too many concurrent", "slow down",
        "limit reached|exceeded",
    )),
    MessageRow(_C.TIMEOUT, (
        "timeout|timedout|timeouts", "timed out", "time out", "deadline exceeded", "deadline", "took too long",
    )),
    MessageRow(_C.CONFIGURATION_ERROR, (
        "config|configuration|settings error|exception|invalid|missing", "not configured|configured",
        "invalid|missing|bad config|configuration|settings|setting", "misconfigured|misconfiguration",
        "improperly configured", "missing environment|env",
        "missing dependency|module|package|library|plugin|extra", "environment variable", "unconfigured",
        "config|settings|configuration .. error|missing|invalid",
    )),
    MessageRow(_C.UNAUTHORIZED, (
        "unauthorized|unauthenticated|unauthorised", "not authenticated", "not logged in",
        "login required|failed|error", "logged out", "authentication|auth error|failed|failure|required|exception",
        "authentication", "invalid|expired|bad|missing|revoked|wrong|incorrect api|access|auth|refresh|id key|token",
        ("invalid|expired|bad|missing|revoked|wrong|incorrect token|credentials|credential|signature|password"
         "|session|jwt|login|passphrase"),
        "token|session|credentials|signature|credential|password|jwt|key expired|invalid|revoked|mismatch|incorrect",
        "not authorized", "no credentials|token|session", "credentials|credential|token|login error|exception",
        "auth error|failed", "sign in required",
        "signature|token|jwt verification|validation", "authorization token|header", "reauth|reauthentication",
    )),
    MessageRow(_C.FORBIDDEN, (
        "forbidden", "permission|permissions denied|error|required", "permission|permissions",
        "access denied|forbidden|error|restricted|control", "not permitted|allowed", "disallowed", "denied",
        "prohibited", "authorization error|failed|failure", "authorization",
        "insufficient scope|permissions|privileges|rights|role", "payment required", "read only", "readonly",
        "path|directory escape|traversal|escapes", "sandbox", "policy violation|error",
        "security error|violation|exception", "ssrf", "blocked", "banned", "privilege", "not owner|member", "csrf",
    )),
    MessageRow(_C.CONFLICT, (
        "already exists|exist|registered|running|taken|used|done|processed|closed|started|paid|booked", "already",
        "conflict|conflicts", "duplicate|duplicated|duplicates", "version mismatch", "stale", "concurrent|concurrency",
        "optimistic lock|locking", "resource|record|file|row|item|document locked|busy", "locked", "in use",
        "lock error|held", "not empty", "out of stock", "sold out", "in progress", "precondition", "outdated",
        "overlap|overlapping", "not ready yet",
    )),
    MessageRow(_C.NOT_FOUND, (
        "not found", "notfound", "does not exist", "doesnotexist", "no such", "not exist|exists", "gone",
        "unknown user|resource|entity|id|city|item|tool|key|account|project|model|session|device|order|customer",
        "missing record|resource|file|row|entity|item|document|page|object", "no results|matches|match|records|data",
        "nonexistent", "record|file|resource|page|item missing", "deleted",
    )),
    MessageRow(_C.SERIALIZATION_ERROR, (
        "parse|parsing|parser|decode|decoding error|exception|failed|failure",
        ("encode|encoding|serialization|deserialization|unmarshal|marshal|serialize|deserialize error|exception"
         "|failed|failure"),
        "json|xml|yaml|csv|html error", "jsondecode",
        "invalid|malformed|bad|unexpected json|xml|yaml|csv|response|reply", "corrupt|corrupted|truncated",
        "json|xml|yaml .. error",
    )),
    MessageRow(_C.INITIALIZATION_FAILED, (
        "initialization|initialisation|startup|bootstrap|boot error|failed|failure|exception", "failed to start",
        "init error|failed|failure", "not initialized|initialised",
    )),
    MessageRow(_C.VALIDATION_ERROR, (
        "validation", "invalid input|argument|arguments|parameter|parameters|params|value|format",
        "invalid request|data|field|query|url|email|date|id", "malformed", "bad request|input|argument|parameter|value",
        "out of range|bounds", "outofrange", "unprocessable", "too long|short|large|small|big|many|few|deep",
        "missing parameter|argument|field|param|input|value|arguments|parameters|fields|header|property",
        "input error|invalid", "argument|parameter|params|schema error", "unsafe", "required field|parameter|argument",
        "empty", "unsupported", "^bad|wrong|illegal|improper", "^invalid", "^missing|ambiguous", "mismatch",
        "constraint violation", "illegal argument|value", "not supported|valid|unique",
    )),
    MessageRow(_C.DATABASE_ERROR, (
        "deadlock", "lock wait", "transaction failed|aborted|error|rollback",
    )),
    MessageRow(_C.SERVICE_UNAVAILABLE, (
        "service unavailable|down", "unavailable", "bad gateway", "backend|server|service|site|system|upstream down",
        "overloaded|overload", "maintenance", "server unavailable|down|busy", "offline", "out of service",
        "not available|responding|leader|primary", "busy",
    )),
)
"""Names that decide, before the message."""

SERVICE_NAMES: Final[tuple[MessageRow, ...]] = (
    MessageRow(_C.NOT_FOUND, (
        "not found", "does not exist", "not exist|exists|present", "no such", "nonexistent|non existent",
        "deleted !state",
    )),
    MessageRow(_C.UNAUTHORIZED, (
        "password reset|expired", "token|credentials|session|key|signature expired", "invalid|no|not auth|authed",
        "account inactive",
    )),
    MessageRow(_C.FORBIDDEN, (
        "subscription|payment|opt required", "missing|insufficient scope|scopes|permission|permissions",
    )),
    MessageRow(_C.CONFLICT, (
        "already exists|exist|in|set|associated|being|attached|running|enabled|disabled|purchased|member", "in use",
        "invalid|illegal|incorrect|wrong|terminal|unexpected .. state|status|transition",
        "state|status invalid|transition", "invalid operation", "transaction|transactions canceled|cancelled|conflict",
        "operation aborted", "not ready", "not empty", "pending", "deleting", "in progress", "out of sync",
        "dependency violation", "idempotency|idempotent", "cannot delete", "termination protected", "disabled !by",
        "inactive", "stale", "lease", "condition not met",
    )),
    MessageRow(_C.SERVICE_UNAVAILABLE, (
        "server|service|internal exception|error|failure|fault", "insufficient .. capacity", "capacity", "unavailable",
        "dependency failure|timeout|error", "server internal error", "cancelled by maintenance", "server",
    )),
    MessageRow(_C.VALIDATION_ERROR, (
        "size|length|range exceeded|satisfiable", "content|document|payload|message|item|template|policy size",
        "is invalid", "rejected", "malformed", "expired", "code|storage|size|content exceeded",
        "required", "not satisfiable", "incompatible", "next|pagination|continuation|page token",
        "invalid .. configuration|config|settings", "unsupported .. settings|configuration", "invalid .. encoding",
        "usage",
    )),
)
"""Names of errors that services give, read before `NAMES`: what is a mistake here is a state or a refusal there."""

VAGUE_NAMES: Final[tuple[MessageRow, ...]] = (
    MessageRow(_C.DATABASE_ERROR, (
        ("database|db|sql|storage|persistence|repository|datastore|query|transaction|migration error|exception"
         "|failure|failed"),
        "database|sql",
    )),
    MessageRow(_C.SERVICE_UNAVAILABLE, (
        "service|server|upstream|backend|provider|gateway|remote error|failure|exception|failed",
        "connection|connect|network|connectivity|transport|communication|socket", "upstream",
        "api|http|external error|failure|exception|failed",
    )),
    MessageRow(_C.NOT_FOUND, ("^unknown|no", "lookup error|failed|failure|exception")),
)
# fmt: on
"""Names that count where the message says nothing."""
