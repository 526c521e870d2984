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
        "encountered an internal error", "server had an error while",
    )),
    # Provider-specific: the names of services' errors
    MessageRow(_C.RATE_LIMITED, (
        "throttlingexception", "toomanyrequestsexception", "throttledexception", "requestlimitexceeded", "slowdown",
        "provisionedthroughputexceededexception", "quotaexceeded", "ratelimitexceeded", "toomanyrequests",
        "es rejected execution exception",
    )),
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
        "signaturedoesnotmatch", "authenticationfailed", "invalid session id", "not authed", "invalid auth",
        "publickey",
    )),
    MessageRow(_C.CONFLICT, (
        "concurrentmodificationexception", "optimisticlockexception", "version conflict engine exception",
        "conditionalcheckfailedexception", "version conflict", "merge conflict", "merge conflicts",
        "resourceinuseexception",
    )),
    MessageRow(_C.SERVICE_UNAVAILABLE, (
        "nobrokersavailable", "nohostavailable", "unknownhostexception", "connectexception",
        "serviceunavailableexception", "httphostconnectexception",
    )),
    MessageRow(_C.TIMEOUT, (
        "sockettimeoutexception", "timeoutexception",
    )),
    MessageRow(_C.SERIALIZATION_ERROR, (
        "jsonparseexception", "jsonprocessingexception", "jsonmappingexception", "json.decoder.jsondecodeerror",
        "mapping values are not allowed",
    )),
    MessageRow(_C.VALIDATION_ERROR, (
        "invalid field", "mapper parsing exception", "failed to parse [date] field", "illegalargumentexception",
        "numberformatexception", "validationexception", "invalid request error", "cannot query field",
    )),
    # HTTP statuses in words and numbers
    MessageRow(None, (
        "status [code] [is|was|of|with] <status>", "statuscode <status>", "http [error] [status] [code] <status>",
        "http/1.0|http/1.1|http/2|http/3 <status>", "error|response code <status>",
        "returned|got|received|answered|responded|failed [an|with|error] [a] <status>",
        "returned|answered|responded .. error <status>", "<status> client|server error", "<status> bad request",
        "<status> unauthorized", "<status> forbidden", "<status> not found", "<status> conflict",
        "<status> too many requests", "<status> service unavailable", "<status> bad gateway",
        "<status> gateway timeout|time", "<status> internal server", "<status> payment required",
        "<status> unprocessable entity|content", "<status> method not allowed", "<status> gone",
        "<status> request timeout", "<status> not implemented",
    )),
    MessageRow(_C.INTERNAL_ERROR, (
        "internal error", "^unknown|unexpected|unhandled error|exception|failure|problem", "unexpected internal",
        "assertion failed", "unreachable code", "not implemented [yet]", "invalid internal state",
        "inconsistent state", "this is a bug", "please report this", "invariant violat*", "programming error",
        "nonetype object", "object has no attribute", "index out of range|bounds", "pop from empty|an list|deque",
        "required positional argument|arguments", "an unexpected keyword argument", "takes # positional",
        "object is not subscriptable|callable|iterable|an", "unsupported operand type", "unhashable type",
        "has no attribute", "name .. is not defined", "division|divide by zero", "values to unpack", "recursion depth",
        "local variable", "null pointer", "undefined is not", "cannot read property|properties",
        "nullpointerexception", "illegalstateexception", "classcastexception", "indexoutofboundsexception",
        "segmentation fault", "^bug", "bug in", "went wrong", "should never|not happen|be reached",
        "should not have happened",
        "should|must be unreachable", "is not a function", "stack overflow", "heap space",
        ("must be started|called|opened|entered|awaited|implemented|overridden|subclassed|initialized"
         "|initialised|instantiated"),
        "can only be called|entered|awaited", "can't|cannot be called", "must implement|override|subclass",
        "already entered|awaited|iterated", "subclasses must", "called before", "call .. first",
    )),
    MessageRow(_C.TIMEOUT, (
        "gateway timeout", "gateway time out", "upstream timed out", "upstream request timeout",
    )),
    # Databases
    MessageRow(_C.DATABASE_ERROR, (
        "database [table|schema] is locked", "database table is locked", "deadlock [was] detected", "deadlock found",
        "deadlocked on", "was deadlocked", "lock wait timeout", "could not obtain lock", "could not serialize access",
        "serialization failure", "write conflict", "writeconflict", "lock timeout",
    ), _SOON),
    MessageRow(_C.DATABASE_ERROR, (
        "insert|update|delete|write [a|the] row|rows|record",
        "integrity error",
        "lost lock",
        "table .. is missing",
        "deadlock",
        "no such table|column|index|collation|savepoint|function",
        "relation|column|table|schema|database|role .. does not exist", "table .. doesn't exist",
        "table or view does not exist", "unknown column|database|table", "undefined table|column",
        "unconfigured table", "disk image is malformed", "current transaction is aborted", "unable to open database",
        "attempt to write a readonly database", "database disk image", "invalid object name", "sql syntax",
        "sql logic|statement error", "syntax error at or near", "syntax error near", "database or disk is full",
        "database error", "ora #", "wrongtype", "is not a database", "transaction [was|has] [been] rolled|aborted",
        "transaction .. rolled back", "read only transaction", "migration .. failed|fails", "migration failed|error",
        "migration .. apply", "index|database .. corrupt|corrupted", "write|save|insert|persist .. database|table",
        "database query failed", "holding the wrong kind of value", "command denied to user .. database",
    )),
    # Networks
    MessageRow(_C.SERVICE_UNAVAILABLE, (
        "too many connections", "too many clients", "remaining connection slots",
        "connection pool is exhausted|full|empty", "connection pool exhausted", "queuepool limit", "pool exhausted",
        "max clients reached", "max number of clients", "no connections available", "no more connections",
        "no .. connection|connections available", "pool is closed",
    )),
    MessageRow(_C.SERVICE_UNAVAILABLE, (
        "econnrefused", "connection [was|is] refused", "connect|connection to .. refused", "actively refused",
        "ehostunreach", "enetunreach", "no route to host", "network is unreachable", "host is unreachable|down",
        "network is down",
    )),
    MessageRow(_C.TIMEOUT, (
        "etimedout", "esockettimedout", "connection timeout", "connection timed out", "connect timed out",
        "resolving timed out",
    )),
    MessageRow(_C.CONFLICT, (
        "unique constraint", "unique violation", "uniqueviolation", "duplicate key", "duplicate entry", "e11000",
    )),
    MessageRow(_C.VALIDATION_ERROR, (
        "foreign key constraint", "not null constraint", "check constraint", "violates not null", "cannot be null",
        "may not be null", "data too long", "value too long", "invalid input syntax", "incorrect .. value",
        "failed to satisfy constraint",
    )),
    MessageRow(_C.CONFLICT, (
        "overlaps|overlap|overlapping [with] [an|another|the] existing",
        "someone|somebody|another .. changed|edited|modified|updated|took|booked|deleted",
        "instance|job|task|server|service|cluster|container is stopping|starting|busy|being",
        "already sold|booked",
        "changed .. since",
        "sold out",
        ("not in [the] [draft|a|open|pending|active|right|required|correct|valid|expected|final"
         "|editable] status|state|stage|phase"),
        "unmerged",
        "already exists|exist|registered|taken|booked|subscribed",
    )),
    MessageRow(_C.UNAUTHORIZED, (
        "jwt expired", "jwt .. expired|invalid|malformed", "token [has|is] [already|been] expired",
        "access token .. expired", "expired jwt",
    )),
    MessageRow(_C.FORBIDDEN, (
        "row level security",
    )),
    MessageRow(_C.RATE_LIMITED, (
        "insufficient quota", "exceeded your .. quota", "billing hard limit", "credit balance is too low",
        "insufficient credits|balance|funds", "out of credits", "used all .. credits", "no credits",
    ), _NEVER),
    MessageRow(_C.RATE_LIMITED, (
        "quota [has|was] [been] exceeded", "exceeded .. quota", "quota .. exceeded|exhausted|reached|used",
        "out of quota", "resource exhausted", "resource has been exhausted",
    )),
    MessageRow(_C.NOT_FOUND, (
        "model not found", "model .. does not exist",
    )),
    MessageRow(_C.VALIDATION_ERROR, (
        "context length exceeded", "maximum context length", "prompt is too long", "context window",
        "input is too long", "too many tokens",
    )),
    MessageRow(_C.SERVICE_UNAVAILABLE, (
        "enotfound", "eai again", "dns", "getaddrinfo", "name or service not known", "nodename nor servname",
        "temporary failure in name resolution", "name resolution", "no such host",
        "no address associated with hostname", "unknown host",
        "couldn't|cannot|can't resolve host|hostname|name|address",
        "failed|unable to resolve host|hostname|name|address", "could not resolve host|hostname|name|address|proxy",
        "host not found", "nxdomain", "name does not resolve",
    )),
    MessageRow(_C.SERVICE_UNAVAILABLE, (
        "host|server|service|site|broker|peer|gateway|it|node could not be reached", "not be reached|contacted",
        "no route to", "stream|session|socket ended|closed|terminated unexpectedly",
        "ended|closed|terminated|disconnected unexpectedly", "closed connection",
        "remote|upstream|external service|server|host|api .. error|failed|failure",
        "technical difficulties|problems|issues", "econnreset", "connection [was] reset", "connection .. reset",
        "reset by peer", "epipe", "broken pipe", "econnaborted",
        "connection [was|unexpectedly|is] aborted|closed|lost|dropped|terminated", "connection .. lost|dropped|closed",
        "socket hang up", "server disconnected", "remote end closed", "closed the connection", "server closed",
        "server has gone away", "lost connection", "unexpected eof while reading", "eof occurred",
        "unexpected end of stream", "connection error", "connection failed",
        ("reconnect|connect|connecting|reconnecting|connection|communication|communicating"
         "|handshake failed|error|failure|problem"),
        "error|failure|problem|trouble connection|connecting|communicating|contacting|reaching|talking [to|with]",
        "failed to connect", "could not reach", "couldn't reach", "cannot reach", "can't reach", "unable to reach",
        "failed to reach", "could not connect", "couldn't connect", "cannot connect", "can't connect",
        "unable to connect", "not connected", "failed|unable|not|can't|couldn't|cannot [to] establish",
        "could|can|cannot|can't|couldn't|unable|failed [not|to] contact", "network error|failure|problem",
        "fetch failed", "failed to fetch", "incomplete read", "cannot assign requested address", "hung up",
        "empty reply", "peer [has] disconnected|closed|gone", "tunnel|tunneling .. failed", "disconnect/reset",
        "transport failure|error|closed", "broken connection", "connection .. broken",
    )),
    MessageRow(_C.SERVICE_UNAVAILABLE, (
        "certificate verify failed", "certificate has expired", "certificate .. expired", "self signed certificate",
        "unable to get local issuer", "ssl .. failed|error|failure|problem", "tls .. failed|error|failure",
        "ssl certificate", "ssl routines", "wrong version number", "handshake failure|failed|error",
        "hostname mismatch", "sslerror",
    ), _NEVER),
    MessageRow(_C.SERVICE_UNAVAILABLE, (
        "no space left", "insufficient [disk] space", "insufficient disk", "disk [is] full", "disk quota exceeded",
        "out of disk",
    ), _NEVER),
    MessageRow(_C.SERVICE_UNAVAILABLE, (
        "no living connections", "max|maximum retries|attempts|tries", "retries exhausted|exceeded",
        "all shards failed",
        ("no .. nodes|brokers|servers|hosts|workers|replicas|backends|instances|upstreams [are"
         "|is] available|reachable|alive|healthy|ready"),
        "leader not available", "circuit [breaker] [is] open", "circuit breaker", "insufficient .. capacity",
        "insufficient capacity", "clusterdown", "is [currently] loading", "still loading|starting|warming",
        "not loaded yet", "not [currently] responding", "isn't responding|running|answering|reachable",
        "is not [currently] running|reachable|answering|reachable", "daemon running", "unresponsive", "reduce load",
        "having problems|issues|difficulties", "temporarily disabled|suspended|closed", "service not available",
        "not [currently] operational", "is not healthy", "unhealthy", "unable to complete the operation against",
    )),
    # Settings of the program
    MessageRow(_C.CONFIGURATION_ERROR, (
        "<env> [is|was|are|must|has] [not] [be|been] not|set|unset|missing|required|undefined|empty|defined|provided",
        "<env> environment|env", "<env> must|should|has|needs [to] be",
        "<env> and|or <env> [must|are|is] [be] required|missing|set|not",
        "missing|set|export|define|configure|provide|specify <env>", "<env> not set|found|defined|configured|provided",
        "please set|export|define <env>",
    )),
    MessageRow(_C.CONFIGURATION_ERROR, (
        "environment variable ... not|missing|required|unset|undefined", "missing environment variable",
        "missing [required] env|environment", "env var .. not|missing", "set the .. environment",
        "environment [variable] is missing", "missing .. environment",
        "missing|required|set|defined|found in|from [the|your] environment|env|config|configuration|settings",
        "env file", "from the configuration|config|settings",
        "key|url|uri|dsn|token|secret|host|endpoint|region|password [is|was] not set|configured|defined",
        "is|was|are not set [up]", "no .. [has|is|was|are] [been] configured",
        "no .. has been set|configured|defined|registered up|for", "not been configured|set",
        "isn't|aren't|wasn't set|configured [up]", "isn't set", "is not|isn't|aren't|not installed",
        "not found in|on [the|your] path", "required setting|option .. absent|missing|empty",
        "set .. in [the|your] settings|config|configuration|environment|preferences",
        "environment variable ... must|be", "has|have no .. configured|credentials for",
        "couldn't|could|cannot|can't|failed|unable [not|to] load|read .. config|configuration|settings",
        "no .. set up", "no api key configured", "secret|setting|config|endpoint .. not defined", "not installed",
        "environment file",
        "open|read|find|load .. env",
        "no configuration",
        "config|configuration|settings not|isn't [been] loaded|available|found|initialized|read",
        "secret|key .. missing or empty", "secret is missing|empty",
        "config|configuration value|option|key|profile|entry|file|parameter",
        "unknown|invalid|bad|missing|unsupported|unrecognized [required] setting|settings", "must specify a region",
        "no region", "set .. and configure", "set in .. config|configuration|settings",
        "check your configuration|config|settings", "determine credentials", "configure credentials",
    )),
    MessageRow(_C.TIMEOUT, (
        "took too long", "took longer than", "taking|takes too long",
        "time limit [was|has] [been] reached|exceeded|hit", "exceeded|exceeds [the] time limit",
        ("respond|answer|finish|finished|complete|completed|reply|return|start|arrive|load|response"
         "|reply .. within|in #"),
        ("respond|response|answer|reply|finish|finished|complete|completed|done|arrive|arrived|start"
         "|started|available|ready .. in time"),
        "not .. in time", "response|reply|answer|heard .. after #", "gave|giving up waiting|after",
        "time allowed|budget", "ran|running|runs|executed|executing [for] too long",
        "# seconds|second|minutes|ms|s without", "within # seconds|second|minutes|minute|ms|s|milliseconds|hours",
        "after # seconds|second|minutes|minute|ms|milliseconds|hours", "acquired|obtained within #", "expired before",
        "waited .. giving|gave", "waited # seconds|minutes|s|ms",
        "execution|operation|request|lease|task|wait expired", "deadline .. passed|missed|exhausted|reached|hit",
        "deadline [has|was|is] passed|missed|exhausted|reached|hit",
        "did|does|didn't|could|couldn't|not|never ... within #", "never .. within #",
        "exceeded|exceeds # seconds|second|s|ms|minutes|milliseconds", "maximum [statement|query] execution time",
        "# [ms|seconds|s] has|have passed|elapsed", "timeout period", "statement timeout", "too slow",
        "time [is|has] up|elapsed|out", "ran out of time", "out of time",
    )),
    MessageRow(_C.REQUEST_CANCELLED, (
        "client|caller .. hung up",
        "user .. hung up",
        "client|user|caller hung|dropped|left|quit|navigated", "aborting", "user said", "withdrawn", "withdrew",
        "stopped|halted by [the] user", "not approved|confirmed|accepted by [the] user|operator|client",
        "interrupted|stopped|declined|dismissed|rejected|killed by [the] user|caller|client|operator",
        "due to user request",
        "user|client|caller|operator declined|aborted|cancelled|canceled|stopped|disconnected|interrupted|dismissed",
        "query|execution|statement was interrupted|killed", "client|user [has] went|gone away",
        "client closed [the] request", "on request of", "user .. declined|dismissed",
    )),
    MessageRow(_C.RATE_LIMITED, (
        "no remaining calls|requests|credits|searches|messages", "no .. remaining|left today|now|for",
        "remaining calls|requests .. 0|zero", "frequency exceeded", "budget exhausted|spent|exceeded|used",
        "rate .. too high", "burst limit|rate", "limit of # calls|requests|messages|queries",
        "max|maximum requests|calls|messages .. exceeded|reached", "requests|calls .. exceeded", "plan limit",
        "slow your", "quota", "rate exceeded", "request rate", "throughput exceeds|exceeded|limit",
        "too quickly|fast|often|frequently", "too many ... try again|later|minute|minutes|hour", "too many ... wait",
        ("too many [login|sign|api|concurrent|failed|recent|parallel|simultaneous|pending|open"
         "|active] [in] attempts|requests|queries|calls|submissions|messages|logins|downloads|uploads"
         "|jobs|retries|operations|sessions|sign"),
        "calls|requests|searches|messages|queries|uploads .. per|a day|month|minute|hour",
        "used [up] [all|up] [your|the|its] [daily|monthly|free] credits|calls|requests|allowance|tokens",
        "credits|allowance|tokens|calls .. exhausted|depleted|spent|used", "concurrency limit", "rejected execution",
        "usage cap|limit", "cap [was|is|has] [been] reached|exceeded", "back off", "backing off", "cool down",
        "cooldown", "cooling down", "limit [has|was|is] [been] reached|hit", "reached .. limit|cap",
        "hit .. limit|cap", "limit .. reached|hit", "reduce .. rate|frequency", "secondary rate",
        "maximum number of requests|calls|queries .. reached", "requests limit exceeded", "totalrequests limit",
        "flood",
    )),
    # Who asks, and what they may do
    MessageRow(_C.UNAUTHORIZED, (
        "could|can|cannot|couldn't|can't [not] be authenticated", "auth|login|logon|signin failed|failure|error",
        "verify your identity", "identity .. verified", "sign in failed",
        "aren't|isn't|are|is|am not [currently] signed|logged in",
        "aren't|isn't signed|logged in",
        "key|token|credentials|password .. accepted|recognised|recognized by",
        "access denied for user",
        "api key|token .. disabled|deactivated",
        "key|token|password [is|was|has] [been] disabled|deactivated", "anonymous",
        "denied for user ... using password", "invalid x api key",
    )),
    MessageRow(_C.FORBIDDEN, (
        "your .. has|have disabled", "access .. limited|restricted|blocked|revoked|suspended|forbidden",
        "not enough|sufficient privileges|permissions|rights|access",
        "accounts|account|users|role|viewers can't|cannot publish|write|edit|create|delete|invite|post|upload",
        "denied|rejected by [the] policy|admin|administrator|owner",
        "kicked",
        "collaborator", "the right to", "refused by",
        "write|access|read refused",
        "not invited", "been invited",
        "bot|you|user is|are not in [the|this|that|any]",
        ("requires|require|needs|need .. plan|subscription|licence|license|tier|edition|role|rights"
         "|privileges|permission|permissions|approval"),
        "guests|viewers|members|users cannot|can't|can't|may !be|have|exceed",
        "accounts|account|role|user does|can't|cannot not permit|publish|create|edit|delete|invite",
        "not authorized|authorised to|on|for|by", "unauthorized to|for|on",
        ("lacks|lack|lacking|without|insufficient|missing|need|needs|requires|require|required [the|a"
         "|necessary|sufficient|required|any] [access|admin|write|read|user] permission|permissions"
         "|privilege|privileges|rights|role|scope|scopes"),
        "csrf", "read only mode", "in read only", "read only for", "is read only", "escapes",
        ("outside|outwith [of] [the] [allowed|permitted] [directory|directories|root|folder|folders"
         "|workspace|sandbox|base|project]"),
        "outside .. allowed|permitted|sandbox|workspace|root|directory|directories",
        "sandbox violation|escape|forbids|restriction|policy", "allow list", "allowlist", "allowlisted", "whitelist",
        "whitelisted", "deny list", "blocklist", "denylist", "blacklisted", "not on the list", "forbids", "prohibited",
        "prohibits", "disallowed", "restricted to|for", "access restricted", "is restricted",
        "reserved for .. staff|admin|admins|administrators|members|employees|users|owners|customers|subscribers",
        "refusing|refuse|refuses to !overwrite|replace|start", "refused by .. policy", "sanctions",
        "only .. your|their|his|her|its own", "own .. only", "role .. may|can only",
        "only be .. by [the|an|a] admin|owner|administrator|member|author|creator|moderator",
        "inactive user|account|member", "user|account|member is inactive|disabled|deactivated",
        "user|account|member is not active", "is|are|been|was disabled|switched|turned|deactivated [off] [for|by|in]",
        "not|isn't|aren't [been] enabled",
        ("belongs to another|different|somebody|someone user|account|tenant|organization|organisation"
         "|owner|customer|workspace|else"),
        "belongs to someone|somebody",
        ("only .. admin|admins|administrator|administrators|owner|owners|members|staff|moderators"
         "|maintainers|editors|managers|author|creator|subscribers"),
        ("admin|administrator|administrators|owner|editor|staff|superuser|root|elevated privileges|rights"
         "|access|role|permissions [is|are] required|needed"),
        "requires|require|need|needs [the|an|a] role|admin|administrator|owner|root|superuser|elevated|editor",
        "must be [the|an|a] admin|administrator|owner|member|moderator|staff|author|superuser",
        "must have .. rights|access|permission|permissions", "not [a|the] member|owner|author|creator of",
        "is|are|you're not [an|a|the] admin|administrator|owner|member|author|creator",
        "do|does|don't|doesn't [not] own", "another|other user's|users'|person's|account's",
        "somebody|someone else wrote|owns", "someone|somebody else's", "not accessible", "accessible by",
        "on|in|with|for|by your [current] plan|tier|subscription", "your plan|tier|subscription does|is|doesn't",
        "upgrade to|your", "blocked by", "is|was|has|been blocked", "blocked for", "blocked .. address",
        "ip address is|has not|been", "account .. suspended|banned|deactivated",
        "user|you [is|are|was|were|has|have] [been] banned|suspended|blocked", "banned",
        "email [address] not [yet] verified", "e mail [address] not [yet] verified", "protected branch",
        "disabled for", "not available to", "not available in your", "is private",
        "no permission|permissions|access|rights|authority", "not have permission|permissions|access|rights",
        "private addresses|ips", "policy violation", "violates .. policy", "against .. policy", "access rights",
        "geo restricted", "age restricted", "consent|approval required", "requires approval",
    )),
    MessageRow(_C.UNAUTHORIZED, (
        "unauthorized", "unauthorised", "unauthenticated", "not authorized", "not authorised",
        "^not [currently] logged in", "user|you|users|client|are|is|aren't|isn't [not] [currently] logged in",
        "not signed in", "logged out", "be logged|signed in", "login required|failed|failure|expired",
        "log in to|again|first", "login again", "please log|sign in", "sign in required|again|first", "signed out",
        "session [has|is] [been] expired|revoked|ended|terminated", "session .. timed|invalid|expired",
        "session is invalid",
        "invalid [or] [expired|missing|access|auth|api|bearer|refresh|id|security|session|csrf] token|tokens",
        "invalid or expired", "expired or invalid", "invalid authentication token",
        "token is invalid|missing|revoked|expired", "token|tokens|key|credentials .. revoked|rejected",
        "token .. not|longer valid", "sign|log in to", "validate credentials", "expired token",
        "expired session|credential|credentials", "credentials [have|has] [been] expired",
        "key|credential|credentials|signature .. expired",
        ("invalid|incorrect|bad|wrong|missing|unknown [api|access|secret|security|client] key|keys"
         "|credentials|credential|password|passwords|passphrase|login|secret|pin|otp|passcode"),
        "invalid|incorrect|bad|wrong .. credentials", "rejected the|your|our [api|access] key|token|credentials",
        "token|tokens [is|was] missing|absent", "invalid username or password", "invalid username/password",
        "invalid authentication", "no authentication", "security token included in the request",
        ("bearer|access|auth|security|refresh|id|authentication|api|session|bot token [is|was|has|not"
         "|required] [not|been] missing|expired|invalid|required|provided|found|accepted|unknown|empty"
         "|revoked|rejected"),
        ("no [refresh|access|bearer|auth|api|security|session|valid|authentication] token|session [was"
         "|is] [available|provided|supplied|given|sent|found]"),
        "invalid user|username|email or password", "incorrect user|username|email or password", "incorrect api key",
        "api key .. valid|invalid|expired|revoked|missing|provided|rejected|disabled|incorrect|wrong|unknown|deleted",
        "access key .. not exist|valid", "access key|token .. does not exist|match", "no api key",
        "api key .. required", "missing .. access|auth|api|bearer|refresh|session|security|id token|key|credentials",
        "missing credentials|authorization|authentication|auth|token|x",
        "missing [required] authentication|authorization|auth", "no credentials", "unable to locate credentials",
        "credentials are required|invalid|incorrect|wrong|missing",
        "credentials .. required|rejected|invalid|incorrect|missing|provided",
        "authentication failed|failure|required|error|expired", "authentication is required|needed",
        "requires authentication", "must be authenticated", "not [been] authenticated", "failed to authenticate",
        "could not authenticate", "unable|cannot|can't [to] authenticate", "authenticate again|first",
        "re authenticate", "reauthenticate", "reauthorize", "password authentication", "wrong password",
        "incorrect password", "password|passphrase|pin|otp|passcode [is|was] incorrect|wrong|invalid|expired|rejected",
        "password not accepted", "password [has] [been] rejected|expired", "code is|was wrong|incorrect",
        "verification|factor|mfa|otp|login|authentication|totp code .. invalid|wrong|incorrect|expired",
        "invalid|wrong|incorrect verification|mfa|otp|totp|authentication|authorization code",
        "signature .. match|mismatch", "invalid [webhook|request|token|jwt|hmac|message] signature",
        "signature verification failed", "signature [is|was|has] [been] invalid|expired|bad|rejected",
        "bad|missing signature", "verify|validate .. token|jwt|signature|credentials|identity|assertion",
        "token verification|validation|audience|issuer failed|error|mismatch|invalid", "account .. locked|disabled",
        "noauth", "wrongpass", "invalid grant", "invalid client", "invalid_api_key",
        "anonymous [access|users|requests|user]", "authorization header|code .. missing|required|invalid|expired",
        "authorization header", "bearer .. missing|required|invalid", "need|needs|have|has to authenticate|login",
        "need|needs|have|has to sign|log in", "bind failed", "token .. not recognized|recognised|accepted",
    )),
    MessageRow(_C.INVALID_REQUEST, (
        "method not allowed", "method is not allowed", "unsupported method", "method .. not supported",
        "not acceptable", "unsupported media type", "too many redirects", "exceeded # redirects",
        "operation is not supported", "operation not supported", "unsupported operation", "unsupported protocol",
    )),
    # Input that breaks a rule, in words that other rows have too
    MessageRow(_C.VALIDATION_ERROR, (
        "value|option|values|character .. not allowed|permitted for|in|here",
        "duplicate|duplicated .. in select|input|query|filter|body|list|header",
        "no .. given|provided|supplied|specified|passed|entered|selected|chosen",
        "idempotency key .. required|missing",
        "not enough|insufficient arguments|values|data|characters|points|parameters|samples|tokens",
        "cannot|can't overlap|reference|refer", "name|slug|word|prefix|identifier|keyword|username|id is reserved",
        "own parent|ancestor|child",
        "forbidden|illegal|disallowed|reserved keyword|word|character|characters|name|path",
        "not int|str|float|bool|dict|list|string|number|integer|none",
        "only .. allowed|permitted|possible",
        "i need",
        "size|length|depth limit",
        "contains|contain invalid|illegal|forbidden|unsafe",
        "parsing coordinates|coords|date|dates|url|arguments|expression|duration|filter",
        "additional|extra|unknown properties|fields|inputs .. not allowed|permitted",
        "null|none|empty|blank|duplicate|negative [values|value|strings|string] [is|are] not allowed|permitted",
        "values|value|characters|duplicates|spaces|whitespace|digits [is|are] not allowed|permitted", "was unexpected",
        "extra inputs are not permitted", "not one of the allowed|valid|supported|permitted", "not among the|these",
        "isn't|not one of the|these [following] values|options|types|formats|kinds",
        "is|are not one of !the|these|those|them|our|my",
        "not in [the|a|an] [correct|valid|expected|right|required|proper] format|range|order|bounds|form",
        "is|are not of type", "may not be blank|empty", "must|should not be empty|blank|null|none|negative",
        "request body", "duplicate|duplicated|duplicates .. in request|input|list|query|body",
        "contains duplicate|duplicates|duplicated", "duplicate ids|names|values|keys|fields|columns|parameters in",
        "invalid type|types for",
        ("missing [required] argument|arguments|param|params|parameter|parameters|field|fields|input"
         "|inputs|property|properties|header|body|value|values"),
        ("required field|fields|parameter|parameters|argument|arguments|property|header [is|are"
         "|was] [missing|not|required]"),
        "allowed|accepted|valid|permitted|supported|possible values",
        "date|dates|time|timestamp|duration|number|expression|query|filter|cron|url .. not be parsed",
        ("parse .. date|dates|time|datetime|timestamp|cron|duration|interval|expression|filter|argument"
         "|arguments|query|number|integer|float|value|amount|address|url|uri|cursor|timezone|coordinates"
         "|range|version|condition|formula|selector|pattern|regex|template|color|colour|id"),
        "parse .. as [a|an] [valid] date|datetime|number|integer|int|float|duration|time|url|amount|uuid|boolean",
        "interpret .. as", "unclosed|unbalanced|unmatched quote|bracket|parenthesis|parentheses|quotes|brackets",
        "size|length|depth|character|token|upload|file|memory limit exceeded",
        ("too many|few items|fields|arguments|parameters|points|values|columns|characters|rows|files|tags"
         "|words|levels|filters|ids|recipients|attachments|options|entries"),
    )),
    # Common
    MessageRow(_C.FORBIDDEN, (
        "permission|permissions", "forbidden", "access .. denied", "denied access", "access is denied",
        "not|isn't|aren't|wasn't [be|currently|yet|explicitly|even] allowed|permitted", "not [currently] allowed to",
        "payment required", "insufficient scope|scopes|privileges|privilege|rights|access",
        "missing .. scope|scopes|privilege|role", "only administrators|admins|owners|moderators|maintainers",
        "lacks the .. scope|scopes|privilege|role", "must have .. role|scope|privilege", "have .. scope|scopes",
        "with scope|scopes", "request was denied", "not entitled", "no access to", "do not have access",
        "don't have access", "does not have access", "doesn't have access", "missing [required] scope|scopes",
        "read only file system", "subscription required", "upgrade your plan", "blocked by .. policy",
        "denied by .. policy", "explicit deny", "authorization failed", "eacces", "eperm", "denied",
        "may not access|read|write|edit|delete|see|view|modify",
    )),
    MessageRow(_C.SERIALIZATION_ERROR, (
        "invalid json|xml|yaml|toml|csv|utf", "not [a] [valid] json|xml|yaml|toml|csv",
        "isn't [valid] json|xml|yaml|toml", "malformed json|xml|yaml|csv|response|reply|payload|packet|frame",
        "malformed|invalid|broken|bad .. json|xml|yaml|csv|feed", "no valid json|xml",
        "is|was no|not [a] [valid] json|xml|yaml", "invalid .. marker|magic",
        ("invalid|unexpected|unparsable|unparseable|unreadable|garbled|undecodable|corrupt [api"
         "|server] response|reply|answer"),
        "json parse error", "json decode error", "failed|unable to parse json|xml|yaml|response",
        "could not parse json|xml|yaml|response", "not json serializable", "json serializable",
        ("returned|received|sent|answered [an|a] empty|invalid|malformed|incomplete|unexpected"
         "|garbled response|reply|answer|body|payload|data"),
        "failed to decode",
        "unexpected .. payload|response|reply|answer|body",
        "not be parsed|decoded|deserialized|serialized|encoded|unmarshalled|unmarshaled",
        "while|in|during parsing|decoding|deserializing|serializing|deserialization|serialization", "parsing .. file",
        "failed to parse", "failed to serialize|deserialize|encode|unmarshal|marshal",
        "unable to serialize|deserialize|encode|unmarshal|marshal", "cannot unmarshal|marshal", "unmarshal",
        "could not decode|encode", "could not parse", "couldn't parse|decode", "cannot parse", "can't parse|decode",
        "unable to parse|decode", "codec can't decode|encode",
        "parse|parsing|decoding|decode|encoding|serialization|deserialization error|failed|failure",
        "error parsing|decoding|deserializing|serializing|encoding", "expecting value",
        "unexpected end of json|file|input|data", "unterminated string", "unexpected token", "unrecognized token",
        "not well formed", "mismatched tag", "syntax error in json|xml|yaml", "xml|yaml|json syntax error",
        "xml|json error", "invalid start byte", "invalid continuation byte",
        "cannot serialize|deserialize|decode|encode", "looking for beginning of value", "while scanning|parsing a|an",
        "not [a|an] [valid] zip|gzip|gzipped|pdf|png|jpeg|image|archive|tar|parquet|excel [file]",
        "corrupt|corrupted|truncated|damaged|garbled", "could not|cannot convert response|reply|result",
        "crc|checksum mismatch|failed|error", "bad magic", "invalid utf",
    )),
    MessageRow(_C.NOT_FOUND, (
        "isn't|not|no|is [a|an|any] .. by|with that|this|the name|id|title", "seem|seems|appear|appears to exist",
        "does|do|doesn't|don't [not] correspond to", "not located|known", "never created|existed|registered",
        "returned|got|found 0|zero|no results|rows|hits|matches|records|entries|data",
        "0|zero results|rows|hits|matches|records", "file|files or|and directory|folder missing",
        "recognised|recognized by", "not found", "not be found", "cannot|can't find", "cannot be found",
        "can't be found", "no such", "doesn't|don't exist", "does|do|did not exist", "couldn't find",
        "couldn't|cannot|can't|could not|to locate", "wasn't|weren't|isn't|aren't found", "could not find",
        "unable to find", "unable to locate", "failed to find|locate", "notfound", "no longer exists|available|there",
        "no [matching] results|records|rows|entries|documents|items [were] [found]", "no .. [was|were] found",
        "no .. could be found|located", "no .. returned", "no .. available from", "no .. matched|matches",
        "cannot|can't|can locate", "no .. exists|exist", "no matching", "no record of",
        "result set",
        "nothing exists|here|there|at",
        "not defined in|on",
        "is|are|was unknown",
        "nothing found",
        "nothing matched|matches your|the query|search|filter|criteria", "none matched|found|match",
        "^no .. with|named|called|matching|like|for|titled", "no match|matches for", "did not match any",
        "didn't match any", "does not match any", "file|page|record|document|template|row|object|entry [is] missing",
        "there is|are no", "missing or deleted|removed|moved", "deleted or moved", "not exist",
        "no record|result|document|entry|item|user|match|matches found", "has|have been deleted|removed|purged",
        "was|were deleted|removed", "page|file|record was removed",
        ("unknown [or] [missing] user|resource|id|key|entity|item|city|country|account|project|repository"
         "|customer|order|tool|prompt|topic|session|device|job|task|document|page|file|channel|team|group"
         "|product|model"),
        "enoent", "resourcenotfound", "nonexistent", "non existent", "no row was found",
        "returned no rows|results|data", "could not be located", "couldn't be found", "404",
        "missing file|resource|record", "is|are|was|were not registered", "isn't|wasn't registered",
        "isn't here|there|present", "is not here|there|present", "not present in",
        ("not|isn't|isn't|aren't in [our|the|this|your] [database|catalog|catalogue|list|index|thread"
         "|registry|library|collection|directory|system|records|inventory|set|table|file|document|cart"
         "|group|channel|room|team]"),
        "no version|entry|mapping|definition|handler|route|mapping of|for|matches|found", "no route matches",
        "no .. satisfies", "cannot find symbol",
    )),
    MessageRow(_C.CONFIGURATION_ERROR, (
        "is not configured", "not configured", "isn't configured", "misconfigured", "improperly configured",
        "invalid configuration", "invalid config", "configuration error", "configuration is invalid|missing",
        "missing configuration", "missing [required] config|setting", "config file", "configuration file",
        "bad configuration",
    )),
    MessageRow(_C.CONFLICT, (
        "version mismatch|conflict", "etag .. match|mismatch|changed", "etag mismatch",
        "cannot|can't cancel|reopen|refund", "not|isn't|is|are [yet] [been] finished|completed|mergeable",
        "not yet complete|finished|ready|processed",
        "still running|pending|processing|open|active|in|being|referenced|attached", "in progress", "in use",
        "directory|folder|bucket|queue|database|collection|namespace .. not empty", "you tried to delete is not empty",
        "not a fast forward", "fast forward", "updates were rejected", "conditional request failed", "precondition",
        "idempotent requests", "idempotency key .. used|reused|different|exists", "out of date",
        "changed by|since|meanwhile", "has|was|were|been changed [by|since|in]", "state has changed",
        "modified by|since", "object has been modified", "updated by another|someone|somebody",
        "someone|somebody else is|has|just|already", "checked out by", "held by", "locked by|queue|for",
        "is being edited|used|processed|modified|deleted|updated", "exclusive access",
        "another .. is|are already|running|in|active|using", "just been booked|taken|sold|reserved", "sold out",
        "out of stock", "no longer free", "only .. can|may be",
        ("can|may only be added|cancelled|canceled|edited|modified|deleted|removed|updated|refunded"
         "|approved|published|resumed|changed|started"),
        "due to [the|its] current", "current|its|this|wrong state|status|phase|stage",
        "the last|only admin|owner|member|user|one|item|remaining|active",
        "last|sole remaining|active|admin|owner|administrator|member", "reload|refresh .. before|and|to", "not enough",
        "insufficient stock|inventory|quantity|seats",
        ("not|isn't|aren't [currently|yet|in] active|pending|open|payable|editable|published|approved"
         "|draft|scheduled|started|eligible|cancellable|refundable|paid|shipped|confirmed|enrolled"
         "|resumable|deletable"),
        "overlaps|overlap with", "is|was|has [been] archived|finalized|finalised|frozen",
        "cannot|can't delete|remove|archive .. with|while|because|that|until|has|have",
        ("cannot|can't be changed|modified|edited|deleted|removed|cancelled|canceled|reopened|undone"
         "|merged|moved|archived|deactivated|disabled|activated|approved|rejected|resumed|paused"
         "|restarted|refunded|closed|published|unpublished|rescheduled|transferred|revoked|reverted"
         "|completed|renamed|updated|withdrawn|restored"),
        "while .. is|are running|active|pending|open", "refusing to overwrite|replace",
        "would overwrite|be overwritten", "first delete|remove|stop|close|cancel|detach",
        "before deleting|removing|closing|archiving", "name [is] taken",
    )),
    MessageRow(_C.VALIDATION_ERROR, (
        "invalid", "validation", "malformed", "bad request", "wrong format", "illegal argument|value",
        ("^unknown option|argument|parameter|field|property|keyword|key|format|type|value|unit|language"
         "|sort|operator|column|order|filter|mode|flag|parameters|fields"),
        "missing required|param|params|parameter|parameters|field|fields",
        "missing input|inputs|value|values|arg|args|argument|arguments",
        ("must [not|only|also|all|always|either|both] be|have|contain|start|end|begin|match|include|equal"
         "|exceed|consist|use|come|point|follow|precede|differ|lie|sum|supply|specify|provide|give|pass"
         "|fall|conform|comply|belong|refer|reference|resolve|select|choose"),
        "should [not|only|all|either|both] be|have|contain|start|end|begin|match|include|equal|exceed|use|come|follow",
        "has|have|needs|need|ought to be|have|contain|start|end|match|include|come|lie", "cannot|can't be",
        "doesn't|don't accept|support|understand|recognize|recognise",
        "not accept|support|understand|take|recognize|recognise",
        "^give|specify|choose|provide|pick|select|enter|supply|pass", "belongs|belong to",
        "cannot|can't exceed|contain|start|end|include|both|also",
        ("cannot|can't|can not be empty|blank|negative|null|none|zero|more|less|greater|larger|longer"
         "|smaller|shorter|higher|lower|the|before|after|in|combined|used|both|same|equal|set|with|or"
         "|specified|identical|converted|parsed|interpreted"),
        "cannot|can't have|use [a|an|more|both|duplicate]", "may not exceed|contain|start|end|be",
        "mutually exclusive", "not both", "either .. or", "neither .. nor", "at least|most #",
        "at least one|two|three", "at most", "no more than",
        "more|fewer|less|greater|larger|smaller|longer|shorter|higher|lower than",
        "below|above|under|over the minimum|maximum|limit|allowed",
        "outside [the] [valid|allowed|of|permitted] range|bounds",
        "no .. given|provided|supplied|specified|passed|entered|selected",
        "wasn't|weren't|was|were|been|is|are not given|provided|supplied|specified|passed|selected",
        "not provided|specified|supplied|given", "unprocessable", "out of range|bounds", "out of the range",
        "is required", "are required", "required when|if|for|unless", "field required", "required but",
        "field .. cannot be set",
        ("too long|short|large|small|big|many|few|old|deep|high|low|early|late|wide|narrow|complex|far"
         "|wordy|vague|broad|recent|heavy|weak"),
        "exceeds the maximum|limit", "exceeds maximum|limit|max", "exceeds .. limit|maximum|length|size",
        "exceeds|exceed #", "exceeds|exceed .. characters|bytes|mb|kb|items|rows", "unsupported", "is not supported",
        "not supported", "only .. [is|are] supported|accepted|valid|understood",
        "only .. and|or .. supported|accepted|valid",
        "not accepted|understood|recognized|recognised|numeric|numerical|unique|positive|an|a",
        "isn't|aren't accepted|understood|recognized|recognised|numeric|unique|positive|an|a",
        "is|are not among|between|within|at", "isn't one|a|an|among [of]", "^not a|an",
        "expected ... got|received|but|found|given", "expects|expecting a|an|one|two|at|exactly",
        "please provide|specify|supply|enter|give|choose|select|use|check [the|your|a|an]",
        "you must supply|provide|specify|give|choose|enter",
        "unexpected keyword|argument|field|key|parameter|property|value|input|character|column|option|type",
        "lies before|after", "be before|after|earlier|later", "come|comes before|after",
        "do|does|did|doesn't|don't|didn't [not] match", "mismatch", "is not a valid", "not valid",
        "badly formatted|formed", "ill formed", "unrecognized", "unrecognised", "payload too large",
        "entity too large", "ambiguous", "unacceptable", "failed .. validation", "constraint violat*",
        "cannot|can't be empty|blank|negative|null", "is|are|was|were empty", "^empty", "is reserved", "unsafe",
        "path traversal", "incorrect", "^wrong|illegal|improper|nonsensical|impossible",
        "bad value|input|format|name|argument|parameter|option", "convert .. to|into",
        "cannot|can't|could not|unable [to] convert|interpret|coerce|cast", "nothing to update|change|search|send",
        "specify|give|choose|provide|use|pass|supply either|one|exactly|only|at",
        "larger|bigger|longer|more|smaller|older than #", "is|are missing", "missing or empty|invalid", "^missing",
        "# is|are required", "in the future|past", "before|after the start|end", "same|identical .. cannot|must",
        "isn't|is not allowed|possible here",
    )),
    MessageRow(_C.CONFLICT, (
        "conflict", "conflicts", "conflicting", "already", "is|was|are taken", "duplicate", "duplicates", "duplicated",
        "precondition failed", "was modified [by]", "has been modified", "modified by another",
        "concurrent modification|update", "stale", "edit conflict", "optimistic lock*", "eexist",
        "resource is busy|locked", "file exists", "is locked", "locked", "in an unexpected|invalid|wrong state",
        "not in .. state",
    )),
    MessageRow(_C.RATE_LIMITED, (
        "rate limit|limits|limited|limiting", "ratelimit|ratelimited|ratelimiterror", "rate limit exceeded",
        "rate [was|is] exceeded", "too many requests", "throttled|throttling|throttle", "exceeded .. rate",
        "request limit", "requests per second|minute|hour|day", "usage limit", "limit reached", "daily limit",
        "monthly limit", "slow down", "too many .. attempts|requests|calls|messages", "too many calls|messages|failed",
        "try again later .. limit", "429", "api limit", "limit exceeded", "exceeded .. limit",
    )),
    MessageRow(_C.TIMEOUT, (
        "timeout", "timeouts", "timed out", "time out", "deadline [was|has] [been] exceeded", "deadline exceeded",
        "deadline expired", "time limit exceeded", "exceeded .. time limit", "no response within", "operation expired",
        "timedout", "timeouterror|timeoutexception|readtimeout|connecttimeout|readtimeouterror|connecttimeouterror",
    )),
    MessageRow(_C.INITIALIZATION_FAILED, (
        "failed|unable to initialize|initialise|boot|bootstrap",
        "could|can|cannot|can't|couldn't [not] initialize|initialise|boot|bootstrap",
        "initialization|initialisation|startup|bootstrap|boot [has] failed|error|failure",
        ("failed|unable to start [the] [worker|web|local|background|mcp] server|worker|workers|process"
         "|browser|session|engine|service|daemon|app|application|plugin|component|listener|thread"
         "|scheduler|subprocess|runtime"),
        ("could|cannot|can't|couldn't [not] start [the] [worker|web|local|background|mcp] server|worker"
         "|workers|process|browser|session|engine|service|daemon|app|application|plugin|component"
         "|listener|thread|scheduler|subprocess|runtime"),
        "error while|during|in startup|initialization|initialisation", "failed during startup|initialization",
    )),
    MessageRow(_C.REQUEST_CANCELLED, (
        "abort|aborted", "cancelled|canceled|cancellation", "^cancel", "aborterror", "interrupted by user",
        "client disconnected", "client closed request",
    )),
    MessageRow(_C.SERVICE_UNAVAILABLE, (
        "service [is] [temporarily|currently] unavailable", "temporarily unavailable", "currently unavailable",
        "unavailable", "bad gateway", "upstream error", "upstream", "server error",
        "backend|server|service|api|site down", "server is down", "is down", "down for maintenance",
        "under maintenance", "maintenance mode", "maintenance", "overloaded", "server|service|system is [too] busy",
        "server busy", "over capacity", "at capacity", "starting up", "shutting down", "not ready", "no healthy",
        "try again later", "please try again", "please retry", "retry later", "try again in", "temporary failure",
        "temporarily", "backend error", "unreachable", "offline", "no servers", "no primary", "connection", "outage",
        "going away", "not|isn't [currently|yet] available", "bad response", "not responding", "disconnected",
        "no reply|answer|response [was] from|to|received",
        "api|service|provider|vendor [request|call] error|failed|failure|problem", "no reply|answer",
    )),
    MessageRow(_C.DATABASE_ERROR, (
        "database", "sql error", "sqlite", "transaction .. failed", "query failed", "constraint failed", "data store",
        "datastore",
    )),
    MessageRow(_C.VALIDATION_ERROR, (
        "missing", "requires|require", "^unsupport", "zod", "zoderror", "schema validation",
    )),
    MessageRow(_C.NOT_FOUND, (
        "^unknown", "is|are unknown", "^no .. here|there", "account|user|customer|device unknown",
    )),
    # Words that tell little alone, where nothing else was said
    MessageRow(_C.UNAUTHORIZED, (
        "authenticate|authenticated|authentication|credential|credentials|login|logon",
    )),
    MessageRow(_C.FORBIDDEN, (
        "privilege|privileges|admins|administrators|blocked|banned|unpermitted",
    )),
    MessageRow(_C.CONFLICT, (
        ("outdated|occupied|diverged|concurrently|collide|collides|collision|collided|overlap|overlaps"
         "|overlapping|unfinished"),
        "target exists", "exists",
    )),
    MessageRow(_C.TIMEOUT, (
        "time limit", "too long",
    )),
    MessageRow(_C.SERVICE_UNAVAILABLE, (
        "restarting|rebooting", "too busy", "is busy", "come back|try .. later", "later",
        "backend|upstream|provider|gateway|dependency failed|failure|error",
        "circuitbreaker",
        "out of service",
        "disconnect|disconnected|unresponsive|congested", "talk to",
    )),
    MessageRow(_C.DATABASE_ERROR, (
        "sql|rollback", "transaction|transactions", "db .. failed|error|write|read",
    )),
    MessageRow(_C.SERIALIZATION_ERROR, (
        "json|xml|yaml|csv|pickle|parseable|unparseable|utf|zip", "decode|decoded|encode|encoded|parse|parsed",
    )),
    MessageRow(_C.CONFIGURATION_ERROR, (
        "config|configuration|configured|setting|settings",
    )),
    MessageRow(_C.INITIALIZATION_FAILED, (
        "at|on|during startup",
        ("server|service|app|application|plugin|worker|process|engine|browser failed to start|boot|launch"
         "|initialize|initialise"),
        "initialise|initialize|initialised|initialization|initialisation .. failed",
    )),
    MessageRow(_C.VALIDATION_ERROR, (
        "isn't|aren't|is|are not|no|a valid",
        "isn't|aren't valid",
        "needs",
        "nothing to !do",
        "does|do|doesn't|don't not|have|contain [have|contain|a|any]",
        "mandatory", "is|are needed", "conform|conforms|comply", "looks|is|are|was|were wrong",
        "wrong format|number|type|kind|value|name|order|length", "precede|precedes", "over the limit",
        "you did|didn't|have|need", "must",
    )),
    MessageRow(_C.NOT_FOUND, (
        "delisted|gone|nonexistent", "^no !result|op",
    )),
)
# fmt: on
"""Every message pattern. Rows with `only` are read first, for their class; then all others, in order."""
