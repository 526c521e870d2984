"""Families of sentences that name a kind of thing and what is wrong with it, by the words of `phrases.VOCABULARY`."""

from __future__ import annotations

from typing import Final

from mcpcore.classify.messages.row import MessageRow
from mcpcore.codes import ErrorCode

_C = ErrorCode

# fmt: off
FAMILIES: Final[tuple[MessageRow, ...]] = (
    MessageRow(_C.INTERNAL_ERROR, (
        "^panic", "nil pointer", "invalid memory address", "undefined method|local|function|variable", "nil nilclass",
        "object reference not set", "unhandled promise|case|exception|rejection", "referenced before assignment",
        "cannot read properties|property", "access violation", "double free", "type error", "typeerror",
        "attributeerror", "bounds of the array", "call stack", "stack size", "already executing", "illegal instruction",
        "exceeded|exceeds|exceeding # iterations|steps|turns|loops",
    )),
    MessageRow(_C.SERIALIZATION_ERROR, (
        "tokenizing data", "premature end of",
        "invalid|incorrect|bad base64|gzip|header|magic|padding|hex|escape|encoding|utf", "wire type|tag|format",
        "where|when|but|not json|xml|html was|is expected", "not valid utf|json|xml|yaml|base64|ascii|unicode|csv|toml",
    )),
    MessageRow(_C.CONFIGURATION_ERROR, (
        ("settings.toml|config.toml|config.yaml|config.yml|config.json|config.ini|pyproject.toml|settings.py"
         "|settings.json|settings|config|configuration ... unknown|invalid|missing|wrong|bad|unrecognized"
         "|unrecognised|malformed"),
        "in [the|your|its] config|configuration|settings [file] is|are|has|have|must|was",
        "{service} .. not|never set up",
        ("config.yaml|config.yml|config.json|config.toml|settings.toml|settings.json|.env|dotenv .. found|missing"
         "|exist|readable|unreadable"),
        ("config.yaml|config.yml|config.json|config.toml|settings.toml|settings.json|dotenv [was|is|could"
         "|does] not [be] found|exist"),
        "is|are unset", "missing in|from [the|your] config|configuration|settings|environment", "kubeconfig",
        "<env> variable", "<env> .. is|was empty|blank", "variable [is|was] empty|blank|unset|undefined",
        "bad|broken|wrong|invalid config|configuration|settings",
        "credentials|key|token|config file missing|unreadable", "credentials file",
    )),
    MessageRow(_C.UNAUTHORIZED, (
        "account [is|has|was|been] [been|temporarily|now] locked",
        "reauthentication|authentication|auth|login|signin .. failed|unsuccessful",
        "requires|require|required|need|needs .. authenticated|login|authentication|logged|signed",
        "client certificate|cert .. accepted|required|rejected|missing|provided|presented",
        "secret|signature|token|hmac|digest .. match|mismatch", "{wrong} .. secret|token",
        "key|secret|token [is|was] {wrong}",
        "kerberos|assertion|cookie|ticket|nonce [has|is|was] expired|invalid|replayed", "kerberos ticket",
        "provide|supply|include|send|pass|enter|use .. valid [api|access|bearer] key|token|credentials|password|login",
        "hmac|signature|jwt|token|digest|webhook check|verification|validation [has] failed",
        "assertion|token|session|ticket|cookie|credential .. not valid",
        "token|key .. was deleted|removed|rotated|replaced", "session|login .. timed out",
        "password [is] required|needed", "client certificate|cert .. not accepted|provided|presented|valid|trusted",
        "secret|signature|token|hmac|digest|password .. not match",
        "api|access|secret key .. not valid|accepted|recognised|recognized|active|known",
        "cookie|token|credential|credentials [is|was] missing|absent !the|a|an|scope|scopes|permission",
        "token|jwt|signature|credentials|identity|assertion .. not be validated|verified|decoded|checked|trusted",
        "sign|log in needed|necessary",
        "username|password|login|credentials .. not correct|right|valid|recognised|recognized|accepted",
        "invalid session|login|signature|cookie|credential|credentials",
        "token|session|key [has|was|is] [been] invalidated|deactivated",
        ("{credential} .. invalid|malformed|expired|revoked|rejected|incorrect|unrecognized|unrecognised|mismatch"
         "|stale|tampered"),
        "{credential} .. not valid|correct|right|recognised|recognized|accepted",
        "{credential}|key .. not provided|supplied|sent|included",
        "carry|include|have|contain|needs|need .. api|access|bearer key|token", "not log|sign|authenticate you",
        "sign on failed|failure|error", "not paired", "log|sign you in",
    )),
    MessageRow(_C.FORBIDDEN, (
        ("not|don't|doesn't|without|no|lack|lacks|insufficient .. rights|permission|permissions|privilege|privileges"
         "|authority|clearance"),
        ("only paid|premium|verified|enterprise|privileged|trusted|authorised|authorized|approved|licensed"
         "|registered .. can|may"),
        "your|this role|account|token|key|plan|user|subscription|licence|license .. cannot|can't|may", "you may not",
        "preventing|prevented|prevents .. access|reading|writing|from", "access|read|write .. refused",
        "available .. plan|tier|edition|subscribers|customers", "on .. plan|tier|edition only", "view only", "sudoers",
        "not|weren't|wasn't|haven't|hasn't [been] invited|granted|cleared|vetted|entitled",
        "have|has|only|is|with read only|readonly|view [access|role|permission|rights]",
        "cannot|can't|may read|view|see|access|open|edit .. another|other|others|different", "reserved for",
        "isolation", "account .. closed|terminated|paused|delinquent",
        "premium|pro|enterprise|paid|upgrade .. required|only|needed", "not in channel",
        "need|needs|require|requires .. access|role|rights|permission|permissions", "missing access",
        "restricted action|method|endpoint|operation|resource|access", "use only",
        "for internal|staff|admin|employees|members .. only", "not yours", "isn't yours",
        "owned by another|someone|somebody|other", "not your own", "list of allowed|permitted|approved",
        "blocklisted|blacklisted|denylisted", "disallows|forbids",
        "policy|settings|rules|licence|license|terms|admin|administrator|owner|site|robots.txt .. not allow|permit",
        "disabled by [the|a|an|your] policy|admin|administrator|owner|default", "access|clearance|security level",
        "above|beyond|outside your access|clearance|pay|role", "turned|switched [this|it|that|the] [feature] off",
        ("limited to .. owner|owners|admins|members|staff|editors|managers|maintainers|administrators|employees"
         "|subscribers|users|customers"),
        "plan|subscription|licence|license|tier|edition|contract .. not cover|include|allow|permit|contain",
        "missing .. scope|scopes",
    )),
    MessageRow(_C.REQUEST_CANCELLED, (
        "you stopped|cancelled|canceled|aborted|interrupted", "caller|user .. gave|disconnected|left|withdrew",
    )),
    MessageRow(_C.RATE_LIMITED, (
        "excessive|many|much requests|calls|traffic|queries|attempts|messages",
        "exceeding|exceeded .. requests|limitation|calls", "out of .. credits|tokens|requests|calls",
        "exceed|exceeded|exceeds|exceeding|limit|maximum|max|over ... per|a|an|each|every {per}",
        "burst of|traffic|requests", "spread .. out", "backoff|back [off] requested",
        ("maximum|max|limit of # [pending|queued|concurrent|open|running|active|parallel|simultaneous] jobs|tasks"
         "|sessions|requests|connections|calls|queries|runs"),
        "returning|returns|returned|giving|throwing 429s",
        "maximum|max|limit .. concurrent|simultaneous|parallel .. {spent}",
        "maximum|max .. per|for {person}|key|ip .. {spent}", "token|leaky bucket",
        ("used|spent|burned all|up [of] [your|the|its] [{entity}|searches|credits|requests|calls|tokens|messages"
         "|exports|minutes]"),
        "again tomorrow", "spike arrest", "allowed rate",
        ("too many .. operations|requests|calls|updates|connections|sessions|messages|logins|attempts|queries"
         "|downloads|uploads|jobs"),
        "exceeded .. concurrent|parallel|simultaneous", "max|maximum concurrent|parallel|simultaneous",
        "wait .. before", "only|than|to|of # .. per|a|an|each|every {per}", "rate .. limited|capped",
    )),
    MessageRow(_C.TIMEOUT, (
        "waited|waiting # ... without|but|and|no", "in|within the time|period|window given|allowed|available|allotted",
        "not|never|didn't .. before|by|until [the|its|our] deadline|timeout|cutoff",
        "execution|run|running|cpu|wall|processing [clock] time [was|has|limit] [been] {spent}", "timed out",
        "# second|seconds|minute|minutes|ms|sec|min limit|budget|cap|maximum", "took|takes|taking more|longer than",
        "cancelled|canceled|killed|stopped|aborted|terminated after running|exceeding",
        "cancelled|canceled|killed|stopped|aborted|terminated after #",
        "within [a|an|one|two|three|five|ten|the|few] [few|couple|half] seconds|second|minutes|minute|hours|hour",
    )),
    MessageRow(_C.SERVICE_UNAVAILABLE, (
        ("{service}|space|vault|warehouse|database|model|index .. is|are [currently|temporarily|being|now"
         "|still] sealed|paused|sleeping|asleep|hibernating|draining|restarting|rebooting|warming|initializing"
         "|rebuilt|busy|overloaded"),
        "database|server|service|model|cluster .. starting|warming|booting|coming up|back",
        "no available {service}|workers|worker",
        "connection .. could|cannot|can't|couldn't .. established|made|opened|completed",
        "name|host|hostname|address|domain|remote .. resolved|resolve",
        "returning|returns|returned|giving|throwing|answers 500s|502s|503s|504s|5xx", "cluster [is|status] red",
        "transient failure", "endpoint|model|container|function .. cold",
        "closed|dropped|terminated|reset by [the|a] {service}|remote|peer|host", "lost power",
        "power failure|outage|loss", "disk|storage|volume quota|space|full", "^eof",
        "reading|read|post|get|put|{service}|connection ... eof",
        "name|host|hostname|address|domain|remote .. not [be] resolved|resolve|resolvable",
        "connection .. not be established|made|opened|completed",
        "no active|alive|live|running|free|idle|usable nodes|brokers|workers|servers|hosts|replicas|backends|instances",
        "{service}|engine|app|emulator|browser|kernel not running|listening|started|up", "overload",
        "unable|failed|cannot|can't|couldn't [to] open|establish .. websocket|socket|connection|stream|channel|session",
        "{service} .. can't|cannot|couldn't|unable [to] take|answer|cope|deal",
        "could|can not open|establish|make .. connection|socket|stream|channel",
        "certificate|cert .. not trusted|valid|accepted", "feed|signal|link|uplink|line|carrier lost|dropped|down",
        "no {service}|worker|workers|agent|agents|slot [is|are|was] available|free|idle|online|reachable|ready",
    )),
    MessageRow(_C.CONFLICT, (
        "cannot|can't|failed|unable|could [not] [to] lock", "acquire|obtain|get|take .. lock",
        ("resource|object|document|row|record|entity|page|item version .. old|stale|outdated|behind|obsolete|current"
         "|expected"),
        "number|id|key|nonce|token reused",
        ("must be stopped|closed|paused|detached|cancelled|deactivated|terminated|unlocked|released|archived|emptied"
         "|disabled first|before"),
        "stop|close|pause|detach|cancel|deactivate|unlock|release|empty .. first|before", "in the meantime",
        "meanwhile", "has|in a|the status|state of",
        "not be updated|changed|modified|deleted|cancelled|edited|removed|refunded|captured because",
        "acquiring|acquire|obtaining|obtain|taking|getting|get .. lock",
        "previously published|used|sent|registered|processed|submitted",
        "branch|branches|histories|history|copies|edits|versions .. diverged|collided|collide|clash",
        "etag .. not match", "collides|collide|collided|clashes|clash with",
        "must be paid|approved|published|activated|confirmed|completed|finished|verified|signed|merged .. before|first",
        ("cannot|can't edit|change|modify|delete|cancel|update|merge|close|reopen .. closed|archived|completed"
         "|finished|published|merged|cancelled|canceled|paid|shipped|expired|locked"),
        "has active|open|pending|unpaid|existing|dependent|child|linked|related|running", "one .. at a time",
        "different|another name", "is no longer editable|open|pending|active",
        "edited|changed|modified|updated|deleted|taken|claimed by someone|somebody|another|other",
        "can't|cannot|not .. twice", "wait|until .. done|finished|complete|completes|finishes", "busy with",
        "already cancelled|canceled|ended|expired|closed|archived",
    )),
    MessageRow(_C.VALIDATION_ERROR, (
        "not in [a|the|any] .. format|form|notation|range|units|order|case|style|syntax|interval",
        ("date|time|start|end|from|until|deadline|birthday|due .. is|are|lies|falls|comes before|after|earlier|later"
         "|prior"),
        "iban|isbn|luhn|vat|ean|card|ssn checksum|check|number|digit", "exactly one", "only one of",
        "insufficient arguments|parameters|values|data",
        ("unknown|unexpected|unrecognized|unrecognised|extra|undefined|undeclared|superfluous field|fields|parameter"
         "|parameters|argument|arguments|property|option|column|attribute"),
        "make|makes no sense", "unbekannter|unbekannte|unbekanntes parameter|feld|option",
        "invalid|bad|malformed|wrong json|xml path|pointer|schema|query|expression",
        "has|have|had no scheme|host|domain|extension|unit|operator|title|name|protocol|digits|letters",
        "combine|mix .. with|and", "may|can only contain|have|include|consist", "^expected a|an|one|two|at|either|only",
        "contains|has|have a|an syntax|typing|spelling error|mistake", "safety system|filter|settings|policy|policies",
        "content|moderation policy|filter|management",
        "malformed query|request|url|uri|expression|parameter|header|id|date|email|address|filter",
        "value .. not .. for", "error|mistake|problem in .. query|expression|formula|filter|template|pattern|jql",
        "maximum|minimum allowed", "required value|property",
        "unknown query|operator|directive|clause|keyword|verb|macro",
        "bad recipient|address|syntax|url|date|number|type|data|selector|pattern|query", "invalid|unknown scope",
        "scope [is] unknown|invalid", "reserved .. character|word|name|keyword",
        "negative|empty|blank|null|duplicate|zero .. not allowed|permitted|accepted",
        "bad|wrong coordinates|coordinate|timestamp|phone|email|expression|regex|range|index|cursor|offset",
        "lacks|lacking a|an|the|its|any", "instead of", "supposed to be", "typo|misspelt|misspelled",
        "no such field|language|currency|timezone|locale|property", "no longer supported|accepted",
        "look|looks like a|an", "cannot be used together|with", "path|directory traversal",
        "colour|color|number|string|integer|list|object|array|value|date|boolean|url|id expected",
        "contains|contain spaces|whitespace|commas|digits|letters|symbols|slashes|quotes|newlines|duplicates",
        "pick|choose one|either", "is|are no number|date|integer|string|url|colour|color|word|address", "you forgot",
        "passwords|values|lengths|types|sizes|dimensions [do] differ",
        "without a|an|any query|subject|title|name|value|body|recipient|id", "allowed|permitted as a|an|the",
        ("unknown colour|color|currency|locale|timezone|zone|weekday|month|theme|style|unit|language|format|mode"
         "|encoding|type"),
    )),
    MessageRow(_C.NOT_FOUND, (
        "doesn't|don't|not have [a|an|any] {entity}",
        "{entity} ... isn't|not|no|never|longer available|exists|there|around [any|anymore] [more|longer]",
        "not listed|indexed|catalogued|cataloged|tracked|stored|published|uploaded|created [yet] [on|in|at]",
        "zero|0|none .. matched|match|found",
        "has|have|was|were not been|yet created|uploaded|published|written|saved|recorded",
        "never uploaded|created|written|saved|stored|recorded|published|sent",
        "alias|index|shard|chunk|object|segment|asset|artifact|attachment .. missing", "vanished|disappeared",
        "nothing .. stored|saved|recorded|registered|under", "returning|returns|returned|giving|throwing 404s",
        "yields|yielded|gives no|nothing", "nothing .. found", "link you followed",
        "may have been removed|deleted|moved|renamed", "reference|target .. missing|dangling|unresolved",
        "lookup|search|query|filter .. came|was|is|returned [back|up] empty",
        "could|cannot|can't not be retrieved|fetched because|as|since", "not part of", "no .. match|matches|matching",
        "no .. on file|record", "{store}|{entity} has|have|had no {entity}", "lookup|cache miss|missed",
        "never released|issued|made|opened|assigned|existed", "there isn't|aren't any|a|an",
        "isn't|aren't any .. called|named|with|like",
    )),
)
# fmt: on
