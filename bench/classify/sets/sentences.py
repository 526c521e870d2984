"""What applications and small clients raise: an exception of their own, or a plain one, and a sentence."""

# The cases do on purpose what the rules forbid, each in one line.
# ruff: noqa: ARG001, E501, Q003
from __future__ import annotations

from typing import TYPE_CHECKING

from bench.classify.case import Cases
from mcpcore.codes import ErrorCode as C

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.classify.servers import Peers

CASES = Cases()


class SyncError(Exception):
    """An application's own exception, of which no table knows."""


def says(
    cases: Cases,
    label: C,
    *sentences: str,
    kind: type[Exception] = SyncError,
    named: str | None = None,
    bug: bool = False,
) -> None:
    """Add a case for each sentence, raised with `kind`, or with a class made with the name `named`."""
    if named is not None:
        kind = type(named, (Exception,), {"__module__": "app"})
    for sentence in sentences:
        cases.add(label, f"{kind.__name__}({sentence!r})", _raiser(kind, *([sentence] if sentence else [])), bug=bug)


def listed(text: str) -> list[tuple[C, str]]:
    """Labels and sentences of a list: a line "== LABEL" goes before the sentences of that label, one a line."""
    found: list[tuple[C, str]] = []
    label = C.INTERNAL_ERROR
    for line in text.split("\n"):
        if line.startswith("== "):
            label = C[line[3:]]
        elif line:
            found.append((label, line))
    return found


def _raiser(kind: type[Exception], *args: object) -> Callable[[Peers], None]:
    def run(p: Peers) -> None:
        raise kind(*args)

    return run


says(CASES, C.UNAUTHORIZED, "Your session has expired, please log in again", "Token expired at 2026-01-01T00:00:00Z",
     "Incorrect API key provided: sk-***", "401 Client Error: Unauthorized for url: http://x/")  # fmt: skip
says(CASES, C.FORBIDDEN, "Access to the project 'apollo' was denied", "You do not have permission to perform this action",
     "Resource not accessible by integration: status code 403", "402 Payment Required",
     "new row violates row-level security policy for table \"notes\"")  # fmt: skip
says(CASES, C.NOT_FOUND, "User 42 does not exist", "No such container: web-1", "The model `gpt-9` could not be found: model_not_found",
     "Couldn't find the page you asked for", "No results found for query 'xyzzy'")  # fmt: skip
says(CASES, C.VALIDATION_ERROR, "Invalid value for parameter 'limit'", "limit must be between 1 and 100", "missing required field: title",
     "request failed with status code 422", "This model's maximum context length is 8192 tokens")  # fmt: skip
says(CASES, C.INVALID_PARAMS, "request failed with status code 400")
says(CASES, C.CONFLICT, "A page with this title already exists", "duplicate key value violates unique constraint \"users_email_key\"",
     "The document was modified by another user")  # fmt: skip
says(
    CASES,
    C.RATE_LIMITED,
    "rate_limit_exceeded: slow down",
    "Too many requests, try again in 20s",
    "API quota exceeded for today",
)
says(
    CASES,
    C.TIMEOUT,
    "The read operation timed out",
    "504 Gateway Timeout",
    "upstream returned: gateway timeout",
    "deadline exceeded",
)
says(CASES, C.REQUEST_CANCELLED, "The operation was canceled by the user", "Request aborted by the client")
says(CASES, C.SERVICE_UNAVAILABLE, "getaddrinfo ENOTFOUND api.example.com", "The server is down for maintenance", "502 Bad Gateway",
     "sorry, too many clients already", "certificate verify failed: unable to get local issuer certificate",
     "connect ECONNREFUSED 127.0.0.1:5432", "DNS lookup failed", "status code 500", "HTTP 501 Not Implemented")  # fmt: skip
says(CASES, C.DATABASE_ERROR, "database is locked", "deadlock detected", 'relation "users" does not exist')
says(CASES, C.INTERNAL_ERROR, "something went wrong", "kaldns handler crashed", "this is not one of the things that are allowed for",
     "unexpected state 7 in the widget factory", "Oops")  # fmt: skip
