"""Words that tell little alone, for where nothing else was said."""

from __future__ import annotations

from typing import Final

from mcpcore.classification.messages.row import MessageRow
from mcpcore.codes import ErrorCode

_C = ErrorCode

# fmt: off
FAINT: Final[tuple[MessageRow, ...]] = (
    # What says nothing, and is about the program: before words that would blame somebody for it
    MessageRow(_C.INTERNAL_ERROR, (
        "^unknown|unexpected|unhandled error|exception|failure|problem",
        "unknown error|exception|failure|reason|cause", "went wrong", "exit code|status #",
        "exited with|on", "returned non zero",
    )),
    MessageRow(_C.NOT_FOUND, (
        "^unknown", "is|are unknown", "^no .. here|there", "account|user|customer|device unknown",
    )),
    # Words that tell little alone, where nothing else was said
    MessageRow(_C.UNAUTHORIZED, ("authenticate|authenticated|authentication|credential|credentials|login|logon",)),
    MessageRow(_C.FORBIDDEN, (
        "privilege|privileges|admins|administrators|blocked|banned|unpermitted|restricted|disallowed",
    )),
    MessageRow(_C.CONFLICT, (
        "outdated|occupied|concurrently|collide|collided|overlap|overlaps|overlapping|unfinished", "target exists",
        "exists",
    )),
    MessageRow(_C.TIMEOUT, ("time limit", "too long")),
    MessageRow(_C.SERVICE_UNAVAILABLE, (
        "restarting|rebooting", "too busy", "is busy", "come back|try .. later", "later",
        "backend|upstream|provider|gateway|dependency failed|failure|error", "circuitbreaker", "out of service",
        "disconnect|disconnected|unresponsive|congested", "talk to",
    )),
    MessageRow(_C.DATABASE_ERROR, (
        "sql|rollback", "transaction|transactions", "db .. failed|error|write|read",
    )),
    MessageRow(_C.SERIALIZATION_ERROR, (
        "json|xml|yaml|csv|pickle|parseable|unparseable|utf", "decode|decoded|encode|encoded|parse|parsed",
    )),
    MessageRow(_C.CONFIGURATION_ERROR, ("config|configuration|configured|setting|settings",)),
    MessageRow(_C.INITIALIZATION_FAILED, (
        "at|on|during startup",
        ("server|service|app|application|plugin|worker|process|engine|browser failed to start|boot|launch|initialize"
         "|initialise"),
        "initialise|initialize|initialised|initialization|initialisation .. failed",
    )),
    MessageRow(_C.VALIDATION_ERROR, (
        "syntax error|errors", "syntaxerror", "# digits|characters|chars|letters|decimals|words",
        "isn't|aren't|is|are not|no|a valid", "isn't|aren't valid", "incorrect", "needs", "nothing to !do",
        "does|do|doesn't|don't not|have|contain [have|contain|a|any]", "mandatory", "is|are needed",
        "conform|conforms|comply", "looks|is|are|was|were wrong",
        "wrong format|number|type|kind|value|name|order|length", "precede|precedes", "over the limit",
        "you did|didn't|have|need", "must",
    )),
    MessageRow(_C.NOT_FOUND, (        "{entity} .. unknown",
"delisted|gone|nonexistent", "^no !result|op")),
    # One word that most often means one thing, where nothing else was said
    MessageRow(_C.INITIALIZATION_FAILED, ("failed|fails|unable to start|boot|launch|come|initialise|initialize",)),
    MessageRow(_C.RATE_LIMITED, (
        "limited|exhausted|throttling|allowance|throughput|hourly|daily|monthly",
    )),
    MessageRow(_C.TIMEOUT, ("deadline|elapsed|stalled|overdue",)),
    MessageRow(_C.SERVICE_UNAVAILABLE, (
        ("backend|upstream|gateway|network|socket|proxy|tunnel|broker|handshake|degraded|degradation|outage"
        "|communicating|reconnecting|hostname|peer|replica|replicas"),
    )),
    MessageRow(_C.FORBIDDEN, ("scope|scopes|private|denies|forbids|unlicensed|owner|owners|consent|policy",)),
    MessageRow(_C.UNAUTHORIZED, ("session|cookie|signin|kerberos|mfa|audience",)),
    MessageRow(_C.CONFLICT, ("newer|held|revision|etag|booked|reserved|pending|queued|depends",)),
    MessageRow(_C.VALIDATION_ERROR, (
        ("characters|digits|decimals|latitude|longitude|radius|parameter|parameters|argument|arguments|field"
        "|fields|format|bounds|exceeds|exceed|shorter|length|expression|syntax"),
    )),
    MessageRow(_C.NOT_FOUND, ("unlisted|nonexisting|hits",)),
)
# fmt: on
