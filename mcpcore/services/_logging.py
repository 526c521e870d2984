"""The log of what services fail with: exceptions and their causes, without secrets for whatever formats them."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Final

LOGGER: Final = logging.getLogger("mcpcore.services")


def log_traced(
    level: int, exc: BaseException, message: str, *args: object, extra: Mapping[str, Any] | None = None
) -> None:
    """Log `exc` with the tracebacks of itself, its causes and its members; a traceback that cannot be had is no error.

    `message` and `args` must be without secrets already.
    """
    if not LOGGER.isEnabledFor(level):
        return
    from mcpcore.audit.traces import log_crash
    from mcpcore.boundary.crash_log import traced

    try:
        trace = traced(exc)
    except Exception as failed:  # noqa: BLE001 - formatting calls the exception's own code
        message = f"{message} (the traceback could not be formatted: %s)"
        LOGGER.log(level, message, *args, type(failed).__name__, extra=extra)
        return
    log_crash(LOGGER, level, exc, trace, message, *args, extra=extra)
