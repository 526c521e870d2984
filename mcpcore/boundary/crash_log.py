"""Crashes for the log and the record: types, texts, causes and tracebacks, without secrets."""

from __future__ import annotations

import logging
from typing import Final

from mcpcore.audit.traces import (
    Searched,
    forget,
    log_crash,
    message_of,
    traceback_of,
    type_name,
)
from mcpcore.boundary.outcome import BrokenContractError, Outcome, described_breaches
from mcpcore.values.escaping import one_line
from mcpcore.values.jsonable import JSON
from mcpcore.values.logs import LOGGER
from mcpcore.values.unwrapping import cause_of, causes_of, is_a, members_of, unwrapped
from mcpcore.wire.redaction import redact_cut

__all__ = ["described", "log_outcome", "log_traced", "message_of", "traced"]


_MAX_SHOWN: Final = 15
"""Members of a group whose tracebacks are shown."""

_MAX_LOGGED: Final = 64_000
"""Characters of the tracebacks of one crash; the end counts."""

_BECAUSE: Final = "\nThe above exception was the direct cause of the following exception:\n\n"
_DURING: Final = "\nDuring handling of the above exception, another exception occurred:\n\n"


def described(exc: BaseException) -> dict[str, JSON]:
    """An exception for readers who may see everything but secrets: its type, text, causes and traceback."""
    name, message = type_name(exc), message_of(exc)
    causes: list[JSON] = [{"type": type_name(cause), "message": message_of(cause)} for cause in causes_of(exc)]
    description: dict[str, JSON] = Searched(
        type=name, message=message, causes=causes, traceback=traceback_of(exc, name, message)
    )
    forget()
    return description


def traced(exc: BaseException, *, depth: int = 3) -> str:
    """The tracebacks of `exc`, of the exceptions behind it and of its members, in Python's order, without secrets."""
    parts: list[str] = []
    chain = [exc, *causes_of(exc)]
    for index in reversed(range(len(chain))):
        current = chain[index]
        parts.append(traceback_of(current))
        # A member may have the group itself as its cause, so the depth has an end.
        if is_a(current, BaseExceptionGroup) and depth:
            members = members_of(current)
            for number, member in enumerate(members[:_MAX_SHOWN], 1):
                lines = traced(member, depth=depth - 1).splitlines()
                parts.append(f"  --- {number} of {len(members)} ---\n" + "".join(f"  {line}\n" for line in lines))
        if index:
            parts.append(_BECAUSE if cause_of(chain[index - 1]) is current else _DURING)
    return "".join(parts)[-_MAX_LOGGED:].rstrip("\n")


def log_outcome(outcome: Outcome, name: str | None) -> None:
    """Log what the author of `name` has to know of `outcome`: a broken contract, other failures, a crash."""
    identity = outcome.envelope.correlation_id
    try:
        if outcome.breaches:
            broken = one_line(redact_cut(described_breaches(outcome.breaches), 2_000))
            if type(outcome.exception) is BrokenContractError:
                # The failure itself says where it was raised; the error of a strict server only names the breaches.
                cause = cause_of(outcome.exception) or outcome.exception
                log_traced(unwrapped(cause), "%r broke its contract: %s (id %s)", name, broken, identity)
                return
            LOGGER.warning("%r broke its contract: %s (id %s)", name, broken, identity)
        if outcome.others:
            LOGGER.warning("%r had %d more failures (id %s)", name, outcome.others, identity)
        if not outcome.expected:
            log_traced(unwrapped(outcome.exception), "%r failed unexpectedly (id %s)", name, identity)
    except KeyboardInterrupt:
        raise
    except BaseException as failed:  # noqa: BLE001 - a handler's formatting calls the exception's own code
        LOGGER.error("%r failed unexpectedly (id %s); its traceback raised %s", name, identity, type(failed).__name__)  # noqa: TRY400


def log_traced(exc: BaseException, message: str, *args: object) -> None:
    """Log `exc` as an error, with its tracebacks."""
    # Searching the tracebacks for secrets costs far more than this question.
    if LOGGER.isEnabledFor(logging.ERROR):
        log_crash(LOGGER, logging.ERROR, exc, traced(exc), message, *args)
