"""Keeps the texts and tracebacks of failures, which may contain secrets, from FastMCP's log and from other middleware.

A `ContractMiddleware` logs each crash itself: redacted, and under the id that the client reads. While it answers a
request, FastMCP's own entries about failures are dropped, and all other middleware sees masked failures, wherever it
stands: each link of FastMCP's chain of middleware gets a mask below it. Otherwise FastMCP's `TimingMiddleware`, and any
other middleware that logs errors, would log the text of a crash.
"""

from __future__ import annotations

import functools
import logging
import re
from typing import Any, Final

from fastmcp.server.middleware.middleware import CallNext, Middleware, MiddlewareContext

from mcpcore.integrations.fastmcp.calling import answering_now, covering_of
from mcpcore.integrations.fastmcp.errors import ContractFailure, masked
from mcpcore.integrations.fastmcp.private import link_of_chain
from mcpcore.values.unwrapping import is_a, passes_through

# --- FastMCP's log ----------------------------------------------------------------------------------------------------

LOGGERS: Final = ("fastmcp.server.server", "fastmcp.prompts.function_prompt")
"""FastMCP's loggers for failures of tools, resources and prompts."""

FAILURES: Final = re.compile(
    r"Error calling tool |Error reading resource |Error rendering prompt |Invalid arguments for tool "
)
"""The wording of FastMCP's entries about failures."""


def redact_crashes() -> None:
    """Drop FastMCP's entries about failures that a `ContractMiddleware` answers; a second call changes nothing."""
    for name in LOGGERS:
        logging.getLogger(name).addFilter(_is_not_answered)


def _is_not_answered(record: logging.LogRecord) -> bool:
    answering = answering_now()
    if answering is None or not answering.covers_all:
        return True
    return not (record.exc_info or FAILURES.match(str(record.msg)))


# --- other middleware -------------------------------------------------------------------------------------------------


def masked_chain(call_next: CallNext[Any, Any]) -> CallNext[Any, Any]:
    """`call_next`, FastMCP's chain of middleware, whose links see masked failures of a request that is answered."""
    others: list[Any] = []
    while (link := link_of_chain(call_next)) is not None:
        other, call_next = link
        others.append(other)
    if not others:
        return call_next
    chain: Any = functools.partial(_masking, call_next)
    for other in reversed(others):
        chain = functools.partial(_masking, functools.partial(_through, other, chain))
    return chain  # type: ignore[no-any-return]


async def _through(other: Any, call_next: CallNext[Any, Any], context: MiddlewareContext[Any]) -> Any:
    return await other(context, call_next)


async def _masking(call_next: CallNext[Any, Any], context: MiddlewareContext[Any]) -> Any:
    try:
        return await call_next(context)
    except BaseException as exc:
        answering = answering_now()
        if answering is None or passes_through(exc) or (is_a(exc, ContractFailure) and str(exc)):
            raise
        message = await answering.mask(exc)
        if message is None:
            raise
        failure = masked(exc, message)
    # Outside the `except` clause, so that what is masked is not the context of an exception that may be logged.
    try:
        raise failure
    finally:
        del failure  # the traceback holds this frame, which must not hold the failure


class MaskingMiddleware(Middleware):
    """Masks the failures that the middleware of a mounted server sees, while a server above answers the request."""

    async def __call__(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        """Handle a message; a call that a handler makes is answered as on the server above."""
        call = answering_now()
        if call is None:
            return await call_next(context)
        if call.claimed and context.fastmcp_context is not None:
            covering: Any = covering_of(context.fastmcp_context.fastmcp)
            if covering is not None:
                return await covering(context, call_next)
        return await masked_chain(call_next)(context)


MASKING: Final = MaskingMiddleware()
