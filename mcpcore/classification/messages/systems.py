"""What machines say of one another: databases, networks, certificates, nodes and disks."""

from __future__ import annotations

from typing import Final

from mcpcore.classification.code_tables import ORACLE
from mcpcore.classification.messages.row import NEVER, SOON, MessageRow
from mcpcore.codes import ErrorCode

_C = ErrorCode

_ORACLE: Final[dict[ErrorCode, list[str]]] = {}
for _number, _fact in ORACLE.items():
    _ORACLE.setdefault(_fact.code, []).append(f"{_number:05}")

# fmt: off
SYSTEMS: Final[tuple[MessageRow, ...]] = (
    # Databases
    *(MessageRow(code, (f"ora {'|'.join(numbers)}",)) for code, numbers in _ORACLE.items()),
    MessageRow(_C.VALIDATION_ERROR, (
        "violates|violated foreign|not|check", "foreign key constraint", "not null constraint", "violates not null",
        "check constraint",
    )),
    MessageRow(_C.CONFLICT, (
        "unique constraint", "unique violation", "uniqueviolation", "duplicate key", "duplicate entry", "e11000",
    )),
    MessageRow(_C.DATABASE_ERROR, (
        "database [table|schema] is locked", "database table is locked", "deadlock [was] detected", "deadlock found",
        "deadlocked on", "was deadlocked", "lock wait timeout", "table .. is|was locked", "could not obtain lock",
        "could not serialize access",
        "connection pool [is] exhausted|full|empty", "serialization failure", "write conflict", "writeconflict",
        "lock timeout",
    ), SOON),
    MessageRow(_C.DATABASE_ERROR, (
        "transaction has already been committed|rolled|closed|aborted",
        "invalid|unknown|bad column|table name", "row|table|record|relation .. lock|locks held",
        "index|data|page|block|heap corruption|corrupt|corrupted",
        "write|read to|from [the] primary|secondary|replica|master failed", "sql .. keyword|clause|identifier",
        "column .. ambiguous|ambigious",
        "cursor|savepoint [is|was|has] [been] closed|gone|invalid",
        ("mongo|mongodb|postgres|postgresql|mysql|sqlite|db|oracle write|read|insert|query|update"
         "|delete failed|error|failure"),
        "insert|update|delete|write [a|the] row|rows|record", "integrity error",
        "insert|delete|update|select into|from .. failed", "has no column", "table|column missing from|in",
        "ambiguous column", "database is read|readonly [only]", "no column named", "lost lock", "table .. is missing",
        "deadlock", "no such table|column|collation|savepoint|function",
        "relation|column|table|schema|database|role .. does not exist", "table .. doesn't exist",
        "table or view does not exist", "unknown column|database|table", "undefined table|column", "unconfigured table",
        "disk image is malformed", "current transaction is aborted", "unable to open database",
        "attempt to write a readonly database", "database disk image", "invalid object name", "sql syntax",
        "sql logic|statement error", "syntax error at or near", "syntax error near", "database or disk is full",
        "database error", "ora #", "wrongtype", "is not a database", "transaction [was|has] [been] rolled|aborted",
        "transaction .. rolled back", "read only transaction", "migration .. failed|fails", "migration failed|error",
        "migration .. apply", "index|database .. corrupt|corrupted", "tablespace .. full|offline|quota",
        "transaction is aborted|in failed", "commands ignored until", "savepoint .. does not exist", "write ahead log",
        "too many sql variables", "readonly|read only database", "schema version",
        "missing|pending|unapplied migration|migrations", "migration|migrations .. not .. applied|run",
        "write|save|insert|persist .. database|table", "database query failed", "holding the wrong kind of value",
        "command denied to user .. database",
    )),
    # Networks
    MessageRow(_C.TIMEOUT, (
        "network|connection|request|connect|http|read|fetch error|failed|failure|problem ... timed|timeout [out]",
        "queuepool limit", "pool .. timed out|timeout", "acquire .. connection .. timed|time",
    )),
    MessageRow(_C.SERVICE_UNAVAILABLE, (
        "down for maintenance|repairs|upgrade", "under maintenance", "maintenance mode|window|break",
        "scheduled|planned|undergoing|performing|routine|doing .. maintenance", "closed for maintenance",
        "check|come|be back [in] later|soon|shortly|minutes",
        "experiencing .. outage|problems|difficulties|issues|load|traffic|demand|volume|delays|trouble",
        ("{service} .. is|are|went|seems|currently|temporarily [currently|temporarily|completely|all] down|offline"
         "|dead|degraded|unresponsive"),
        ("{service} .. can't|cannot|unable|couldn't [to] handle|serve|accept|process|fulfil|fulfill|complete [the"
         "|your|this|any|more|new] [new|more] request|requests|connections|traffic"),
        "{service} .. crashed|died|vanished", "{service} .. went|gone|going away|dark",
        ("leader|primary|master|coordinator|quorum|election [has|was|is] [not] [been|yet] changed|lost|discovered"
         "|elected|available|ongoing"),
        "leader|primary|master|coordinator|quorum .. not .. elected|discovered|known|available",
        "no leader|quorum|master|primary", "failing over", "failover",
    )),
    MessageRow(_C.SERVICE_UNAVAILABLE, (
        "too many connections", "too many clients", "remaining connection slots",
        "pool [is] exhausted", "max clients reached",
        "max number of clients", "no connections available", "no more connections",
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
    MessageRow(_C.VALIDATION_ERROR, (
        "foreign key constraint", "not null constraint", "check constraint", "violates not null", "cannot be null",
        "may not be null", "data too long", "value too long", "invalid input syntax", "incorrect .. value",
        "failed to satisfy constraint",
    )),
    MessageRow(_C.CONFLICT, (
        "overlaps|overlap|overlapping [with] [an|another|the] existing",
        "someone|somebody|another .. changed|edited|modified|updated|took|booked|deleted",
        "instance|job|task|cluster|container is stopping|starting|busy|being !up",
        "server|service is stopping|being !up", "already sold|booked",
        "changed .. since", "sold out",
        ("not in [the] [draft|a|open|pending|active|right|required|correct|valid|expected|final|editable] status"
         "|state|stage|phase"),
        "unmerged", "already exists|exist|registered|taken|booked|subscribed",
    )),
    MessageRow(_C.UNAUTHORIZED, (
        "jwt expired", "jwt .. expired|invalid|malformed", "token [has|is] [already|been] expired",
        "access token .. expired", "expired jwt",
    )),
    MessageRow(_C.FORBIDDEN, ("row level security",)),
    MessageRow(_C.VALIDATION_ERROR, (
        "card|transfer|withdrawal|payment .. insufficient funds|balance", "card has insufficient",
    )),
    MessageRow(_C.RATE_LIMITED, (
        "exceeded your .. quota", "billing hard limit", "credit balance is too low",
        "insufficient credits|balance|funds", "out of credits", "used all .. credits", "no credits",
    ), NEVER),
    MessageRow(_C.RATE_LIMITED, (
        "quota [has|was] [been] exceeded", "exceeded .. quota", "quota .. exceeded|exhausted|reached|used",
        "out of quota", "resource exhausted", "resource has been exhausted",
    )),
    MessageRow(_C.NOT_FOUND, ("model not found", "model .. does not exist")),
    MessageRow(_C.VALIDATION_ERROR, (
        "prompt is too long", "context window", "input is too long", "too many tokens",
    )),
    MessageRow(_C.SERVICE_UNAVAILABLE, (
        "enotfound", "eai again", "dns !name|record|zone|label|label", "dns name .. resolve|resolved", "getaddrinfo",
        "name or service not known", "nodename nor servname", "temporary failure in name resolution", "name resolution",
        ("no such host !group|groups|id|entry|key|record|rule|class|template|pool|alias|name|variable|port|profile"
         "|in|with"),
        "servfail", "server misbehaving", "resolve|resolving|resolution of|for host|hostname|domain|address|name",
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
        "server has gone away", "lost connection", "unexpected eof while|from|during|on|talking",
        "session|stream|channel|socket|pipe|tunnel|link|websocket .. broken|reset|dropped|lost|died|disconnected",
        "eof occurred", "unexpected end of stream", "connection error", "connection failed",
        ("reconnect|connect|connecting|reconnecting|connection|communication|communicating|handshake failed|error"
         "|failure|problem"),
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
        "hostname mismatch", "sslerror", "x509", "unknown [certificate] authority|ca",
        "certificate|cert .. unknown|untrusted|trusted|revoked|mismatch|invalid|valid|verified|verify|rejected|expired",
        "certificate|cert signed by", "certificate|cert .. authenticated|authenticate|trust",
        "host key verification|mismatch|changed", "tls alert", "remote error: tls",
        "certificate verification|validation", "unable to verify .. certificate",
    ), NEVER),
    MessageRow(_C.SERVICE_UNAVAILABLE, (
        "no space left", "insufficient [disk] space", "insufficient disk", "disk [is] full", "disk quota exceeded",
        "out of disk",
    ), NEVER),
    MessageRow(_C.SERVICE_UNAVAILABLE, (
        "no living connections", "max|maximum retries|attempts|tries", "retries exhausted|exceeded",
        "all shards failed",
        ("no .. nodes|brokers|servers|hosts|workers|replicas|backends|instances|upstreams [are|is] available"
         "|reachable|alive|healthy|ready"),
        "leader not available", "circuit [breaker] [is] open", "circuit breaker", "insufficient .. capacity",
        "insufficient capacity", "clusterdown", "is [currently] loading", "still loading|starting|warming",
        "not loaded yet", "not [currently] responding", "isn't responding|running|answering|reachable",
        "is not [currently] running|reachable|answering|reachable", "daemon running", "unresponsive", "reduce load",
        "having problems|issues|difficulties", "temporarily disabled|suspended|closed", "service not available",
        "not [currently] operational", "is not healthy", "unhealthy", "unable to complete the operation against",
    )),
)
# fmt: on
