"""The reference table's common patterns, in its order, each grown to the family of its sentences."""

from __future__ import annotations

from typing import Final

from mcpcore.classification.messages.row import MessageRow
from mcpcore.codes import ErrorCode

_C = ErrorCode

# fmt: off
COMMON: Final[tuple[MessageRow, ...]] = (
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
        "unreadable|undecodable|unparsable|indecipherable",
        "expecting .. delimiter|property|name", "line # column|col #",
        "invalid json|xml|yaml|toml|csv|utf", "not [a] [valid] json|xml|yaml|toml|csv",
        "isn't [valid] json|xml|yaml|toml", "malformed json|xml|yaml|csv|response|reply|payload|packet|frame",
        "malformed|invalid|broken|bad .. json|xml|yaml|csv|feed", "no valid json|xml",
        "is|was no|not [a] [valid] json|xml|yaml", "invalid .. marker|magic",
        ("invalid|unexpected|unparsable|unparseable|unreadable|garbled|undecodable|corrupt [api|server] response"
         "|reply|answer"),
        "json parse error", "json decode error", "failed|unable to parse json|xml|yaml|response",
        "could not parse json|xml|yaml|response", "not json serializable", "json serializable",
        ("returned|received|sent|answered [an|a] empty|invalid|malformed|incomplete|unexpected|garbled response"
         "|reply|answer|body|payload|data"),
        "failed to decode", "unexpected .. payload|response|reply|answer|body",
        "not be parsed|decoded|deserialized|serialized|encoded|unmarshalled|unmarshaled",
        "while|in|during parsing|decoding|deserializing|serializing|deserialization|serialization", "parsing .. file",
        "failed to parse", "failed to serialize|deserialize|encode|unmarshal|marshal|serialise|deserialise",
        "unable to serialize|deserialize|encode|unmarshal|marshal", "cannot unmarshal|marshal", "unmarshal",
        "could not decode|encode", "could not parse", "couldn't parse|decode", "cannot parse", "can't parse|decode",
        "unable to parse|decode", "codec can't decode|encode",
        "parse|parsing|decoding|decode|encoding|serialization|deserialization error|failed|failure",
        "error parsing|decoding|deserializing|serializing|encoding", "expecting value",
        "unexpected end of json|file|input|data", "unterminated string", "unexpected token", "unrecognized token",
        "mismatched tag", "syntax error in json|xml|yaml", "xml|yaml|json syntax error", "xml|json error",
        "invalid start byte", "invalid continuation byte",
        "cannot|can't serialize|deserialize|decode|encode|serialise|deserialise",
        "could not|couldn't|can't deserialize|serialize|deserialise|serialise|unpack|inflate|decompress|unmarshal",
        "while scanning|parsing a|an",
        "not [a|an] [valid] zip|gzip|gzipped|pdf|png|jpeg|image|archive|tar|parquet|excel [file]",
        "corrupt|corrupted|truncated|damaged|garbled", "could not|cannot convert response|reply|result",
        "crc|checksum mismatch|failed|error", "bad magic", "invalid utf",
    )),
    MessageRow(_C.NOT_FOUND, (
        "missing|absent|gone|vanished|disappeared|removed|purged from|in [the|our|this|your|its] {store}",
        "{entity} [is|was] unknown", "unknown {entity}",
        "has|have|had|contains|contain|holds|with no [such|{entity}] .. named|called|with|like|matching|by|for|titled",
        "no .. named|called|titled", "no one|nobody|nothing|none by|with|of|under|at that|this|the",
        "found|yielded|gave nothing", "{entity} .. ceased|never exist|existed", "could not resolve to a|an",
        "isn't|not|no|is [a|an|any] .. by|with that|this|the name|id|title", "seem|seems|appear|appears to exist",
        "does|do|doesn't|don't [not] correspond to", "not located|known", "never created|existed|registered",
        "returned|got|found 0|zero|no results|rows|hits|matches|records|entries|data",
        "0|zero results|rows|hits|matches|records", "file|files or|and directory|folder missing",
        "recognised|recognized by", "not found", "not be found", "cannot|can't find", "cannot be found",
        "can't be found", "no such", "doesn't|don't exist", "does|do|did not exist", "couldn't find",
        "couldn't|cannot|can't locate", "could not locate", "wasn't|weren't|isn't|aren't found", "could not find",
        "unable to find", "unable to locate", "failed to find|locate", "notfound", "no longer exists|available|there",
        "no [matching] results|records|rows|entries|documents|items [were] [found]", "no .. [was|were] found",
        "no .. could be found|located", "no .. returned", "no .. available from", "no .. matched|matches",
        "cannot|can't|can locate", "no .. exists|exist", "no matching", "no record of", "result set",
        "nothing exists|here|there|at", "not defined in|on", "is|are|was unknown", "nothing found",
        "nothing matched|matches your|the query|search|filter|criteria", "none matched|found|match",
        "^no .. with|named|called|matching|like|for|titled", "no match|matches for", "did not match any",
        "didn't match any", "does not match any", "file|page|record|document|template|row|object|entry [is] missing",
        "there is|are no", "missing or deleted|removed|moved", "deleted or moved", "not exist",
        "no record|result|document|entry|item|user|match|matches found", "has|have been deleted|removed|purged",
        "was|were deleted|removed", "page|file|record was removed",
        ("unknown [or] [missing] user|resource|id|key|entity|item|city|country|account|project|repository|customer"
         "|order|tool|prompt|topic|session|device|job|task|document|page|file|channel|team|group|product|model"),
        "enoent", "resourcenotfound", "nonexistent", "non existent", "no row was found",
        "returned no rows|results|data", "could not be located", "couldn't be found", "missing file|resource|record",
        "is|are|was|were not registered", "isn't|wasn't registered", "isn't here|there|present",
        "is not here|there|present", "not present in",
        ("not|isn't|isn't|aren't in [our|the|this|your] [database|catalog|catalogue|list|index|thread|registry"
         "|library|collection|directory|system|records|inventory|set|table|file|document|cart|group|channel|room"
         "|team]"),
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
        ("since|after you|it|we|they|i|the [last|first|have|had] [last] read|fetched|opened|loaded|started|retrieved"
         "|downloaded|saw"),
        "version|revision|etag|generation|sequence|checksum .. was|is|but expected|but|found|is|differs|changed",
        "expected [the] version|revision|etag|generation|sequence", "is not empty", "are not empty", "contention",
        "{entity} .. attached|mounted|reserved|claimed|occupied", "{entity} .. checked out", "{entity} .. in use",
        "already|currently assigned|attached|linked|bound|used|reserved|claimed|held",
        "cannot|can't|invalid|illegal|not|disallowed [a|state|status|allowed|be|to] [to] transition|transitioned",
        "transition from",
        "cannot|can't delete|remove|archive|drop|close|destroy|cancel .. {entity}|it .. still|has|contains",
        "slot|seat|room|time|date|table [is|was] [already|no] [longer] taken|full|gone|booked|reserved|available|free",
        "double booked|booking", "lock|lease|mutex|semaphore .. held|taken|owned|acquire",
        "fetch|pull|rebase|merge first|before", "version mismatch|conflict", "etag .. match|mismatch|changed",
        "etag mismatch", "cannot|can't cancel|reopen|refund",
        "not|isn't|is|are [yet] [been] finished|completed|mergeable", "not yet complete|finished|ready|processed",
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
        ("can|may only be added|cancelled|canceled|edited|modified|deleted|removed|updated|refunded|approved"
         "|published|resumed|changed|started"),
        "due to [the|its] current", "current|its|this|wrong state|status|phase|stage",
        "the last|only admin|owner|member|user|one|item|remaining|active",
        "last|sole remaining|active|admin|owner|administrator|member", "reload|refresh .. before|and|to", "not enough",
        "insufficient stock|inventory|quantity|seats",
        ("not|isn't|aren't [currently|yet|in] active|pending|open|payable|editable|published|approved|draft"
         "|scheduled|started|eligible|cancellable|refundable|paid|shipped|confirmed|enrolled|resumable|deletable"),
        "overlaps|overlap with", "is|was|has [been] archived|finalized|finalised|frozen",
        "cannot|can't delete|remove|archive .. with|while|because|that|until|has|have",
        ("cannot|can't be changed|modified|edited|deleted|removed|cancelled|canceled|reopened|undone|merged|moved"
         "|archived|deactivated|disabled|activated|approved|rejected|resumed|paused|restarted|refunded|closed"
         "|published|unpublished|rescheduled|transferred|revoked|reverted|completed|renamed|updated|withdrawn"
         "|restored"),
        "while .. is|are running|active|pending|open", "refusing to overwrite|replace",
        "would overwrite|be overwritten", "first delete|remove|stop|close|cancel|detach",
        "before deleting|removing|closing|archiving", "name [is] taken",
    )),
    MessageRow(_C.VALIDATION_ERROR, (
        "invalid", "validation", "malformed", "bad request", "wrong format", "illegal argument|value",
        ("^unknown option|argument|parameter|field|property|keyword|key|format|type|value|unit|language|sort"
         "|operator|column|order|filter|mode|flag|parameters|fields"),
        "missing required|param|params|parameter|parameters|field|fields",
        "missing input|inputs|value|values|arg|args|argument|arguments",
        ("must [not|only|also|all|always|either|both] be|have|contain|start|end|begin|match|include|equal|exceed"
         "|consist|use|come|point|follow|precede|differ|lie|sum|supply|specify|provide|give|pass|fall|conform|comply"
         "|belong|refer|reference|resolve|select|choose"),
        "should [not|only|all|either|both] be|have|contain|start|end|begin|match|include|equal|exceed|use|come|follow",
        "has|have|needs|need|ought to be|have|contain|start|end|match|include|come|lie", "cannot|can't be",
        "doesn't|don't accept|support|understand|recognize|recognise",
        "not accept|support|understand|take|recognize|recognise",
        "^give|specify|choose|provide|pick|select|enter|supply|pass", "belongs|belong to",
        "cannot|can't exceed|contain|start|end|include|both|also",
        ("cannot|can't|can not be empty|blank|negative|null|none|zero|more|less|greater|larger|longer|smaller"
         "|shorter|higher|lower|the|before|after|in|combined|used|both|same|equal|set|with|or|specified|identical"
         "|converted|parsed|interpreted"),
        "cannot|can't have|use [a|an|more|both|duplicate]", "may not exceed|contain|start|end|be", "mutually exclusive",
        "not both", "either .. or", "neither .. nor", "at least|most #", "at least one|two|three", "at most",
        "no more than", "more|fewer|less|greater|larger|smaller|longer|shorter|higher|lower than",
        "below|above|under|over the minimum|maximum|limit|allowed",
        "outside [the] [valid|allowed|of|permitted] range|bounds",
        "no .. given|provided|supplied|specified|passed|entered|selected",
        "wasn't|weren't|was|were|been|is|are not given|provided|supplied|specified|passed|selected",
        "not provided|specified|supplied|given", "unprocessable", "out of range|bounds", "out of the range",
        "is required", "are required", "required when|if|for|unless", "field required", "required but",
        "field .. cannot be set",
        ("too long|short|large|small|big|many|few|old|deep|high|low|early|late|wide|narrow|complex|far|wordy|vague"
         "|broad|recent|heavy|weak"),
        "exceeds the maximum|limit", "exceeds maximum|limit|max", "exceeds .. limit|maximum|length|size",
        "exceeds|exceed #", "exceeds|exceed .. characters|bytes|mb|kb|items|rows", "unsupported", "is not supported",
        "not supported", "only .. [is|are] supported|accepted|valid|understood",
        "only .. and|or .. supported|accepted|valid",
        "not accepted|understood|recognized|recognised|numeric|numerical|unique|positive|an|a",
        "isn't|aren't accepted|understood|recognized|recognised|numeric|unique|positive|an|a",
        "is|are not among|between|within|at", "isn't one|a|an|among [of]", "^not a|an",
        "expected ... got|received|but|found|given", "expects|expecting a|an|one|two|at|exactly",
        "please provide|specify|supply|enter|give|choose|select|use", "please check [the|your|a|an] !back",
        "exceed|exceeds|exceeded #",
        "size|dimensions|length|width|height|count|depth|weight .. exceed|exceeds|exceeded|limit",
        "you must supply|provide|specify|give|choose|enter",
        "unexpected keyword|argument|field|key|parameter|property|value|input|character|column|option|type",
        "lies before|after", "be before|after|earlier|later", "come|comes before|after",
        "do|does|did|doesn't|don't|didn't [not] match", "mismatch", "is not a valid", "not valid",
        "badly formatted|formed", "ill formed", "unrecognized", "unrecognised", "payload too large", "entity too large",
        "ambiguous", "unacceptable", "failed .. validation", "constraint violat*",
        "cannot|can't be empty|blank|negative|null", "is|are|was|were empty", "^empty", "is reserved", "unsafe",
        "^wrong|illegal|improper|nonsensical|impossible", "bad value|input|format|name|argument|parameter|option",
        "convert .. to|into", "cannot|can't|could not|unable [to] convert|interpret|coerce|cast",
        "nothing to update|change|search|send",
        "specify|give|choose|provide|use|pass|supply either|one|exactly|only|at",
        "larger|bigger|more|smaller|older than #", "is|are missing", "missing or empty|invalid", "^missing",
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
        "try again later .. limit", "api limit", "limit exceeded", "exceeded .. limit",
    )),
    MessageRow(_C.TIMEOUT, (
        "timeout", "timeouts", "time out", "deadline [was|has] [been] exceeded", "deadline exceeded",
        "deadline expired", "time limit exceeded", "exceeded .. time limit", "no response within", "operation expired",
        "timedout", "timeouterror|timeoutexception|readtimeout|connecttimeout|readtimeouterror|connecttimeouterror",
    )),
    MessageRow(_C.INITIALIZATION_FAILED, (
        "start up|startup|boot|bootstrap aborted|failed|failure|error",
        "failed|unable to initialize|initialise|boot|bootstrap",
        ("browser|server|engine|worker|plugin|module|driver|process|model|kernel|runtime .. not be launched|started"
         "|initialised|initialized|loaded|booted"),
        "could|can|cannot|can't|couldn't [not] initialize|initialise|boot|bootstrap",
        "initialization|initialisation|startup|bootstrap|boot [has] failed|error|failure",
        ("failed|unable to start [the] [worker|web|local|background|mcp] server|worker|workers|process|browser"
         "|session|engine|service|daemon|app|application|plugin|component|listener|thread|scheduler|subprocess"
         "|runtime"),
        ("could|cannot|can't|couldn't [not] start [the] [worker|web|local|background|mcp] server|worker|workers"
         "|process|browser|session|engine|service|daemon|app|application|plugin|component|listener|thread|scheduler"
         "|subprocess|runtime"),
        ("plugin|extension|module|driver|component|adapter|model|weights|engine|kernel .. failed|unable"
         "|failure to load|start|initialise|initialize|boot"),
        ("failed|unable|could|couldn't|can't|cannot [not] [to] load .. plugin|extension|module|driver|component"
         "|adapter|model|weights|engine"),
        "failed to bring up",
        ("not|failed|unable|cannot|can't|couldn't [to] start .. listener|service|component|server|worker|workers"
         "|engine|scheduler|plugin|browser|subsystem|daemon"),
        "scheduler|listener|daemon|subsystem|pool|pipeline .. not be launched|started|initialised|initialized|loaded",
        "init [of] .. failed|error|failure", "failed|unable|cannot|can't|couldn't [to] launch",
        "error while|during|in startup|initialization|initialisation", "failed during startup|initialization",
    )),
    MessageRow(_C.REQUEST_CANCELLED, (
        "abort|aborted", "cancelled|canceled|cancellation", "^cancel", "aborterror", "interrupted by user",
        "client disconnected", "client closed request",
    )),
    MessageRow(_C.SERVICE_UNAVAILABLE, (
        "failed|fails|failing|unable to respond|answer|reply",
        "service [is] [temporarily|currently] unavailable", "temporarily unavailable", "currently unavailable",
        "unavailable", "bad gateway", "upstream error", "upstream", "server error",
        "backend|server|service|api|site down", "server is down", "is down", "maintenance", "overloaded",
        "server|service|system is [too] busy", "server busy", "over capacity", "at capacity", "starting up",
        "shutting down", "not ready", "no healthy", "try again later", "please try again", "please retry",
        "retry later", "try again in", "temporary failure", "temporarily", "backend error", "unreachable", "offline",
        "no servers", "no primary", "connection", "outage", "going away", "not|isn't [currently|yet] available",
        "bad response", "not responding", "disconnected", "no reply|answer|response [was] from|to|received",
        "{service} .. did|does|didn't|doesn't [not] respond|answer|reply",
        "api|service|provider|vendor [request|call] error|failed|failure|problem", "no reply|answer",
    )),
    MessageRow(_C.DATABASE_ERROR, (
        "database", "sql error", "sqlite", "transaction .. failed", "query failed", "constraint failed", "data store",
        "datastore",
    )),
    MessageRow(_C.VALIDATION_ERROR, (
        "missing", "requires|require", "^unsupport", "zod", "zoderror", "schema validation",
    )),
)
# fmt: on
