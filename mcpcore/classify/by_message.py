"""What an exception says: one table of phrases, read in order, first match first.

It begins with the reference table's provider-specific rows and goes on with its common ones, in its order; the rows
that go beyond it stand where a more general row would otherwise answer wrongly. `phrases.py` explains the language.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from mcpcore.codes import Code, ErrorCode
from mcpcore.retry import Retry


class MessageRow(NamedTuple):
    """Phrases of one meaning, and their code; None where the phrase holds an HTTP status, which gives it."""

    code: Code | None
    phrases: tuple[str, ...]
    retry: Retry | None = None
    only: str | None = None
    """The class, as `by_type` names it, whose messages alone the row is for; such rows are read first."""


_C = ErrorCode
_SOON: Final = Retry.after(seconds=1)
_NEVER: Final = Retry.never()

# fmt: off
MESSAGES: Final[tuple[MessageRow, ...]] = (
    # Messages of one type: what its code leaves open.
    MessageRow(_C.CONFLICT, (
        "unique constraint", "primary key must be unique", "duplicate key", "duplicate entry",
        "column .. is not unique",
    ), None, "sqlite3.Error"),
    MessageRow(_C.VALIDATION_ERROR, (
        "foreign key constraint", "not null constraint", "check constraint", "may not be null", "datatype mismatch",
        "constraint failed", "string or blob too big",
    ), None, "sqlite3.Error"),
    MessageRow(_C.DATABASE_ERROR, ("database [table|schema] is locked", "table .. is locked"), _SOON, "sqlite3.Error"),
    MessageRow(_C.REQUEST_CANCELLED, ("interrupted",), None, "sqlite3.Error"),
    MessageRow(_C.FORBIDDEN, ("^not authorized", "access to .. is prohibited"), None, "sqlite3.Error"),
    MessageRow(_C.CONFLICT, (
        "unique constraint", "duplicate key", "duplicate entry",
    ), None, "sqlalchemy.IntegrityError"),
    MessageRow(_C.VALIDATION_ERROR, (
        "foreign key", "not null", "check constraint", "violates not null constraint", "violates check constraint",
        "cannot be null", "constraint failed",
    ), None, "sqlalchemy.IntegrityError"),
    MessageRow(_C.UNAUTHORIZED, (
        "password authentication failed", "no password supplied", "authentication failed", "no pg_hba.conf entry",
    ), None, "psycopg.OperationalError"),
    MessageRow(_C.DATABASE_ERROR, (
        "database .. does not exist", "role .. does not exist",
    ), None, "psycopg.OperationalError"),
    MessageRow(_C.TIMEOUT, ("statement timeout", "timeout expired", "timed out"), None, "psycopg.OperationalError"),
    MessageRow(_C.SERVICE_UNAVAILABLE, (
        "connection refused", "connection failed", "connection is bad", "connection closed", "closed the connection",
        "could not connect", "failed to resolve host", "could not translate host name", "connection .. lost",
        "connection to server", "sending query failed", "the connection is lost", "no route to host",
        "too many clients", "server closed",
    ), None, "psycopg.OperationalError"),
    MessageRow(_C.SERVICE_UNAVAILABLE, (
        "connection is closed", "connection was closed", "connection .. closed",
    ), None, "asyncpg.InterfaceError"),
    MessageRow(_C.VALIDATION_ERROR, ("invalid input for query argument",), None, "asyncpg.Error"),
    MessageRow(_C.SERVICE_UNAVAILABLE, ("too many <status> error responses",), None, "urllib3.HTTPError"),
    MessageRow(_C.INVALID_REQUEST, ("too many redirects",), None, "urllib3.HTTPError"),
    MessageRow(_C.INTERNAL_ERROR, (
        "^not enough values to unpack", "^too many values to unpack", "^i/o operation on closed file",
        "^list.remove(x): x not in list", "^generator already executing", "^write to closed file",
        "^read of closed file", "^underlying buffer has been detached", "^tuple.index(x): x not in tuple",
        "^deque .. is empty", "^semaphore released too many times", "^array is too small",
        "^task_done() called too many times", "^dictionary update sequence element",
    ), None, "builtins.ValueError"),
    MessageRow(_C.SERIALIZATION_ERROR, (
        "^compressed data ended", "^circular reference detected", "^out of range float values are not json compliant",
    ), None, "builtins.ValueError"),
    MessageRow(_C.INTERNAL_ERROR, (
        "dictionary changed size during iteration", "set changed size during iteration",
        "deque mutated during iteration", "dictionary keys changed during iteration", "event loop is closed",
        "event loop is already running", "event loop is running", "no running event loop", "no current event loop",
        "cannot be called from a running event loop", "attached to a different loop",
        "cannot reuse already awaited coroutine", "generator raised", "coroutine raised", "cannot schedule new futures",
        "asynchronous generator is already running", "coroutine is being awaited already",
        "coroutine ignored generatorexit", "generator ignored generatorexit", "generator didn't stop",
        "generator didn't yield", "cannot release un acquired lock", "lock is not acquired", "release unlocked lock",
        "can't start new thread", "cannot join thread", "cannot join current thread",
        "threads can only be started once", "thread.__init__() not called", "lost sys.stdin", "super(): no arguments",
        "already borrowed", "working outside of request context", "working outside of application context",
        "task got bad yield", "non thread safe operation", "timeout should be used inside a task",
        "timeout context manager should be used inside", "attempt to exit cancel scope", "cancel scope",
        "taskgroup .. has not been entered", "maximum recursion depth", "is not entered", "bad magic number",
        "context .. already entered",
    ), None, "builtins.RuntimeError"),
    # A failure of the service that was called
    MessageRow(_C.SERVICE_UNAVAILABLE, (
        "internal server error", "internal service error", "internal upstream error", "internal failure",
    )),
    # Provider-specific: the names of cloud services' errors
    MessageRow(_C.RATE_LIMITED, (
        "throttlingexception", "toomanyrequestsexception", "throttledexception", "requestlimitexceeded", "slowdown",
        "provisionedthroughputexceededexception",
    )),
    MessageRow(_C.FORBIDDEN, ("accessdenied", "accessdeniedexception", "unauthorizedoperation")),
    MessageRow(_C.NOT_FOUND, ("resourcenotfoundexception", "nosuchkey", "nosuchbucket", "nosuchentity")),
    MessageRow(_C.UNAUTHORIZED, (
        "expiredtoken", "expiredtokenexception", "invalidclienttokenid", "unrecognizedclientexception",
        "signaturedoesnotmatch",
    )),
    # HTTP statuses in words and numbers
    MessageRow(None, (
        "status [code] [is|was|of|with] <status>", "statuscode <status>", "http [error] [status] [code] <status>",
        "http/1.0|http/1.1|http/2|http/3 <status>", "error|response code <status>",
        "returned|got|received [a] <status>", "<status> client|server error", "<status> bad request",
        "<status> unauthorized", "<status> forbidden", "<status> not found", "<status> conflict",
        "<status> too many requests", "<status> service unavailable", "<status> bad gateway",
        "<status> gateway timeout|time", "<status> internal server", "<status> payment required",
        "<status> unprocessable entity|content", "<status> method not allowed", "<status> gone",
        "<status> request timeout", "<status> not implemented",
    )),
    MessageRow(_C.INTERNAL_ERROR, (
        "internal error", "^unknown|unexpected|unhandled error|exception|failure|problem", "unexpected internal",
        "assertion failed", "unreachable code", "not implemented [yet]", "invalid internal state", "inconsistent state",
        "this is a bug", "please report this", "invariant violat*", "programming error", "nonetype object",
        "object has no attribute", "index out of range", "pop from empty|an list|deque",
        "required positional argument|arguments", "an unexpected keyword argument", "takes # positional",
        "object is not subscriptable|callable|iterable|an", "unsupported operand type", "unhashable type",
        "has no attribute", "name .. is not defined", "division by zero", "values to unpack", "recursion depth",
        "local variable", "null pointer", "undefined is not", "cannot read property|properties",
    )),
    MessageRow(_C.TIMEOUT, ("gateway timeout", "gateway time out", "upstream timed out", "upstream request timeout")),
    # Databases and networks
    MessageRow(_C.DATABASE_ERROR, (
        "database [table|schema] is locked", "database table is locked", "deadlock [was] detected", "deadlock found",
        "deadlocked on", "was deadlocked", "lock wait timeout", "could not obtain lock", "could not serialize access",
        "serialization failure", "write conflict", "lock timeout",
    ), _SOON),
    MessageRow(_C.DATABASE_ERROR, (
        "no such table|column|index|collation|savepoint|function",
        "relation|column|table|schema|database|role .. does not exist", "table .. doesn't exist",
        "unknown column|database|table", "undefined table|column", "disk image is malformed",
        "current transaction is aborted", "unable to open database", "attempt to write a readonly database",
        "database disk image", "invalid object name", "sql syntax", "syntax error at or near",
        "database or disk is full", "database error",
    )),
    MessageRow(_C.SERVICE_UNAVAILABLE, (
        "too many connections", "too many clients", "remaining connection slots",
        "connection pool is exhausted|full|empty", "connection pool exhausted", "queuepool limit", "pool exhausted",
        "max clients reached", "max number of clients", "no connections available", "no more connections",
    )),
    MessageRow(_C.SERVICE_UNAVAILABLE, (
        "econnrefused", "connection [was|is] refused", "connect|connection to .. refused", "actively refused",
        "ehostunreach", "enetunreach", "no route to host", "network is unreachable", "host is unreachable|down",
        "network is down",
    )),
    MessageRow(_C.TIMEOUT, ("etimedout", "esockettimedout", "connection timeout", "connection timed out")),
    MessageRow(_C.CONFLICT, (
        "unique constraint", "unique violation", "uniqueviolation", "duplicate key", "duplicate entry", "e11000",
    )),
    MessageRow(_C.VALIDATION_ERROR, (
        "foreign key constraint", "not null constraint", "check constraint", "violates not null", "cannot be null",
        "may not be null",
    )),
    MessageRow(_C.UNAUTHORIZED, (
        "jwt expired", "jwt .. expired|invalid|malformed", "token [has|is] [already|been] expired",
        "access token .. expired", "expired jwt",
    )),
    MessageRow(_C.FORBIDDEN, ("row level security",)),
    MessageRow(_C.RATE_LIMITED, (
        "insufficient quota", "exceeded your .. quota", "billing hard limit", "credit balance is too low",
        "insufficient credits|balance|funds", "out of credits",
    ), _NEVER),
    MessageRow(_C.RATE_LIMITED, (
        "quota [has|was] [been] exceeded", "exceeded .. quota", "quota .. exceeded|exhausted|reached", "out of quota",
        "resource exhausted", "resource has been exhausted",
    )),
    MessageRow(_C.NOT_FOUND, ("model not found",)),
    MessageRow(_C.VALIDATION_ERROR, (
        "context length exceeded", "maximum context length", "prompt is too long", "context window",
        "input is too long", "too many tokens",
    )),
    MessageRow(_C.SERVICE_UNAVAILABLE, (
        "enotfound", "eai again", "dns", "getaddrinfo", "name or service not known", "nodename nor servname",
        "temporary failure in name resolution", "name resolution", "no such host",
        "no address associated with hostname", "unknown host", "couldn't|cannot|can't resolve",
        "failed|unable to resolve", "could not resolve", "host not found", "nxdomain", "name does not resolve",
    )),
    MessageRow(_C.SERVICE_UNAVAILABLE, (
        "econnreset", "connection [was] reset", "connection .. reset", "reset by peer", "epipe", "broken pipe",
        "econnaborted", "connection [was] aborted|closed|lost|dropped", "connection .. lost|dropped",
        "connection closed", "socket hang up", "server disconnected", "remote end closed", "closed the connection",
        "server closed", "server has gone away", "lost connection", "unexpected eof while reading", "eof occurred",
        "unexpected end of stream", "connection error", "connection failed", "failed to connect", "could not reach",
        "couldn't reach", "cannot reach", "can't reach", "unable to reach", "failed to reach", "could not connect",
        "couldn't connect", "cannot connect", "can't connect", "unable to connect", "not connected",
        "failed to establish", "network error", "fetch failed", "failed to fetch", "incomplete read",
        "cannot assign requested address",
    )),
    MessageRow(_C.SERVICE_UNAVAILABLE, (
        "certificate verify failed", "certificate has expired", "certificate .. expired", "self signed certificate",
        "unable to get local issuer", "ssl .. failed|error|failure", "tls .. failed|error|failure",
        "wrong version number", "handshake failure|failed|error", "hostname mismatch", "sslerror",
    ), _NEVER),
    # Common
    MessageRow(_C.CONFIGURATION_ERROR, (
        "environment variable ... not|missing|required|unset|undefined", "missing environment variable",
        "missing [required] env|environment", "env var .. not|missing",
        "key|url|uri|dsn|token|secret|host|endpoint|region|password [is|was] not set|configured",
    )),
    MessageRow(_C.TIMEOUT, ("took too long", "took longer than")),
    MessageRow(_C.UNAUTHORIZED, (
        "unauthorized", "unauthorised", "unauthenticated", "not authorized", "not authorised",
        "^not [currently] logged in", "user|you|users|client|are|is|aren't|isn't [not] [currently] logged in",
        "not signed in", "logged out", "be logged|signed in", "login required|failed|failure", "log in to",
        "please log in", "sign in required", "session [has|is] [been] expired", "session expired|invalid|timed",
        "session is invalid", "invalid [or] [expired|missing|access|auth|api|bearer|refresh] token|tokens|tokens",
        "invalid authentication token", "token is invalid|missing|revoked|expired", "token .. revoked",
        "token .. not|longer valid", "please sign|log in", "sign|log in to", "validate credentials", "expired token",
        "expired session|credential|credentials", "credentials [have|has] [been] expired",
        "key|credential|credentials|signature .. expired",
        "invalid|incorrect|bad|wrong|missing [api] key|keys|credentials|credential|password|login",
        "invalid username or password", "invalid username/password", "invalid authentication", "no authentication",
        "security token included in the request",
        "bearer|access|auth|security|refresh|id token .. missing|expired|invalid|required",
        "invalid user|username|email or password", "incorrect api key",
        "api key .. valid|invalid|expired|revoked|missing|provided", "no api key", "api key .. required",
        "missing credentials|authorization|authentication", "no credentials", "unable to locate credentials",
        "credentials are required|invalid", "credentials .. required", "authentication failed|failure|required|error",
        "authentication is required", "requires authentication", "must be authenticated", "not authenticated",
        "failed to authenticate", "could not authenticate", "password authentication failed", "wrong password",
        "incorrect password", "invalid signature", "signature verification failed", "signature has expired",
        "account .. locked|disabled|suspended", "noauth", "wrongpass", "invalid grant", "invalid client",
        "invalid_api_key",
    )),
    MessageRow(_C.INVALID_REQUEST, (
        "method not allowed", "method is not allowed", "unsupported method", "not acceptable", "unsupported media type",
        "too many redirects", "operation is not supported", "operation not supported", "unsupported operation",
        "unsupported protocol",
    )),
    MessageRow(_C.VALIDATION_ERROR, (
        "additional|extra|unknown properties|fields|inputs .. not allowed|permitted",
        "null|none|empty|blank|duplicate|negative [values|value|strings|string] [is|are] not allowed|permitted",
        "values|value|characters|duplicates [is|are] not allowed|permitted", "was unexpected",
        "extra inputs are not permitted", "not one of the allowed|valid|supported|permitted", "is not of type",
        "may not be blank|empty", "must not be empty|blank|null|none|negative",
    )),
    MessageRow(_C.SERVICE_UNAVAILABLE, ("service [is] [temporarily|currently] not allowed to answer",)),
    MessageRow(_C.FORBIDDEN, (
        "permission|permissions", "forbidden", "access .. denied", "denied access", "access is denied",
        "not|isn't|aren't [be|currently|yet|explicitly|even] allowed|permitted", "not [currently] allowed to",
        "payment required", "insufficient scope|scopes|privileges|privilege|rights|access",
        "missing .. scope|scopes|privilege|role", "only administrators|admins|owners|moderators|maintainers",
        "lacks the .. scope|scopes|privilege|role", "must have .. role|scope|privilege", "request was denied",
        "not entitled", "no access to", "do not have access", "don't have access", "does not have access",
        "doesn't have access", "missing [required] scope|scopes", "read only file system", "subscription required",
        "upgrade your plan", "blocked by .. policy", "denied by .. policy", "explicit deny", "authorization failed",
        "eacces", "eperm", "denied",
    )),
    MessageRow(_C.NOT_FOUND, (
        "not found", "not be found", "cannot|can't find", "cannot be found", "can't be found", "no such",
        "doesn't|don't exist", "does|do|did not exist", "couldn't find", "couldn't|cannot|can't|not locate",
        "wasn't|weren't|isn't found", "could not find", "unable to find", "unable to locate", "failed to find",
        "notfound", "no longer exists|available",
        "no [matching] results|records|rows|entries|documents|items [were] [found]", "no matching", "nothing found",
        "^no .. with|named|called|matching|like", "no match|matches for", "file|page|record|document missing",
        "there is|are no", "missing or deleted|removed", "deleted or moved", "not exist",
        "no record|result|document|entry|item|user|match|matches found", "has been deleted|removed",
        "was deleted|removed", "unknown user|resource|id|key|entity|item|city|country|account|project|repository",
        "enoent", "resourcenotfound", "nonexistent", "non existent", "no row was found", "returned no rows",
        "could not be located", "couldn't be found", "404", "missing file|resource|record",
    )),
    MessageRow(_C.CONFIGURATION_ERROR, (
        "is not configured", "not configured", "misconfigured", "improperly configured", "invalid configuration",
        "invalid config", "configuration error", "configuration is invalid|missing", "missing configuration",
        "missing [required] config|setting", "config file", "configuration file", "bad configuration",
    )),
    MessageRow(_C.SERIALIZATION_ERROR, (
        "invalid json|xml|yaml|toml|csv|utf", "not valid json|xml|yaml|toml", "malformed json|xml|yaml|csv",
        "json parse error", "json decode error", "failed|unable to parse json|xml|yaml|response",
        "could not parse json|xml|yaml|response", "not json serializable", "json serializable", "failed to decode",
        "failed to parse", "failed to serialize|deserialize|encode", "could not decode", "could not parse",
        "couldn't parse", "cannot parse", "can't parse", "unable to parse|decode", "codec can't decode|encode",
        "parse|parsing|decoding|decode|serialization|deserialization error",
        "error parsing|decoding|deserializing|serializing", "expecting value", "unexpected end of json",
        "unterminated string", "unexpected token", "not well formed", "mismatched tag", "invalid start byte",
        "invalid continuation byte", "cannot serialize|deserialize|decode|encode",
    )),
    MessageRow(_C.VALIDATION_ERROR, (
        "invalid", "validation", "malformed", "bad request", "wrong format", "illegal argument|value",
        "^unknown option|argument|parameter|field|property|keyword|key|format|type|value|unit|language",
        "missing required|param|params|parameter|parameters|field|fields",
        "missing input|inputs|value|values|arg|args|argument|arguments",
        "must be a|an|one|between|greater|less|at|positive|non|in|of|within|unique|valid|provided|specified|set",
        "unprocessable", "out of range|bounds", "out of the range", "is required", "are required", "field required",
        "too long", "too short", "too large", "too small", "too big", "exceeds the maximum|limit",
        "exceeds maximum|limit|max", "exceeds .. limit|maximum|length|size",
        "unsupported format|type|value|currency|language|encoding|file", "is not supported", "not supported",
        "expected ... got|received|but", "please provide|specify|supply|enter",
        "unexpected keyword|argument|field|key|parameter|property|value|input", "lies before|after",
        "be before|after|earlier|later", "does not match", "doesn't match", "is not a valid", "not valid",
        "badly formatted", "unrecognized", "unrecognised", "payload too large", "entity too large", "ambiguous",
        "unacceptable", "failed .. validation", "constraint violat*", "cannot be empty|blank|negative|null",
        "should be a|an|one|between|positive|greater|less",
    )),
    MessageRow(_C.CONFLICT, (
        "conflict", "conflicts", "conflicting", "already exists|exist", "is|was|are taken",
        "already taken|used|registered|in|been|running", "duplicate", "duplicates", "unique constraint",
        "version mismatch", "etag mismatch", "precondition failed", "was modified [by]", "has been modified",
        "modified by another", "concurrent modification|update", "stale", "in use", "edit conflict", "optimistic lock*",
        "eexist", "resource is busy|locked", "file exists", "is locked",
    )),
    MessageRow(_C.RATE_LIMITED, (
        "rate limit|limits|limited|limiting", "ratelimit|ratelimited|ratelimiterror", "rate limit exceeded",
        "rate [was|is] exceeded", "too many requests", "throttled|throttling|throttle", "exceeded .. rate",
        "request limit", "requests per second|minute|hour|day", "usage limit", "limit reached", "daily limit",
        "monthly limit", "slow down", "too many .. attempts|requests|calls|messages", "too many calls|messages|failed",
        "try again later .. limit", "429", "api limit",
    )),
    MessageRow(_C.TIMEOUT, (
        "timeout", "timeouts", "timed out", "time out", "deadline [was|has] [been] exceeded", "deadline exceeded",
        "deadline expired", "took too long", "time limit exceeded", "exceeded .. time limit", "no response within",
        "operation expired", "timedout",
        "timeouterror|timeoutexception|readtimeout|connecttimeout|readtimeouterror|connecttimeouterror",
    )),
    MessageRow(_C.REQUEST_CANCELLED, (
        "abort|aborted", "cancel|cancelled|canceled|cancellation", "aborterror", "interrupted by user",
        "client disconnected", "client closed request",
    )),
    MessageRow(_C.SERVICE_UNAVAILABLE, (
        "service [is] [temporarily|currently] unavailable", "temporarily unavailable", "currently unavailable",
        "unavailable", "bad gateway", "upstream error", "upstream", "server error",
        "backend|server|service|api|site down", "server is down", "is down", "down for maintenance",
        "under maintenance", "maintenance mode", "overloaded", "server|service|system is [too] busy", "server busy",
        "over capacity", "at capacity", "starting up", "shutting down", "not ready", "no healthy", "try again later",
        "please try again", "please retry", "temporary failure", "backend error", "unreachable", "offline",
        "no servers", "no primary", "connection", "outage", "going away",
    )),
    MessageRow(_C.DATABASE_ERROR, (
        "database", "sql error", "sqlite", "transaction .. failed", "query failed", "constraint failed",
    )),
    MessageRow(_C.VALIDATION_ERROR, ("zod", "zoderror", "schema validation")),
    MessageRow(_C.NOT_FOUND, ("^unknown",)),
)
# fmt: on
"""Every message pattern. Rows with `only` are read first, for their class; then all others, in order."""

# fmt: off
NAMES: Final[tuple[MessageRow, ...]] = (
    MessageRow(_C.SERVICE_UNAVAILABLE, ("connection aborted|refused|reset|closed|lost|dropped|failed",)),
    MessageRow(_C.REQUEST_CANCELLED, ("cancelled|canceled|cancellation|cancel", "abort|aborted [error]")),
    MessageRow(_C.RATE_LIMITED, (
        "rate limit|limited|limiting|limits|exceeded", "ratelimit|ratelimited", "too many requests",
        "throttled|throttling|throttle", "quota exceeded|exhausted|error",
    )),
    MessageRow(_C.TIMEOUT, ("timeout|timedout", "timed out", "time out", "deadline exceeded")),
    MessageRow(_C.UNAUTHORIZED, (
        "unauthorized|unauthenticated|unauthorised", "not authenticated", "not logged in", "login required",
        "authentication|auth error|failed|failure|required|exception", "authentication",
        "invalid|expired|bad|missing|revoked token|credentials|credential|signature|password|session",
        "token|session|credentials|signature expired|invalid|revoked", "not authorized",
    )),
    MessageRow(_C.FORBIDDEN, (
        "forbidden", "permission|permissions denied|error|required", "permission", "access denied|forbidden|error",
        "not permitted|allowed", "authorization error|failed|failure", "insufficient scope|permissions|privileges",
        "payment required",
    )),
    MessageRow(_C.CONFLICT, ("already exists", "conflict", "duplicate|duplicated", "version mismatch", "stale")),
    MessageRow(_C.NOT_FOUND, (
        "not found", "notfound", "does not exist", "doesnotexist", "no such", "unknown user|resource|entity|id",
    )),
    MessageRow(_C.CONFIGURATION_ERROR, (
        "config|configuration|settings error|exception|invalid", "invalid config|configuration|settings",
        "misconfigured", "improperly configured", "missing configuration|setting|config",
    )),
    MessageRow(_C.SERIALIZATION_ERROR, (
        "parse|parsing|parser|decode|decoding error|exception|failed|failure",
        "encode|encoding|serialization|deserialization|unmarshal error|exception|failed|failure",
        "json|xml|yaml|csv error", "jsondecode", "invalid json|xml|yaml|csv",
    )),
    MessageRow(_C.VALIDATION_ERROR, (
        "validation", "invalid input|argument|arguments|parameter|parameters|params|value|format",
        "invalid request|data|field|query|url|email|date|id", "bad request|input|argument|parameter", "malformed",
        "out of range", "unprocessable",
    )),
    MessageRow(_C.DATABASE_ERROR, ("database|db|sql|storage error|exception|failure", "deadlock")),
    MessageRow(_C.SERVICE_UNAVAILABLE, (
        "service unavailable|error|down", "unavailable", "bad gateway",
        "connection|connect|network|connectivity|transport|communication", "server error|unavailable|down", "upstream",
        "overloaded", "maintenance",
    )),
    MessageRow(_C.INTERNAL_ERROR, ("invalid state|operation|usage", "illegal state", "internal error")),
    MessageRow(_C.VALIDATION_ERROR, ("^invalid", "^unsupported", "^illegal argument|value")),
)
# fmt: on
"""The names of classes that no other table knows, split into words (`UserNotFoundError`: "user not found error")."""
