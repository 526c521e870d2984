"""Removes secrets from logs and records, by the name of a value and by the shape of a secret in a text."""

from mcpcore.wire.redaction.structures import (
    MAX_DEPTH,
    MAX_KEY,
    PLAIN_NAMES,
    SECRET_NAMES,
    Clean,
    Searched,
    is_clean_json,
    is_secret_key,
    redact,
    redact_cut,
    redact_json,
    redact_shapes,
    redact_text,
)
from mcpcore.wire.redaction.table import PATTERNS, REDACTED, Pattern
from mcpcore.wire.redaction.wire import redact_message, redact_recovery, redact_value

__all__ = [
    "MAX_DEPTH",
    "MAX_KEY",
    "PATTERNS",
    "PLAIN_NAMES",
    "REDACTED",
    "SECRET_NAMES",
    "Clean",
    "Pattern",
    "Searched",
    "is_clean_json",
    "is_secret_key",
    "redact",
    "redact_cut",
    "redact_json",
    "redact_message",
    "redact_recovery",
    "redact_shapes",
    "redact_text",
    "redact_value",
]
