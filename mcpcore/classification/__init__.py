"""Finds the code of any exception: by its type first, then by its attributes, by its message last.

The tables are data: types.json, `code_tables`, `status` and phrases.json. No library is imported to recognise its
exceptions.
"""

from __future__ import annotations

from mcpcore.classification.engine import Explanation, Match, classify, explain
from mcpcore.classification.registry import classifies, classifies_message, forget
from mcpcore.classification.status import code_for_status, parse_retry_after, retry_for_status

__all__ = [
    "Explanation",
    "Match",
    "classifies",
    "classifies_message",
    "classify",
    "code_for_status",
    "explain",
    "forget",
    "parse_retry_after",
    "retry_for_status",
]
