"""Words that mean one thing wherever they stand: messages of one class, names of services' errors, statuses."""

from __future__ import annotations

from typing import Final

from mcpcore.classification.messages.row import NEVER, SOON, MessageRow
from mcpcore.codes import ErrorCode

_C = ErrorCode

# fmt: off
_LOGIN: Final = (
    "password authentication failed", "no password supplied", "authentication failed", "no pg_hba.conf entry",
)
_GONE: Final = (
    "connection refused", "connection failed", "connection is bad", "connection closed", "closed the connection",
    "could not connect", "failed to resolve host", "could not translate host name", "connection .. lost",
    "connection to server", "sending query failed", "the connection is lost", "no route to host",
    "too many clients", "server closed", "connection slots", "starting up", "shutting down",
)
_POSTGRES: Final = tuple(
    MessageRow(code, phrases, None, f"{driver}.OperationalError")
    for driver in ("psycopg", "psycopg2", "pg8000")
    for code, phrases in (
        (_C.UNAUTHORIZED, _LOGIN),
        (_C.DATABASE_ERROR, ("database .. does not exist", "role .. does not exist")),
        (_C.TIMEOUT, ("statement timeout", "timeout expired", "timed out")),
        (_C.SERVICE_UNAVAILABLE, _GONE),
    )
)
"""What the drivers of PostgreSQL say without an SQLSTATE: above all where no connection came about."""

