"""Keeps the texts and tracebacks of failures, which may contain secrets, out of FastMCP's log.

A `ContractMiddleware` logs each crash itself: redacted, and under the id that the client reads. While it answers a
request, FastMCP's own entries about failures are dropped. All other entries stay.
"""

from __future__ import annotations

import logging
import re
from typing import Final

from mcpcore.integrations.fastmcp.calling import answering_now

LOGGERS: Final = ("fastmcp.server.server", "fastmcp.prompts.function_prompt", "fastmcp.errors")
"""FastMCP's loggers for failures of tools, resources and prompts."""

FAILURES: Final = re.compile(
    r"Error calling tool |Error reading resource |Error rendering prompt |Invalid arguments for tool |Error in "
)
"""The wording of FastMCP's entries about failures."""


def redact_crashes() -> None:
    """Drop FastMCP's entries about failures that a `ContractMiddleware` answers; a second call changes nothing."""
    for name in LOGGERS:
        logging.getLogger(name).addFilter(_is_not_answered)


def _is_not_answered(record: logging.LogRecord) -> bool:
    if answering_now() is None:
        return True
    return not (record.exc_info or FAILURES.match(str(record.msg)))
