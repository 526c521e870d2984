"""Secrets taken out of what goes to logs and records: by the name that a value goes by, and by its shape in a text."""

from mcpcore.redaction.search import MIN_LENGTH, redact_shapes, redact_text
from mcpcore.redaction.structures import (
    MAX_DEPTH,
    MAX_KEY,
    PLAIN_DEPTH,
    PLAIN_LENGTH,
    PLAIN_NAMES,
    SECRET_NAMES,
    Clean,
    Searched,
    are_known,
    is_secret_key,
    may_hold_secret,
    redact,
    redact_cut,
    redact_plain,
)
from mcpcore.redaction.table import PATTERNS, REDACTED, Pattern
from mcpcore.redaction.wire import redact_message, redact_recovery, redact_value

__all__ = [
    "MAX_DEPTH",
    "MAX_KEY",
    "MIN_LENGTH",
    "PATTERNS",
    "PLAIN_DEPTH",
    "PLAIN_LENGTH",
    "PLAIN_NAMES",
    "REDACTED",
    "SECRET_NAMES",
    "Clean",
    "Pattern",
    "Searched",
    "are_known",
    "is_secret_key",
    "may_hold_secret",
    "redact",
    "redact_cut",
    "redact_message",
    "redact_plain",
    "redact_recovery",
    "redact_shapes",
    "redact_text",
    "redact_value",
]