EXACT: Final[tuple[MessageRow, ...]] = (
    # Messages of one type: what its code leaves open.
    MessageRow(_C.CONFLICT, (
        "unique constraint", "primary key must be unique", "duplicate key", "duplicate entry",
        "column .. is not unique",
    ), None, "sqlite3.Error"),
    MessageRow(_C.VALIDATION_ERROR, (
        "foreign key constraint", "not null constraint", "check constraint", "may not be null", "datatype mismatch",
        "constraint failed", "string or blob too big",
    ), None, "sqlite3.Error"),
    MessageRow(_C.DATABASE_ERROR, ("database [table|schema] is locked", "table .. is locked"), SOON, "sqlite3.Error"),
    MessageRow(_C.REQUEST_CANCELLED, ("interrupted",), None, "sqlite3.Error"),
    MessageRow(_C.FORBIDDEN, ("^not authorized", "access to .. is prohibited"), None, "sqlite3.Error"),
    MessageRow(_C.CONFLICT, (
        "unique constraint", "duplicate key", "duplicate entry",
    ), None, "sqlalchemy.IntegrityError"),
    MessageRow(_C.VALIDATION_ERROR, (
        "foreign key", "not null", "check constraint", "violates not null constraint", "violates check constraint",
        "cannot be null", "constraint failed",
    ), None, "sqlalchemy.IntegrityError"),
    *_POSTGRES,
    MessageRow(_C.TIMEOUT, ("timeout",), None, "psycopg2.errors.QueryCanceled"),
    MessageRow(_C.TIMEOUT, ("max attempts exceeded",), None, "botocore.WaiterError"),
    MessageRow(_C.CONFLICT, ("duplicate key", "unique constraint"), None, "duckdb.ConstraintException"),
    MessageRow(_C.VALIDATION_ERROR, (
        "constraint failed", "foreign key", "not null constraint",
    ), None, "duckdb.ConstraintException"),
    MessageRow(_C.UNAUTHORIZED, ("authentication",), None, "paramiko.SSHException"),
    MessageRow(_C.SERVICE_UNAVAILABLE, ("known_hosts",), NEVER, "paramiko.SSHException"),
    MessageRow(_C.VALIDATION_ERROR, ("not a valid .. key|file",), None, "paramiko.SSHException"),
    MessageRow(_C.SERVICE_UNAVAILABLE, (
        "connection is closed", "connection was closed", "connection .. closed",
    ), None, "asyncpg.InterfaceError"),
    MessageRow(_C.VALIDATION_ERROR, ("invalid input for query argument",), None, "asyncpg.Error"),
    MessageRow(None, ("too many <status> error responses",), None, "urllib3.HTTPError"),
    MessageRow(None, ("too many <status> error responses",), None, "requests.RequestException"),
    MessageRow(_C.INVALID_REQUEST, ("too many redirects",), None, "urllib3.HTTPError"),
    MessageRow(_C.VALIDATION_ERROR, (
        "is not an integer|valid", "not a valid float|integer", "out of range", "is not an|a number",
    ), None, "redis.ResponseError"),
    MessageRow(_C.NOT_FOUND, ("^no such key|index|consumer",), None, "redis.ResponseError"),
    MessageRow(_C.SERVICE_UNAVAILABLE, ("max number of clients",), None, "redis.ResponseError"),
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
    # What a rule of the input enumerates may be any word
    MessageRow(_C.VALIDATION_ERROR, (
        "file|content|media|mime|image|document type|types|extension|format [is] not|isn't allowed|permitted|accepted",
        "must|should|can|may|only be one|either of", "may only be|contain|hold", "expected one of",
        "must|should be either",
        "valid|allowed|permitted|accepted|possible|supported values|options|choices|types|formats|states are",
    )),
    # A part of the input by its own name, whatever that name may be
    MessageRow(_C.VALIDATION_ERROR, (
        "unknown enum|variable|placeholder|option|flag|keyword|switch",
        "contains|has|uses unknown|undefined|undeclared",
        "value|parameter|field|argument|property|attribute|option|amount .. is|was negative|invalid|blank|unparseable",
    )),
    MessageRow(_C.DATABASE_ERROR, ("sql compilation|execution|statement error",)),
    MessageRow(_C.VALIDATION_ERROR, (
        "field|parameter|property|argument|attribute|option .. not|isn't allowed|permitted|accepted|expected|known",
    )),
    MessageRow(_C.RATE_LIMITED, (
        "# {unit} per|a|an|every|each|in {per}|the|any",
        "{unit} per|a|each {per} exceeded|reached|used",
        "etoomanyrequests",
    )),
    # A failure of the service that was called
    MessageRow(_C.SERVICE_UNAVAILABLE, (
        "421 service|too|try", "internal error at|from|on the|our|their|its|{service}|remote",
        "internal server error", "internal service error", "internal upstream error", "encountered an internal error",
        "server had an error while",
    )),
    # Provider-specific: the names of services' errors
    MessageRow(_C.RATE_LIMITED, (
        "throttlingexception", "toomanyrequestsexception", "throttledexception", "requestlimitexceeded", "slowdown",
        "provisionedthroughputexceededexception", "quotaexceeded", "ratelimitexceeded", "toomanyrequests",
        "es rejected execution exception",
    )),
    MessageRow(_C.PARSE_ERROR, ("code|fault|error 32700", "json rpc parse error")),
    MessageRow(_C.INVALID_REQUEST, ("code|fault|error 32600",)),
    MessageRow(_C.METHOD_NOT_FOUND, (
        "code|fault|error 32601", "^method|procedure not found", "requested method|procedure not found",
        "no such method|procedure", "unknown method|procedure", "method|procedure .. does not exist",
    )),
    MessageRow(_C.INVALID_PARAMS, ("code|fault|error 32602",)),
    MessageRow(_C.FORBIDDEN, (
        "accessdenied", "accessdeniedexception", "unauthorizedoperation", "security exception",
        "topicauthorizationexception", "insufficientprivileges",
    )),
    MessageRow(_C.NOT_FOUND, (
        "resourcenotfoundexception", "nosuchkey", "nosuchbucket", "nosuchentity", "filenotfoundexception",
        "nosuchelementexception", "indexnotfoundexception", "index not found exception", "does not exist or",
        "doesn't exist or",
    )),
    MessageRow(_C.UNAUTHORIZED, (
        "expiredtoken", "expiredtokenexception", "invalidclienttokenid", "unrecognizedclientexception",
        "signaturedoesnotmatch", "noauth", "wrongpass", "acceptsecuritycontext", "authentication failures",
        "basic .. access denied", "login [was|is] refused", "authenticationfailed", "invalid session id", "not authed",
        "invalid auth", "publickey",
    )),
    MessageRow(_C.CONFLICT, (
        "concurrentmodificationexception", "optimisticlockexception", "version conflict engine exception",
        "conditionalcheckfailedexception", "version conflict", "merge conflict", "merge conflicts",
        "resourceinuseexception",
    )),
    MessageRow(_C.SERVICE_UNAVAILABLE, (
        "nobrokersavailable", "nohostavailable", "unknownhostexception", "connectexception", "service unavailable",
        "circuit breaking|breaker", "not primary|master|leader", "went wrong on|at .. end|side",
        "on|at our|their|its|the [server|provider] end|side", "serviceunavailableexception", "httphostconnectexception",
    )),
    MessageRow(_C.TIMEOUT, ("sockettimeoutexception", "timeoutexception")),
    MessageRow(_C.SERIALIZATION_ERROR, (
        "jsonparseexception", "jsonprocessingexception", "jsonmappingexception", "json.decoder.jsondecodeerror",
        "after top level value", "xml|json|yaml|document|csv ended unexpectedly|prematurely|early",
        "json|xml|yaml|json.parse ... unexpected|invalid|malformed", "mapping values are not allowed",
        "not well formed", "looking for beginning of value", "while scanning|parsing a|an|for|block|flow",
        "invalid wire type", "protobuf|avro|thrift|parquet|msgpack ... format|decode|decoding|schema|record|error",
        "avro|protobuf|parquet|thrift record|message|schema",
    )),
    MessageRow(_C.VALIDATION_ERROR, (
        "context length exceeded", "maximum context length", "string above max length",
    )),
    MessageRow(_C.RATE_LIMITED, ("insufficient quota",), NEVER),
    MessageRow(_C.CONFLICT, ("resource already exists exception",)),
    # HTTP statuses in words and numbers
    MessageRow(None, (
        "status [code] [is|was|of|with] <status>", "statuscode <status>", "http [error] [status] [code] <status>",
        "http/1.0|http/1.1|http/2|http/3 <status>", "error|response code <status>",
        "returned|answered|responded|failed [an|with|error] [a|http|status|code] [error|status|code] <status>",
        "got|received [a|an] [unexpected|error|bad|http] http|status|code|error|response [code|status] <status>",
        "expected [status|http|code|a] 200|201|202|204|2xx ... got|received|was|not <status>",
        "{service}|request|we|it|upload|download|call got|received [a|an] <status>",
        "returned|answered|responded|returning|answering|got .. error|status|code|http <status>", "^error <status>",
        "^<status> from|for|on|while",
        "{service}|http|https|request|fetch|response|graphql|rest|webhook error <status>",
        "came back [with] [a] <status>", "gave|sent|threw|raised|hit|got|received [us|me] a|an <status>",
        "code|status|statuscode|status_code|httpstatus|httpstatuscode|http_status <quoted>", "<lone>",
        "unable|failed|failure|error|cannot|can't|couldn't .. <ended>",
        "httperror|apierror|statuserror|requesterror|responseerror|clienterror|servererror <status>",
        "<status> precondition", "got|saw|returned|received|hit|with <status> from|for|on|by",
        "got|received|saw [a|an] <status> back|again|instead|twice|error|response|reply|answer",
        "com|org|net|io|dev|api|local|internal|localhost <ended>",
        "said|says|reports|replied|replies|answers <status>",
        "<status> client|server error", "<status> bad request", "<status> unauthorized", "<status> forbidden",
        "<status> not found", "<status> conflict", "<status> too many requests", "<status> service unavailable",
        "<status> bad gateway", "<status> gateway timeout|time", "<status> internal server",
        "<status> payment required", "<status> unprocessable entity|content", "<status> method not allowed",
        "<status> gone", "<status> request timeout", "<status> not implemented",
    )),
    MessageRow(_C.VALIDATION_ERROR, (
        "invalid field", "mapper parsing exception", "failed to parse [date] field", "illegalargumentexception",
        "numberformatexception", "validationexception", "invalid request error", "cannot query field",
    )),
    MessageRow(_C.INTERNAL_ERROR, (
        "internal error|failure", "unexpected internal", "list.remove(x)|tuple.index(x)", "assertion failed",
        "unreachable code", "not implemented [yet]", "invalid internal state", "inconsistent state", "this is a bug",
        "please report this",
        "invariant violat*", "a|is|by [a] programming error", "no module named", "nonetype object",
        "object has no attribute",
        "index out of range|bounds", "pop from empty|an list|deque", "required positional argument|arguments",
        "an unexpected keyword argument", "takes # positional", "object is not subscriptable|callable|iterable|an",
        "unsupported operand type", "unhashable type", "has no attribute", "name .. is not defined",
        "division|divide by zero", "values to unpack", "recursion depth", "local variable", "null pointer",
        "undefined is not", "cannot read property|properties", "nullpointerexception", "illegalstateexception",
        "classcastexception", "indexoutofboundsexception", "segmentation fault", "^bug", "bug in",
        "should never|not happen|be reached", "should not have happened", "should|must be unreachable",
        "is not a function", "stack overflow", "heap space",
        ("must be started|called|opened|entered|awaited|implemented|overridden|subclassed|initialized|initialised"
         "|instantiated"),
        "can only be called|entered|awaited", "can't|cannot be called", "must implement|override|subclass",
        "already entered|awaited|iterated", "subclasses must", "called before", "call .. first",
    )),
    MessageRow(_C.TIMEOUT, (
        "gateway timeout", "gateway time out", "upstream timed out", "upstream request timeout",
    )),
)
# fmt: on
